"""A tab that not every model can answer: it takes the page's model if that is able, and else a bundled one, and says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.charts.words import caption, strong
from explorer.models.families import Capability
from explorer.ui.components import rich_text
from explorer.ui.kit import QUIET, Then
from explorer.ui.page import Page
from explorer.ui.whose import as_named

USED = "used-model"
"""The class by which assets/page.js knows whose figure it is."""


class UsedModel:
    """The tab's model; where it is made, a line is laid out that names it if it is not the page's.

    able: returns whether a model can answer, as far as its name tells. instead: a bundled one that can. `changed` fires
    when another model is to be asked.
    """

    def __init__(self, page: Page, able: Callable[[str], bool], instead: str) -> None:
        self.name = gr.Textbox(instead, visible="hidden", label="model of this tab", elem_classes=[USED])
        self._line = rich_text()

        _, *self.changed = filled_with(page, self.name, able, instead, self._line)

    @property
    def inputs(self) -> dict[str, Any]:
        """The input that replaces the page's model."""
        return {"model": self.name}


def has(page: Page, *heads: Capability) -> Callable[[str], bool]:
    """Return what tells whether a model has all of these heads."""
    return lambda model: set(heads) <= set(page.engine.status(model).capabilities)


def filled_with(
    page: Page,
    box: gr.Textbox,
    able: Callable[[str], bool],
    instead: str,
    line: gr.HTML | None = None,
    *,
    at_first: bool = False,
) -> list[Then]:
    """Fill a box with the page's model, or with `instead` where that is not able. Returns the triggers after which it is filled,
    on opening and by each way to choose another model.

    line: names the model in the box if it is not the page's. at_first: on opening alone; what is chosen later is taken as it is.
    """

    def chosen(model: str) -> Any:
        used = model if able(model) else instead
        return used if line is None else [used, used_line(model, used)]

    def taken(model: str) -> Any:
        return model if line is None else [model, ""]

    places = [box] if line is None else [box, line]
    later = [(changed, taken if at_first else chosen) for changed in page.changed]
    return [trigger(fill, [page.model], places, **QUIET).then for trigger, fill in ((page.opened, chosen), *later)]


def names_used(page: Page, *boxes: gr.components.Component) -> None:
    """Lay out a line that names the models chosen in boxes of the tab's own, unless the page's model is all of them."""
    line, given = rich_text(), [page.model, *boxes]
    for trigger in (page.opened, *page.changed, *(box.input for box in boxes)):  # type: ignore[attr-defined]
        trigger(used_line, given, [line], **QUIET)


def line_of_runs(result: Any) -> str:
    """Return the models of the runs on a tab: the page's has no part in those that were trained before."""
    used = dict.fromkeys(record.spec.model for record in result.records)  # each once, in the order of the runs
    named = Markup(" and ").join(strong(as_named(name)) for name in used)
    return str(caption("Used on this tab: runs of ", named, "; what you start takes the model at the top."))


def used_line(model: str, *used: str) -> str:
    """Return what a tab says of the models that it uses besides the page's own; "" if that is the only one."""
    if set(used) == {model}:
        return ""
    return str(caption("Used on this tab: ", Markup(" and ").join(map(strong, dict.fromkeys(used))), "."))
