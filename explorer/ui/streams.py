"""Live actions on a page: a stream of figures while something trains, for visitors and for clients alike."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.action import LiveAction
from explorer.errors import MissingCapabilityError, readable
from explorer.serving.closing import ARRIVED
from explorer.serving.visitors import owner_of
from explorer.ui.folds import Panel
from explorer.ui.kit import QUIET
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.signatures import named
from explorer.ui.wiring import EventBinding, Question, cleared
from explorer.ui.within_model import model_named

PAUSE_SECONDS = 0.35
"""Seconds between two looks at a run: the page is redrawn about three times a second."""

FIRST_PAUSE_SECONDS = 0.04
"""Seconds after the first look if nothing is new; looks are frequent at first, for what takes a moment only."""


@dataclass
class _Look:
    """What a session looks at. turn: of the stream that goes on, or NO_TURN. viewed: how that stream is drawn. asked: when
    that stream was asked for, and stopped: when the visitor last pressed Stop, both by the clock of arrivals.
    """

    turn: int
    viewed: dict[str, Any]
    asked: float = -math.inf
    stopped: float = -math.inf


class Watch:
    """The streams of one visitor's page that share a watch: only the one that was asked for last goes on."""

    MOST = 2000
    NO_TURN = -1

    def __init__(self) -> None:
        self._turns = itertools.count()
        self._latest: OrderedDict[str, _Look] = OrderedDict()

    def begin(self, request: gr.Request, viewed: dict[str, Any] | None = None) -> int:
        """Begin a new stream of a session, drawn as in `viewed`, and return its turn; those before it end at their next look.

        One that was asked for before another that has begun is not the latest.
        """
        session, turn, asked = str(request.session_hash), next(self._turns), arrived(request, time.monotonic())
        before = self._latest.get(session)
        # Gradio takes what waits in its queue in a random order.
        if before is None or before.turn == self.NO_TURN or before.asked <= asked:
            self._turn_to(session, turn, viewed, asked)
        return turn

    def _turn_to(
        self, session: str, turn: int, viewed: dict[str, Any] | None = None, asked: float = -math.inf
    ) -> _Look:
        before = self._latest.get(session)
        look = _Look(turn, {} if viewed is None else viewed, asked, before.stopped if before else -math.inf)
        self._latest[session] = look
        self._latest.move_to_end(session)
        while len(self._latest) > self.MOST:
            self._latest.popitem(last=False)
        return look

    def end(self, request: gr.Request) -> None:
        """Let the session's stream end at its next look: the visitor has turned to something else, unless they have asked
        for the stream since.
        """
        look = self._latest.get(str(request.session_hash))
        if look is None or look.asked <= arrived(request, math.inf):
            self._turn_to(str(request.session_hash), self.NO_TURN)

    def stop(self, request: gr.Request) -> None:
        """End the session's stream by Stop, which also holds for questions that were asked before it and have not begun."""
        self._turn_to(str(request.session_hash), self.NO_TURN).stopped = arrived(request, time.monotonic())

    def is_stopped(self, request: gr.Request) -> bool:
        """Return whether Stop was pressed since this was asked."""
        look = self._latest.get(str(request.session_hash))
        return look is not None and arrived(request, math.inf) <= look.stopped

    def at_rest(self, request: gr.Request) -> bool:
        """Return whether the session's last stream was ended by the visitor, and none has begun since."""
        look = self._latest.get(str(request.session_hash))
        return look is not None and look.turn == self.NO_TURN

    def is_latest(self, session: str, turn: int) -> bool:
        """Return whether a stream should still draw."""
        return session in self._latest and self._latest[session].turn == turn

    def begun(self, request: gr.Request | None) -> object:
        """Return what stands for the session's last stream, another object for each; None if the watch knows of none."""
        return None if request is None else self._latest.get(str(request.session_hash))

    def view(self, session: str, viewed: dict[str, Any]) -> None:
        """Change how the session's stream draws from now on."""
        if session in self._latest:
            self._latest[session].viewed.update(viewed)  # in place: the stream holds the same dictionary


def arrived(request: gr.Request, unknown: float) -> float:
    """Return when a question came to the server (explorer.serving.closing), by a monotonic clock; questions in the
    queue begin later.
    """
    scope = request.request.scope if isinstance(request, gr.Request) and request.request else {}
    return float(scope.get(ARRIVED, unknown))


class Stream(EventBinding[LiveAction]):
    """A live action. visitor: the hidden box with the browser's name; one without a name if there is no run picker.

    Functions that steer may also ask for the `owner`. A view that is changed while the stream goes on takes effect in
    it.
    """

    streams = True

    def __init__(
        self,
        page: Page,
        action: LiveAction,
        inputs: dict[str, Any],
        shown: Iterable[Output],
        folded: Panel | None = None,
        *,
        visitor: gr.Textbox | None = None,
        watch: Watch | None = None,
        **options: Any,
    ) -> None:
        self.watch = watch or Watch()
        visitor = visitor or gr.Textbox("", label="visitor", visible="hidden")
        super().__init__(page, action, {**inputs, "visitor": visitor}, shown, folded, **options)
        self._buttons: tuple[gr.Button, gr.Button] | None = None
        self._bar: gr.HTML | None = None
        self._said = ""
        self._keep_views()

    def _keep_views(self) -> None:
        names = list(self.views)

        def keep(request: gr.Request, *values: Any) -> None:
            self.watch.view(str(request.session_hash), dict(zip(names, values, strict=True)))

        for component in self.views.values():
            # Whatever else begins with a turn to another model, that is in place once the page has changed.
            turns = self.page.changed if component is self.page.model else (component.input,)
            for turn in turns:
                turn(keep, list(self.views.values()), None, **QUIET)

    def stops(self, start: gr.Button, stop: gr.Button, bar: gr.HTML | None = None, said: str = "") -> None:
        """Wire Stop: it ends the session's stream at its next look, and with it the work that nobody else waits for; Start
        is then shown in its place.

        The stream's last message may be on its way when Stop is pressed, and show Stop again, so the end is sent once
        more after it. An error brings Start back too. bar: where progress is shown, and `said` after a stop.
        """
        self._buttons, self._bar, self._said = (start, stop), bar, said

        def ended(request: gr.Request) -> list[Any]:
            self.watch.stop(request)
            return list(self._rest(said).values())

        stop.click(ended, None, list(self._rest("")), **QUIET)

    def _rest(self, said: str) -> dict[Any, Any]:
        """Return what Start, Stop and the bar show while nothing goes on, if the stream has them."""
        if self._buttons is None:
            return {}
        start, stop = self._buttons
        return {
            start: gr.update(visible=True),
            stop: gr.update(visible=False),
            **({self._bar: said} if self._bar else {}),
        }

    def _rests(self, request: gr.Request) -> None:
        self.watch.end(request)

    def _left(self, values: dict[Any, Any]) -> list[Any]:
        """Return these values for what the stream fills, and everything else unchanged."""
        filled = [*self.outputs, *self.kept, *self.steered.components]
        return [values.get(component, gr.skip()) for component in filled]

    def question(self, values: dict[str, Any]) -> Question:
        """Return the question of these values: a model is one of the parameters, and an empty value takes its default."""
        if self.action.takes_model:
            values["model"] = model_named(values.get("model"))
        params = self.action.params(**{name: value for name, value in values.items() if value is not None})
        return Question("", params, self.action.script(params))

    async def results(self, asked: Question, visitor: object, request: gr.Request | None) -> AsyncGenerator[Any, None]:
        """Yield each new result; the work ends when nobody looks any more, on a page as soon as the visitor has turned away."""
        begun = self.watch.begun(request)
        owner = owner_of(self.page.engine.runs, visitor, request)
        follow: Any = await asyncio.to_thread(self.action.follow, self.page.engine, asked.params, owner)
        ended, pause = object(), FIRST_PAUSE_SECONDS
        try:
            while (result := await asyncio.to_thread(next, follow, ended)) is not ended:
                if result is None:
                    if self.watch.begun(request) is not begun:
                        return  # the next result may be seconds away
                    await asyncio.sleep(pause)
                    pause = min(PAUSE_SECONDS, 1.5 * pause)
                    continue
                yield result
                pause = FIRST_PAUSE_SECONDS
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            with suppress(ValueError):  # a thread may still be at its last look
                follow.close()

    def on(self, *triggers: Any, at_once: bool = False) -> list[Any]:
        """Stream to the page when a trigger fires. Returns the events, so that others can cancel or follow them.

        at_once: show Stop and an empty bar before the first result, which takes a while; needs `stops` before.
        """

        async def respond(request: gr.Request, **values: Any) -> AsyncIterator[list[Any]]:
            if self.watch.is_stopped(request):
                yield [gr.skip(), *self._left(self._rest(self._said))]
                return
            session = str(request.session_hash)
            viewed, said = {name: values.pop(name) for name in self.views}, ""
            turn = self.watch.begin(request, viewed)  # ends the session's earlier streams of this watch
            if not self.watch.is_latest(session, turn):
                yield [gr.skip(), *self._left({})]
                return
            try:
                owner = owner_of(self.page.engine.runs, values.get("visitor"), request)
                async with aclosing(self.answers(values, request, viewed)) as answers:
                    async for result, shown in answers:
                        if not self.watch.is_latest(session, turn):
                            break  # the newer stream fills the same places
                        steered = self.steered.values(result, owner=owner, **viewed)
                        yield [said, *shown, *[values] * len(self.kept), *steered]
                        said = gr.skip()  # what another action has to say meanwhile is not to be cleared
            except MissingCapabilityError as error:  # what stands below is another model's answer
                rest = self._left(self._rest(""))[len(self.outputs) :]
                yield [self.page.explain(error), *map(cleared, self.outputs), *rest]
            except Exception as error:
                yield [self.page.explain(readable(error)), *self._left(self._rest(""))]
            else:  # Gradio repeats the last values when a stream ends: over what has come since
                yield [gr.skip(), *self._left(self._rest(self._said) if self.watch.at_rest(request) else {})]

        inputs = {**self.inputs, **self.views}
        listening = named(respond, list(inputs), streams=True)
        places = list(self._rest("")) if at_once else []
        for trigger in triggers if at_once else ():
            trigger(fn=None, js=_BEGUN, outputs=places, api_visibility="private")
        # "once", Gradio's own mode, would drop a second question while the first goes on.
        events = self.listen(triggers, listening, inputs, trigger_mode="multiple")
        for event in events if at_once else ():
            # Start is back if no result ever came.
            event.failure(lambda: list(self._rest("").values()), None, places, **QUIET)
        return events


_BEGUN = """() => [
  { __type__: "update", visible: false }, { __type__: "update", visible: true },
  '<progress max="1" value="0" aria-label="progress"></progress><span class="caption"></span>',
]"""
