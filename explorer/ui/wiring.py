"""From an action to events: inputs become params, the executor runs the job, figures and table go to the page.

Every action is registered twice: once for clients as a named public endpoint, which raises, and once for the page, which
shows what is wrong above the figure and leaves everything else as it stands.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, cast

import gradio as gr

from explorer.errors import MissingCapabilityError, readable
from explorer.labs.lab import Action, LiveAction
from explorer.labs.plain import Asked
from explorer.models.catalog import DEFAULT_MODEL
from explorer.tables import Table
from explorer.text import encodable
from explorer.ui.page import Page

LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
"""What marks a formula in the explanations."""

Show = Callable[..., Sequence[Any]]
Read = Callable[[gr.EventData], dict[str, Any]]


@dataclass(frozen=True)
class Panel:
    """The folded part under every figure: Copy as Python and the data. plain: the script without this package."""

    script: gr.Code
    table: gr.Dataframe
    plain: gr.Code | None = None

    @property
    def outputs(self) -> list[gr.components.Component]:
        """What an action fills, the table last."""
        return [*([self.plain] if self.plain else []), self.script, self.table]

    def filled(self, action: Action | LiveAction, asked: Asked, script: str, table: Table) -> list[Any]:
        """The outputs' values."""
        plain = [action.plain(asked) if action.plain else ""] if self.plain else []
        return [*plain, script, frame(table)]


def folds(of_action: Action | LiveAction | str, figure: str = "") -> Panel:
    """Build the folded table and scripts of one figure, of an action or a name, which names the CSV file too.

    figure: names the figure where it has company.
    """
    name = of_action if isinstance(of_action, str) else of_action.name
    has_plain = not isinstance(of_action, str) and of_action.plain is not None
    of = f": {figure}" if figure else ""
    with gr.Row(elem_classes=["folds"]):
        with gr.Accordion(f"Data{of}", open=False):
            table = gr.Dataframe(
                show_label=False, interactive=False, buttons=["copy", "fullscreen"], max_height=320, wrap=True
            )
            download = gr.Button("Download CSV", size="sm")
            download.click(fn=None, inputs=[table], js=_CSV % f"{name}.csv", api_visibility="private")
        with gr.Accordion(f"Copy as Python{of}", open=False):
            script = _code("With this app's package", f"script-{name}")
            plain = _code("Without it, from the model itself", f"plain-{name}") if has_plain else None
    return Panel(script, table, plain)


def _code(label: str, elem_id: str) -> gr.Code:
    return gr.Code(language="python", label=label, interactive=False, max_lines=24, elem_id=elem_id)


_CSV = """(table) => {
  const quote = (cell) => (/[",\\n]/.test(String(cell)) ? '"' + String(cell).replaceAll('"', '""') + '"' : String(cell ?? ""));
  const lines = [table.headers, ...table.data].map((row) => row.map(quote).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\\n") + "\\n"], { type: "text/csv" }));
  link.download = "%s";
  link.click();
  URL.revokeObjectURL(link.href);
}"""


class Connection:
    """One action on one page. `outputs` are the figure's components and `show` their values from a result.

    views: components that choose what is drawn and not what is computed; `show` gets their values by name, and none from
    a client. controls: components that only the page needs, and `steer` their values from a result. page_table: the table as
    the page shows it, where the whole one is too long for a browser.
    A page that borrows another lab's action does not publish it again.
    """

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
        self.page, self.action, self.show = page, action, show
        self.page_table = page_table or action.table
        self.views, self.controls, self.steer = views or {}, list(controls), steer
        self.inputs: dict[str, Any] = {**({"model": page.model} if action.subject == "model" else {}), **inputs}
        self.folded = folded
        self.outputs = [*outputs, *folded.outputs]
        if publish:
            self._publish()

    async def answer(self, values: dict[str, Any], table: Callable[[Any], Table]) -> tuple[Any, list[Any]]:
        """Run the job; its result and the outputs' values, the last by `table`. Raises ExplorerError."""
        values = {name: encodable(value) for name, value in values.items()}
        model = ""
        if self.action.subject == "model":
            model = str(values.pop("model", None) or DEFAULT_MODEL)
        viewed = {name: values.pop(name) for name in self.views if name in values}
        params = self.action.params(**values)
        result = await asyncio.wrap_future(await self._submit(model, params))
        script = self.action.script(model, params)
        asked = Asked(self.page.executor, model or None, params, result)
        return result, [
            *self.show(result, **viewed),
            *self.folded.filled(self.action, asked, script, self.action.table(result)),
        ]

    async def _submit(self, model: str, params: Any) -> Any:
        executor, job = self.page.executor, self.action.job
        if self.action.subject == "model":
            return executor.submit(job, model, params)
        if self.action.subject == "tokenizers":
            return executor.submit_for_tokenizers(job, params)
        if self.action.subject == "nothing":
            return executor.submit_alone(job, params)
        return await asyncio.to_thread(executor.submit_for_runs, job, params)  # it looks the runs up in their database

    def _publish(self) -> None:
        """The endpoint for clients, on a button that is not on the page."""

        async def endpoint(**values: Any) -> Any:
            try:
                result, shown = await self.answer(values, self.action.table)
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

        async def respond(**values: Any) -> list[Any]:
            event = values.pop("event", None)
            try:
                values = adapt(values) if adapt else values
                values |= read(event) if read else {}
                result, shown = await self.answer(values, self.page_table)
            except MissingCapabilityError as error:  # what stands below is another model's answer
                return [self.page.explain(error), *map(_cleared, self.outputs), *[gr.skip()] * len(self.controls)]
            except Exception as error:
                return [self.page.explain(readable(error)), *[gr.skip()] * (len(self.outputs) + len(self.controls))]
            return ["", *shown, *self.steer(result)]

        inputs: dict[str, Any] = {**self.inputs, **self.views, **(extra or {})}
        return [
            trigger(
                named(respond, list(inputs), with_event=read is not None),
                inputs_kwargs=inputs,
                outputs=[self.page.notice, *self.outputs, *self.controls],
                api_visibility="private",
                queue=False,
                concurrency_limit=None,
                show_progress="hidden",
                trigger_mode="always_last",
            )
            for trigger in triggers
        ]


def for_clients(inputs: dict[str, Any], params: type) -> dict[str, Any]:
    """An endpoint's inputs: those of the page, without a control's limits, and with the defaults of `params`.

    A client's value is then refused by `params`, in a sentence that names the parameter, and not by the slider or the list.
    """
    standard = {field.name: field.default for field in fields(params) if field.default is not MISSING}
    with gr.Column(visible=False):
        return {name: _unlimited(part, standard.get(name, part.value)) for name, part in inputs.items()}


def left_out(params: type) -> list[str]:
    """The parameters that a client may leave out although nothing stands for them."""
    return [field.name for field in fields(params) if field.default is None]


def _unlimited(part: Any, value: Any) -> Any:
    """A hidden component that takes any value, for one that has limits or shows another one; one that has none as it is."""
    if isinstance(part, (gr.Slider, gr.Number)):
        return gr.Number(value, label=part.label)
    if isinstance(part, (gr.CheckboxGroup, gr.Radio)) or (
        isinstance(part, gr.Dropdown) and not part.allow_custom_value
    ):
        several, choices = isinstance(part, gr.CheckboxGroup), cast(Any, part.choices)
        value = list(value) if several else value
        return gr.Dropdown(choices, value=value, multiselect=several, allow_custom_value=True, label=part.label)
    if isinstance(part, (gr.Textbox, gr.Dropdown)) and isinstance(value, str) and value != part.value:
        return gr.Textbox(value, label=part.label)
    return part


def _cleared(component: Any) -> Any:
    """The value that empties an output; chips and figures take an empty text for nothing to draw."""
    return {"headers": [], "data": []} if isinstance(component, gr.Dataframe) else ""


def named(
    function: Callable[..., Any],
    names: Sequence[str],
    with_event: bool = False,
    streams: bool = False,
    optional: Sequence[str] = (),
) -> Callable[..., Any]:
    """Give a **kwargs function the signature that Gradio reads parameter names from.

    with_event: it is also handed the event. streams: it is an async generator, and also handed the request. optional: the
    names that a client may leave out although their component is empty.
    """
    annotations: dict[str, type] = {}
    if with_event:

        async def called(event: gr.EventData, **values: Any) -> Any:
            return await function(event=event, **values)

        annotations["event"] = gr.EventData
    elif streams:

        async def called(request: gr.Request, **values: Any) -> Any:  # type: ignore[misc]
            async for shown in function(request=request, **values):
                yield shown

        annotations["request"] = gr.Request
    else:

        async def called(**values: Any) -> Any:  # type: ignore[misc]
            return await function(**values)

    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
        for name, kind in annotations.items()
    ]
    standard = dict.fromkeys(optional)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=standard.get(name, inspect.Parameter.empty))
        for name in names
    ]
    called.__annotations__ = dict(annotations)
    called.__signature__ = inspect.Signature([*first, *parameters])  # type: ignore[attr-defined]
    return called


def frame(table: Table) -> dict[str, Any]:
    """A table as Gradio's Dataframe takes it."""
    return {"headers": list(table.columns), "data": [list(row) for row in table.rows]}
