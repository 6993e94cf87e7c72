"""The controls whose values a page's address holds: by which names, and how a value is read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.kinds import Kind
from explorer.params import declared
from explorer.ui.page import Page
from explorer.ui.used_model import USED

MODEL = "model"
"""The page's model, by the name that it has in every address."""

SENTENCES = ("text", "sentence_a")
"""The parameters that hold the sentence that goes along from page to page."""

OF_ANSWER = "of-answer"
"""The class of a control that offers parts of the answer: what it holds is set anew with each, so no address has it."""

RUN_PICKER = "run-picker"
_NOT_KEPT = ("visitor", "run")
"""Who asks, and the run, which stands in the query (explorer/ui/run_picker.py)."""

Place = tuple[tuple[int, str], ...]
"""The Tabs that a component lies in, with the tab of each, the outermost first."""


def path_of(place: Place) -> str:
    """Return a place as an address names it."""
    return "/".join(tab for _, tab in place)


class UnreadableError(Exception):
    """A value that cannot be put into its control; the sentence says why."""


@dataclass(frozen=True)
class Kept:
    """A control whose value the address holds. kind: what its action accepts; None for a control that only says how an answer
    is drawn.
    """

    name: str
    component: Any
    kind: Kind | None
    tabs: Place

    @property
    def is_sentence(self) -> bool:
        """Whether it holds the sentence that a visitor takes along to other pages."""
        return self.name.split(".")[-1] in SENTENCES and isinstance(self.component, gr.Textbox)

    @property
    def spec(self) -> dict[str, Any]:
        """What the browser has to know of it."""
        told = {"id": self.component._id, "name": self.name, "tabs": self.tabs, "value": self.component.value}
        return told | ({"sentence": True} if self.is_sentence else {})

    def read(self, text: str) -> Any:
        """Return the control's value from its text in the address. Raises UnreadableError, BadInputError."""
        part = self.component
        if isinstance(part, gr.Checkbox):
            if text not in ("true", "false"):
                raise UnreadableError(f"{self.name} must be true or false; got {text[:40]!r}.")
            return text == "true"
        if isinstance(part, gr.Dataframe):
            return self._table(text)
        if isinstance(part, (gr.Dropdown, gr.Radio, gr.CheckboxGroup)):
            several = isinstance(part, gr.CheckboxGroup) or bool(getattr(part, "multiselect", False))
            return [self._chosen(one) for one in self._listed(text)] if several else self._chosen(text)
        if isinstance(part, (gr.Number, gr.Slider)):
            return self._number(text)
        if text and self.kind:
            self.kind.read(text, self.name)
        return text

    def _number(self, text: str) -> float | int | None:
        if text == "":
            return None
        try:
            number = float(text)
        except ValueError:
            raise UnreadableError(f"{self.name} must be a number; got {text[:40]!r}.") from None
        if self.kind:
            self.kind.read(number, self.name)
        return int(number) if number == int(number) else number

    def _chosen(self, text: str) -> Any:
        for _, value in self.component.choices:
            if str(value) == text:
                return value
        if getattr(self.component, "allow_custom_value", False):
            return text
        known = ", ".join(str(value) for _, value in self.component.choices)
        raise UnreadableError(f"{self.name} must be one of {known[:200]}; got {text[:40]!r}.")

    def _listed(self, text: str) -> list[str]:
        listed = _json(text)
        if not isinstance(listed, list) or len(listed) > 100 or any(isinstance(one, list | dict) for one in listed):
            raise UnreadableError(f'{self.name} must be a list, such as ["a", "b"]; got {text[:40]!r}.')
        return [str(one) for one in listed]

    def _table(self, text: str) -> dict[str, Any]:
        before = self.component.value
        rows = _json(text)
        width = len(before["headers"])
        if (
            not isinstance(rows, list)
            or len(rows) != len(before["data"])
            or any(
                not isinstance(row, list) or len(row) != width or any(isinstance(cell, list | dict) for cell in row)
                for row in rows
            )
        ):
            raise UnreadableError(f"{self.name} must be a table of {len(before['data'])} rows and {width} columns.")
        return {"headers": before["headers"], "data": rows}


def _json(text: str) -> Any:
    """Return what an address holds as JSON; None if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def kept(page: Page, place: Callable[[Any], Place]) -> list[Kept]:
    """Return the controls of all that a page asks, each once.

    Where two that can be in view have one name, the one that stands above the tabs has it, or the first; the other has its
    action's before it.
    """
    found: dict[int, tuple[str, str, Any, Kind | None]] = {}
    for action, name, part, kind in (*_asked(page), *(("", name, part, None) for name, part in page.also)):
        if part is not page.model and _is_kept(name, part):
            found.setdefault(part._id, (action, name, part, kind))
    named: list[Kept] = []
    for action, name, part, kind in sorted(found.values(), key=lambda one: len(place(one[2]))):
        lies = place(part)
        taken = {one.name for one in named if one.tabs == lies[: len(one.tabs)]}
        taken |= {MODEL} if page.model.visible is True else set()
        named.append(Kept(f"{action}.{name}" if name in taken else name, part, kind, lies))
    return named


def _asked(page: Page) -> Iterator[tuple[str, str, Any, Kind | None]]:
    for binding in page.bindings:
        kinds = declared(binding.action.params)
        for name, part in binding.inputs.items():
            yield binding.action.name, name, part, kinds[name].kind if name in kinds else None
        for name, part in binding.views.items():
            yield binding.action.name, name, part, None


def _is_kept(name: str, part: Any) -> bool:
    if name in _NOT_KEPT or {USED, OF_ANSWER} & set(part.elem_classes or ()):
        return False
    return part.elem_id != RUN_PICKER and not isinstance(part, (gr.JSON, gr.State, gr.HTML)) and hasattr(part, "change")


def _holders(blocks: gr.Blocks) -> dict[int, Any]:
    """Return, by the number of each component of the current page, what it lies in."""
    # By the children and not by `parent`, which a second `with` of the same component changes.
    return {
        child._id: part
        for part in blocks.blocks.values()
        if part.page == blocks.current_page
        for child in getattr(part, "children", ())
    }


def folds_of(blocks: gr.Blocks) -> Callable[[Any], list[gr.Accordion]]:
    """Return the function that lists the folds of the current page that a component lies in, and that open closed."""
    holds = _holders(blocks)

    def folds(part: Any) -> list[gr.Accordion]:
        found: list[gr.Accordion] = []
        while (part := holds.get(part._id)) is not None:
            if isinstance(part, gr.Accordion) and not part.open:
                found.append(part)
        return found

    return folds


def places_of(blocks: gr.Blocks) -> Callable[[Any], Place]:
    """Return the function that says where a component of the current page lies."""
    holds = _holders(blocks)

    def place(part: Any) -> Place:
        found: list[tuple[int, str]] = []
        while (outer := holds.get(part._id)) is not None:
            if isinstance(part, gr.Tab):
                found.insert(0, (outer._id, str(part.id)))
            part = outer
        return tuple(found)

    return place
