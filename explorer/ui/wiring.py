"""Wires an action to events: inputs become params, the engine runs the job, figures and table go to the page.

Every action is registered twice: once for clients as a named public endpoint, which raises, and once for the page,
which shows what is wrong above the figure and leaves everything else alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Generic, TypeVar

import gradio as gr

from explorer.action import Action, LiveAction
from explorer.engine.protocol import answer
from explorer.errors import ExplorerError, MissingCapabilityError, readable
from explorer.plain import Asked
from explorer.serving.notices import ACTION
from explorer.serving.refusal import Refusal
from explorer.tables import Table
from explorer.ui.beforehand import about, beforehand, example, waiting
from explorer.ui.components import QUIET
from explorer.ui.folds import Framed, Panel, folds, frame, page_frame
from explorer.ui.outputs import Output, Outputs
from explorer.ui.page import Page
from explorer.ui.signatures import for_clients, left_out, named
from explorer.ui.whose import signed, whose
from explorer.ui.within_model import model_named, within_model
from explorer.worked import Known, known

__all__ = ["Connection", "EventBinding", "Panel", "Question", "Read", "cleared", "folds", "frame", "page_frame"]

BEFOREHAND = "computed beforehand"
"""A key among a question's values: the answer that is shown is a bundled one."""

Read = Callable[[gr.EventData], dict[str, Any]]
AnyAction = TypeVar("AnyAction", Action, LiveAction)


@dataclass(frozen=True)
class Question:
    """A question: the model that the job runs on, if any, its parameters, and the script that asks the same."""

    model: str
    params: Any
    script: str


class EventBinding(Generic[AnyAction]):
    """An action and the components of one page.

    inputs: the parameters' components, by name; the page's model is added. shown: what a result fills. folded: laid out
    here unless given. views: components that choose what is drawn and not what is computed. look: turns these choices
    into values for a result (see Outputs). steered: what a result fills on the page alone. page_table: the page's table,
    if the whole one is too long for a browser. A page that borrows another lab's action does not publish it again.
    """

    streams = False
    """Whether results come one after another."""

    def __init__(
        self,
        page: Page,
        action: AnyAction,
        inputs: dict[str, Any],
        shown: Iterable[Output],
        folded: Panel | None = None,
        *,
        views: dict[str, Any] | None = None,
        look: Callable[..., dict[str, Any]] = lambda result: {},
        steered: Iterable[Output] = (),
        page_table: Callable[[Any], Table] | None = None,
        publish: bool = True,
    ) -> None:
        self.page, self.views = page, views or {}
        page.bindings.append(self)
        self.action: AnyAction = action
        self.inputs = {**({"model": page.model} if action.takes_model else {}), **inputs}
        self.shown, self.steered = Outputs(shown, self.views, look), Outputs(steered, self.views)
        self.folded: Panel = folded or folds(action)
        self.page_table = page_table or action.table
        self.outputs = [*self.shown.components, *self.folded.outputs]
        whole = self.folded.whole
        self.kept = [whole.asked] if whole else []
        if publish:
            self._publish()
        if whole:
            whole.comes_from(page, self._whole_table)

    def sent(self, result: Any) -> Framed:
        """Return the table for clients."""
        return frame(self.action.table(result))

    def seen(self, result: Any) -> Framed:
        """Return the table for the page."""
        return page_frame(self.page_table(result))

    def drawn(self, result: Any, asked: Question, known: dict[str, Any], on_page: bool) -> list[Any]:
        """Return the outputs' values. known: what the functions that fill them may ask for by name."""
        plainly = Asked(self.page.engine, asked.model or None, asked.params, result)
        shown, table = self.shown.values(result, **known), self.seen(result) if on_page else self.sent(result)
        if on_page:
            drawn = next((known[name] for name, part in self.views.items() if part is self.page.model), "")
            shown = signed(self.shown.components, shown, whose(self.page, asked.model, asked.params, result, drawn))
        return shown + self.folded.filled(self.action, plainly, asked.script, table)

    def question(self, values: dict[str, Any]) -> Question:
        """Return the question of these values. Raises BadInputError."""
        raise NotImplementedError

    def results(self, asked: Question, visitor: object, request: gr.Request | None) -> AsyncGenerator[Any, None]:
        """Yield the job's results. Raises ExplorerError."""
        raise NotImplementedError

    async def answers(
        self,
        values: dict[str, Any],
        request: gr.Request | None = None,
        viewed: dict[str, Any] | None = None,
    ) -> AsyncGenerator[tuple[Any, list[Any]], None]:
        """Yield each result with the outputs' values, for a page as it is `viewed` or for clients. Raises ExplorerError."""
        values = dict(values)
        visitor = values.pop("visitor", None)
        asked, began = self.question(values), time.monotonic()
        async with aclosing(self.results(asked, visitor, request)) as results:
            async for result in results:
                known = {**(viewed or {}), "seconds": time.monotonic() - began}
                yield result, self.drawn(result, asked, known, on_page=viewed is not None)

    async def _whole_table(self, values: dict[str, Any]) -> Framed:
        if values.pop(BEFOREHAND, False):
            found, _ = self._known({name: value for name, value in values.items() if name != "visitor"})
            if found is not None:
                return self.sent(found.result)
        table: Framed = {"headers": [], "data": []}
        async for _, shown in self.answers(values):
            table = shown[-1]
        return table

    def opens(
        self,
        *triggers: Any,
        note: gr.HTML,
        start: str = "",
        asked: Iterable[Any] = (),
        otherwise: EventBinding[Any] | None = None,
        last: gr.JSON | None = None,
        with_example: bool = True,
    ) -> None:
        """When the page or its tab is opened, show what was computed beforehand, if that is what is asked.

        After one of `asked` has fired, or if something else is asked, it is answered as `on` does, or by `otherwise` if
        an answer would start work that nobody asked for. note: the place that says where the answer comes from. start:
        the title of the button that computes it here, if there is one. last: holds the values that a visitor asked
        about last, where an answer takes over a second: what is asked otherwise then waits for `start`, under the worked
        example unless with_example is False, and what a visitor has asked about the same model or run stays.
        """
        ticket = gr.Number(0, visible="hidden", label="ticket")
        drawn_of_model = self.page.model in self.views.values()
        names: list[str] = [name for name in self.inputs if name != "visitor"]
        parts: list[Any] = [self.inputs[name] for name in names]
        here = gr.Number(0, visible="hidden", label="asked here") if last is None else last
        noted, told = ("() => [1, '']", None) if last is None else ("(...asked) => [asked, '']", parts)
        for trigger in asked:
            trigger(fn=None, js=noted, inputs=told, outputs=[here, note], api_visibility="private")

        async def open_(request: gr.Request, pressed: Any, *values: Any) -> dict[Any, Any]:
            given, says = dict(zip(names, values, strict=False)), beforehand
            viewed = dict(zip(self.views, values[len(names) :], strict=True))
            if last is not None and pressed and about(dict(zip(names, pressed, strict=True))) == about(given):
                # What stands there is a visitor's own, or on its way; at most it is drawn again, of another model.
                return {ticket: time.time()} if drawn_of_model else {note: gr.skip()}
            found, question = (None, None) if last is None and pressed else await asyncio.to_thread(self._known, given)
            if found is None and last is not None and with_example:
                given, says = self._example(), partial(example, self.action.openings[0].of)
                found, question = await asyncio.to_thread(self._known, given)
            if found is None or question is None:
                # A change of the ticket is what asks the engine.
                return {ticket: time.time()} if last is None else {note: waiting(start)}
            self._rests(request)
            shown = dict(zip(self.outputs, self.drawn(found.result, question, viewed, on_page=True), strict=True))
            kept = {component: {**given, BEFOREHAND: True} for component in self.kept}
            steered = dict(zip(self.steered.components, self.steered.values(found.result), strict=True))
            return {self.page.notice: "", **shown, **kept, **steered, note: says(found.made, start)}

        places = dict.fromkeys([self.page.notice, *self.outputs, *self.kept, *self.steered.components, note, ticket])
        for trigger in triggers:
            trigger(open_, [here, *parts, *self.views.values()], list(places), **QUIET)
        if last is None or drawn_of_model:
            (otherwise or self).on(ticket.change)

    def _example(self) -> dict[str, Any]:
        """Return the values of the question with which the action opens."""
        opening = self.action.openings[0]
        asked = {field.name: getattr(opening.params, field.name) for field in fields(opening.params)}
        return {name: asked.get(name, opening.model) for name in self.inputs if name != "visitor"}

    def _known(self, values: dict[str, Any]) -> tuple[Known | None, Question | None]:
        """Return what was computed beforehand for a question, and the question; nothing for one that is refused."""
        try:
            asked = self.question(dict(values))
            return known(self.action.name, self.action.openings, asked.model, asked.params), asked
        except ExplorerError:
            return None, None

    def _rests(self, request: gr.Request) -> None:
        """Keep anything that goes on from drawing over what is shown now."""

    def on(self, *triggers: Any) -> list[Any]:
        """Answer when a trigger fires. Returns the events."""
        raise NotImplementedError

    def _publish(self) -> None:
        """Publish the endpoint for clients, on a button that is not on the page."""

        async def endpoint(request: gr.Request | None = None, **values: Any) -> AsyncIterator[Any]:
            last = None
            try:
                async for result, shown in self.answers(values, request):
                    last = result
                    yield shown
                if self.action.check is not None:
                    self.action.check(last)
            except Exception as error:
                raise Refusal(error) from None

        async def once(**values: Any) -> Any:
            return [shown async for shown in endpoint(**values)][-1]

        gr.Button(visible=False).click(
            named(
                endpoint if self.streams else once,
                list(self.inputs),
                streams=self.streams,
                optional=left_out(self.action.params),
            ),
            inputs_kwargs=for_clients(self.inputs, self.action.params),
            outputs=self.outputs,
            api_name=self.action.name,
            queue=self.streams,
            concurrency_limit=None,
        )

    def listen(self, triggers: Iterable[Any], respond: Any, inputs: dict[str, Any], **options: Any) -> list[Any]:
        """Answer the page when a trigger fires: the notice, the outputs, what was asked, and what is steered."""
        outputs = [self.page.notice, *self.outputs, *self.kept, *self.steered.components]
        private = {"api_visibility": "private", "concurrency_limit": None, "show_progress": "hidden", **options}
        setattr(respond, ACTION, self.action.name)
        return [trigger(respond, inputs_kwargs=inputs, outputs=outputs, **private) for trigger in triggers]


class Connection(EventBinding[Action]):
    """An action that answers once."""

    def question(self, values: dict[str, Any]) -> Question:
        """Return the question of these values: the model by its name, and everything else a parameter."""
        model = model_named(values.pop("model", None)) if self.action.takes_model else ""
        params = self.action.params(**values)
        return Question(model, params, self.action.script(model, params))

    async def results(self, asked: Question, visitor: object, request: gr.Request | None) -> AsyncGenerator[Any, None]:
        """Yield the one result that there is."""
        yield await answer(self.page.engine, self.action.job, asked.params, asked.model)

    def on(
        self,
        *triggers: Any,
        read: Read | None = None,
        extra: dict[str, Any] | None = None,
        adapt: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> list[Any]:
        """Run when a trigger fires. Returns the events, so that others can follow them.

        read: parameters from the event's own data. extra: components whose values `adapt` sees besides the parameters;
        it returns the parameters to run with.
        """

        async def respond(**values: Any) -> list[Any]:
            event = values.pop("event", None)
            rest, standing = [gr.skip()] * (len(self.kept) + len(self.steered.components)), dict(values)
            try:
                values = adapt(values) if adapt else values
                values |= read(event) if read else {}
                values = within_model(values, self.views) if self.action.takes_model else values
                viewed = {name: values.pop(name) for name in self.views}
                [(result, shown)] = [one async for one in self.answers(values, viewed=viewed)]
            except MissingCapabilityError as error:  # what stands below is another model's answer
                return [self.page.explain(error), *map(cleared, self.outputs), *rest]
            except Exception as error:
                return [self.page.explain(readable(error)), *[gr.skip()] * len(self.outputs), *rest]
            steered = self._steered_from(standing, self.steered.values(result, **viewed))
            return ["", *shown, *[values] * len(self.kept), *steered]

        inputs = {**self.inputs, **self.views, **(extra or {})}
        self.page.also += (extra or {}).items()
        listening = named(respond, list(inputs), with_event=read is not None)
        return self.listen(triggers, listening, inputs, queue=False, trigger_mode="always_last")

    def _steered_from(self, standing: dict[str, Any], values: list[Any]) -> list[Any]:
        """Leave each control of the question where it stands if it stood there when it was asked.

        A late answer would else take back what a visitor or the address has set meanwhile.
        """
        names = {part: name for name, part in self.inputs.items()}
        return [
            {key: held for key, held in value.items() if key != "value"}
            if part in names and isinstance(value, dict) and value.get("value", object()) == standing[names[part]]
            else value
            for part, value in zip(self.steered.components, values, strict=True)
        ]


def cleared(component: Any) -> Any:
    """Return the value that empties an output; chips and figures draw nothing for an empty text."""
    return {"headers": [], "data": []} if isinstance(component, gr.Dataframe) else ""
