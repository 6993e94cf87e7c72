"""From an action to events: inputs become params, the engine runs the job, figures and table go to the page.

Every action is registered twice: once for clients as a named public endpoint, which raises, and once for the page, which
shows what is wrong above the figure and leaves everything else as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import gradio as gr

from explorer.action import Action, LiveAction
from explorer.engine.protocol import answer
from explorer.errors import MissingCapabilityError, readable
from explorer.models.catalog import DEFAULT_MODEL
from explorer.plain import Asked
from explorer.tables import Table
from explorer.text import encodable
from explorer.ui.folds import Framed, Panel, folds, frame, page_frame
from explorer.ui.page import Page
from explorer.ui.signatures import for_clients, left_out, named

LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
"""What marks a formula in the explanations."""

__all__ = ["LATEX", "Connection", "Panel", "Read", "Show", "Wire", "folds", "frame", "page_frame"]

Show = Callable[..., Sequence[Any]]
Read = Callable[[gr.EventData], dict[str, Any]]


class Wire:
    """An action and the components of one page: `outputs` are the figure's, and `show` their values from a result.

    views: components that choose what is drawn and not what is computed; `show` gets their values by name, and none from
    a client. controls: components that only the page needs, and `steer` their values from a result. page_table: the table as
    the page shows it, where the whole one is too long for a browser.
    """

    def __init__(
        self,
        page: Page,
        action: Action | LiveAction,
        inputs: dict[str, Any],
        outputs: Sequence[gr.components.Component],
        show: Show,
        folded: Panel,
        views: dict[str, Any] | None,
        controls: Sequence[gr.components.Component],
        steer: Show,
        page_table: Callable[[Any], Table] | None,
    ) -> None:
        self.page, self.inputs, self.show = page, inputs, show
        self.table, self.page_table = action.table, page_table or action.table
        self.views, self.controls, self.steer = views or {}, list(controls), steer
        self.folded, self.whole = folded, folded.whole
        self.outputs = [*outputs, *folded.outputs]

    def sent(self, result: Any) -> Framed:
        """The table for clients."""
        return frame(self.table(result))

    def seen(self, result: Any) -> Framed:
        """The table for the page."""
        return page_frame(self.page_table(result))


class Connection(Wire):
    """An action that answers once. A page that borrows another lab's action does not publish it again."""

    def __init__(
        self,
        page: Page,
        action: Action,
        inputs: dict[str, Any],
        outputs: Sequence[gr.components.Component],
        show: Show,
        folded: Panel,
        publish: bool = True,
        views: dict[str, Any] | None = None,
        controls: Sequence[gr.components.Component] = (),
        steer: Show = lambda result: (),
        page_table: Callable[[Any], Table] | None = None,
    ) -> None:
        inputs = {**({"model": page.model} if action.job.on == "model" else {}), **inputs}
        super().__init__(page, action, inputs, outputs, show, folded, views, controls, steer, page_table)
        self.action = action
        if publish:
            self._publish()
        if self.whole:
            self.whole.comes_from(page, self._whole_table)

    async def _whole_table(self, asked: dict[str, Any]) -> Framed:
        _, shown = await self.answer(asked, self.sent)
        return cast(Framed, shown[-1])

    async def answer(self, values: dict[str, Any], table: Callable[[Any], Framed]) -> tuple[Any, list[Any]]:
        """Run the job; its result and the outputs' values, the last by `table`. Raises ExplorerError."""
        values = dict(values)
        model = ""
        if self.action.job.on == "model":
            model = encodable(str(values.pop("model", None) or DEFAULT_MODEL))
        viewed = {name: values.pop(name) for name in self.views if name in values}
        params = self.action.params(**values)
        result = await answer(self.page.engine, self.action.job, params, model)
        script = self.action.script(model, params)
        asked = Asked(self.page.engine, model or None, params, result)
        return result, [
            *self.show(result, **viewed),
            *self.folded.filled(self.action, asked, script, table(result)),
        ]

    def _publish(self) -> None:
        """The endpoint for clients, on a button that is not on the page."""

        async def endpoint(**values: Any) -> Any:
            try:
                result, shown = await self.answer(values, self.sent)
                if self.action.check is not None:
                    self.action.check(result)
            except Exception as error:
                raise gr.Error(str(readable(error)), print_exception=False) from None
            return shown

        gr.Button(visible=False).click(
            named(endpoint, list(self.inputs), optional=left_out(self.action.params)),
            inputs_kwargs=for_clients(self.inputs, self.action.params),
            outputs=self.outputs,
            api_name=self.action.name,
            queue=False,
            concurrency_limit=None,
        )

    def on(
        self,
        *triggers: Any,
        read: Read | None = None,
        extra: dict[str, Any] | None = None,
        adapt: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> list[Any]:
        """Run when a trigger fires; returns the events, so that others can follow them.

        read: parameters from the event's own data. extra: components whose values `adapt` sees beside the parameters;
        it returns the parameters to run with.
        """

        asked = [self.whole.asked] if self.whole else []

        async def respond(**values: Any) -> list[Any]:
            event = values.pop("event", None)
            try:
                values = adapt(values) if adapt else values
                values |= read(event) if read else {}
                result, shown = await self.answer(values, self.seen)
            except MissingCapabilityError as error:  # what stands below is another model's answer
                rest = [gr.skip()] * (len(asked) + len(self.controls))
                return [self.page.explain(error), *map(_cleared, self.outputs), *rest]
            except Exception as error:
                rest = [gr.skip()] * (len(self.outputs) + len(asked) + len(self.controls))
                return [self.page.explain(readable(error)), *rest]
            return ["", *shown, *[values] * len(asked), *self.steer(result)]

        inputs: dict[str, Any] = {**self.inputs, **self.views, **(extra or {})}
        return [
            trigger(
                named(respond, list(inputs), with_event=read is not None),
                inputs_kwargs=inputs,
                outputs=[self.page.notice, *self.outputs, *asked, *self.controls],
                api_visibility="private",
                queue=False,
                concurrency_limit=None,
                show_progress="hidden",
                trigger_mode="always_last",
            )
            for trigger in triggers
        ]


def _cleared(component: Any) -> Any:
    """The value that empties an output; chips and figures take an empty text for nothing to draw."""
    return {"headers": [], "data": []} if isinstance(component, gr.Dataframe) else ""
