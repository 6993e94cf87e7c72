"""Live actions on a page: a stream of figures while something trains, for visitors and for clients alike."""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

import gradio as gr

from explorer.action import LiveAction
from explorer.errors import readable
from explorer.models.catalog import DEFAULT_MODEL
from explorer.plain import Asked
from explorer.tables import Table
from explorer.ui.folds import Framed, Panel
from explorer.ui.page import Page
from explorer.ui.signatures import for_clients, left_out, named
from explorer.ui.visitors import owner_of
from explorer.ui.wiring import Show, Wire

PAUSE_SECONDS = 0.35
"""Between two looks at a run: the page is redrawn about three times a second."""

FIRST_PAUSE_SECONDS = 0.04
"""Where nothing is new the first looks follow each other quickly, for what takes a moment only."""


class _Update(dict[str, Any]):
    """What is to become of a component, and no value."""


class _NextUpdate(_Update):
    """The same, one message later."""


class StreamingPages(gr.Blocks):
    """Pages whose streams keep what they have drawn.

    Gradio sends what has changed since a stream's last message, and the browser changes in place what it was sent before:
    the very object that a figure or a folded table holds, or an update that it has not come to yet. A change of an update
    ("show Stop", then "leave this as it is") would take away what the one before it said.
    """

    def handle_streaming_diffs(self, block_fn: Any, data: list[Any], *rest: Any, **named: Any) -> list[Any]:
        """As Gradio's, but an update is sent whole: to be of another type is to differ entirely."""
        session, run = (
            named.get("session_hash", rest[0] if rest else None),
            named.get("run", rest[1] if rest[1:] else None),
        )
        last = self.pending_diff_streams[session].get(run, ()) if session is not None else ()
        whole = [_whole(value, before) for value, before in itertools.zip_longest(data, last[: len(data)])]
        return super().handle_streaming_diffs(block_fn, whole, *rest, **named)


def _whole(value: Any, before: Any) -> Any:
    """An update in another type than the one before it; any other value as it is."""
    if not isinstance(value, dict) or "__type__" not in value:
        return value
    return (_NextUpdate if type(before) is _Update else _Update)(value)


class Watch:
    """What one visitor's page looks at: of the streams that share a watch, only the one started last goes on."""

    MOST = 2000
    NO_TURN = -1

    def __init__(self) -> None:
        self._turns = itertools.count()
        self._latest: OrderedDict[str, tuple[int, dict[str, Any]]] = OrderedDict()

    def begin(self, session: str, viewed: dict[str, Any] | None = None) -> int:
        """A new stream of a session, drawn as `viewed` says; those before it end at their next look."""
        turn = next(self._turns)
        self._latest[session] = (turn, {} if viewed is None else viewed)
        self._latest.move_to_end(session)
        while len(self._latest) > self.MOST:
            self._latest.popitem(last=False)
        return turn

    def end(self, request: gr.Request) -> None:
        """Let the session's stream end at its next look: the visitor has turned to something else."""
        session = str(request.session_hash)
        self.begin(session)
        self._latest[session] = (self.NO_TURN, {})

    def at_rest(self, request: gr.Request) -> bool:
        """Whether the session's last stream was ended by the visitor, and none has begun since."""
        return self._latest.get(str(request.session_hash), (0, {}))[0] == self.NO_TURN

    def is_latest(self, session: str, turn: int) -> bool:
        """Whether a stream should still draw."""
        return session in self._latest and self._latest[session][0] == turn

    def view(self, session: str, viewed: dict[str, Any]) -> None:
        """Have what the session's stream draws from now on drawn in another way."""
        if session in self._latest:
            self._latest[session][1].update(viewed)


class Stream(Wire):
    """A live action. `visitor` is the hidden box with the browser's name.

    `steer` also gets the owner, and the views by name. A view that is changed while the stream goes on takes effect in it.
    """

    def __init__(
        self,
        page: Page,
        action: LiveAction,
        inputs: dict[str, Any],
        visitor: gr.Textbox,
        outputs: Sequence[gr.components.Component],
        show: Show,
        folded: Panel,
        watch: Watch,
        controls: Sequence[gr.components.Component] = (),
        steer: Callable[..., Sequence[Any]] = lambda result, owner: (),
        views: dict[str, Any] | None = None,
        page_table: Callable[[Any], Table] | None = None,
    ) -> None:
        inputs = {**({"model": page.model} if action.takes_model else {}), **inputs, "visitor": visitor}
        super().__init__(page, action, inputs, outputs, show, folded, views, controls, steer, page_table)
        self.action, self.watch = action, watch
        self._publish()
        self._keep_views()
        if self.whole:
            self.whole.comes_from(page, self._whole_table)

    async def _whole_table(self, asked: dict[str, Any]) -> Framed:
        table: Framed = {"headers": [], "data": []}
        async for _, shown in self.answers(asked, None, {}, self.sent):
            table = shown[-1]
        return table

    def _keep_views(self) -> None:
        names = list(self.views)

        def keep(request: gr.Request, *values: Any) -> None:
            self.watch.view(str(request.session_hash), dict(zip(names, values, strict=True)))

        for component in self.views.values():
            component.input(
                keep, list(self.views.values()), None, api_visibility="private", queue=False, show_progress="hidden"
            )

    async def answers(
        self,
        values: dict[str, Any],
        request: gr.Request | None,
        viewed: dict[str, Any],
        table: Callable[[Any], Framed],
    ) -> AsyncGenerator[tuple[Any, list[Any]], None]:
        """Each result with the outputs' values, the last by `table`, drawn as `viewed` says at that moment.

        Raises ExplorerError.
        """
        owner = owner_of(self.page, values.get("visitor"), request)
        values = {name: value for name, value in values.items() if name != "visitor"}
        if self.action.takes_model:
            values["model"] = str(values.get("model") or DEFAULT_MODEL)
        given = {name: value for name, value in values.items() if value is not None}
        params = self.action.params(**given)
        script = self.action.script(params)
        async with aclosing(self._looks(params, owner)) as looks:
            async for result in looks:
                asked = Asked(self.page.engine, None, params, result)
                filled = self.folded.filled(self.action, asked, script, table(result))
                yield result, [*self.show(result, **viewed), *filled]

    async def _looks(self, params: Any, owner: str) -> AsyncGenerator[Any, None]:
        """Each new result; the work ends when nobody looks any more."""
        follow: Any = await asyncio.to_thread(self.action.follow, self.page.engine, params, owner)
        ended, pause = object(), FIRST_PAUSE_SECONDS
        try:
            while (result := await asyncio.to_thread(next, follow, ended)) is not ended:
                if result is None:
                    await asyncio.sleep(pause)
                    pause = min(PAUSE_SECONDS, 1.5 * pause)
                    continue
                yield result
                pause = FIRST_PAUSE_SECONDS
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            with suppress(ValueError):  # a thread may still be at its last look
                follow.close()

    def _publish(self) -> None:
        async def endpoint(request: gr.Request, **values: Any) -> AsyncIterator[Any]:
            last = None
            try:
                async for result, shown in self.answers(values, request, {}, self.sent):
                    last = result
                    yield shown
                if self.action.check is not None:
                    self.action.check(last)
            except Exception as error:
                raise gr.Error(str(readable(error)), print_exception=False) from None

        gr.Button(visible=False).click(
            named(endpoint, list(self.inputs), streams=True, optional=left_out(self.action.params)),
            inputs_kwargs=for_clients(self.inputs, self.action.params),
            outputs=self.outputs,
            api_name=self.action.name,
            concurrency_limit=None,
        )

    def on(self, *triggers: Any) -> list[Any]:
        """Stream to the page when a trigger fires; returns the events, so that others can cancel or follow them."""

        asked = [self.whole.asked] if self.whole else []
        nothing = [gr.skip()] * (1 + len(self.outputs) + len(asked) + len(self.controls))

        async def respond(request: gr.Request, **values: Any) -> AsyncIterator[list[Any]]:
            session = str(request.session_hash)
            viewed, said = {name: values.pop(name) for name in self.views}, ""
            turn = self.watch.begin(session, viewed)
            try:
                owner = owner_of(self.page, values.get("visitor"), request)
                async with aclosing(self.answers(values, request, viewed, self.seen)) as answers:
                    async for result, shown in answers:
                        if not self.watch.is_latest(session, turn):
                            break
                        yield [said, *shown, *[values] * len(asked), *self.steer(result, owner, **viewed)]
                        said = gr.skip()  # what another action has to say meanwhile is not to be cleared
            except Exception as error:
                yield [self.page.explain(readable(error)), *nothing[1:]]
            else:
                yield nothing  # Gradio repeats the last values when a stream ends: over what has been drawn since

        inputs = {**self.inputs, **self.views}
        return [
            trigger(
                named(respond, list(inputs), streams=True),
                inputs_kwargs=inputs,
                outputs=[self.page.notice, *self.outputs, *asked, *self.controls],
                api_visibility="private",
                concurrency_limit=None,
                show_progress="hidden",
                trigger_mode="multiple",
            )
            for trigger in triggers
        ]
