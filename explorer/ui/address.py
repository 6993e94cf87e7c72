"""The page's address: its tab, its texts and its settings, by the parameters' names, in the fragment.

A fragment never reaches a server's log, and a page stays one page to every cache. The browser writes it as controls change
(assets/address.js); what is read from one is checked here, since anybody may have written it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from markupsafe import Markup

from explorer.errors import BadInputError
from explorer.kinds import Kind
from explorer.params import declared
from explorer.ui.components import QUIET, rich_text
from explorer.ui.page import Page
from explorer.ui.used_model import USED

LONGEST = 12_000
"""Characters of a fragment: a text of 2,000 in an alphabet that takes six of them each."""

TAB, MODEL, LEFT_OUT = "tab", "model", "left_out"
"""The names that every page's address has: its tab, its model, and the values that are too long for an address."""

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
    def spec(self) -> dict[str, Any]:
        """What the browser has to know of it."""
        return {"id": self.component._id, "name": self.name, "tabs": self.tabs, "value": self.component.value}

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
        try:
            listed = json.loads(text)
        except ValueError:
            listed = None
        if not isinstance(listed, list) or len(listed) > 100 or any(isinstance(one, list | dict) for one in listed):
            raise UnreadableError(f'{self.name} must be a list, such as ["a", "b"]; got {text[:40]!r}.')
        return [str(one) for one in listed]

    def _table(self, text: str) -> dict[str, Any]:
        before = self.component.value
        try:
            rows = json.loads(text)
        except ValueError:
            rows = None
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


class Address:
    """A page's address; `opened` is the trigger that fires once what it says is in place.

    Lay it out before the page's tabs, and wire it after them.
    """

    def __init__(self) -> None:
        self._opened, self._asked = (
            gr.Number(0, visible="hidden", label=label, elem_id=label) for label in ("opened", "restored")
        )
        self._fragment = gr.Textbox("", visible="hidden", label="fragment")
        self._again = gr.Button("", visible="hidden", elem_id="address-again")
        self._answer = gr.JSON(visible=False)
        self.remark = rich_text(elem_classes=["address-remark"])
        self.opened = self._opened.change
        self.kept: list[Kept] = []
        self.tabs: dict[int, gr.Tabs] = {}
        self._in: dict[int, Place] = {}
        self._picked: list[Kept] = []

    def wire(self, blocks: gr.Blocks, page: Page, picker: Any) -> None:
        """Restore what the address says as the page opens, and keep it up from then on."""
        place = _places(blocks)
        self.kept = kept(page, place)
        here = [part for part in blocks.blocks.values() if part.page == blocks.current_page]
        self.tabs = {part._id: part for part in here if isinstance(part, gr.Tabs)}
        self._in = {number: place(tabs) for number, tabs in self.tabs.items()}
        self._picked = [Kept(MODEL, page.model, None, ())] if page.model.visible is True else []
        followed = [*self._picked, *self.kept]
        spec = json.dumps({"kept": [one.spec for one in followed], "tabs": self._first()}, default=str)
        found = blocks.load(
            lambda remembered, fragment: self.restore(picker, remembered, fragment),
            [picker.memory, self._fragment],
            [self._answer],
            js=f"(remembered) => [remembered, window.explorerAddress.begin({spec})]",
            **QUIET,
        )
        found.then(
            fn=None,
            js=_TAKE_UP % picker.model.value,
            inputs=[self._answer, picker.model],
            outputs=[picker.model, picker.card, self._asked, self._opened],
            **QUIET,
        )
        components = [one.component for one in self.kept]
        controls, tabs = json.dumps([part._id for part in components]), json.dumps([*self.tabs])
        self._asked.change(
            fn=None,
            js=f"(answer) => window.explorerAddress.values(answer, [{controls}, {tabs}])",
            inputs=[self._answer],
            outputs=[*components, *self.tabs.values(), self.remark, self._opened],
            **QUIET,
        )
        if components:
            again = f"() => window.explorerAddress.asked({controls})"
            self._again.click(fn=None, js=again, inputs=None, outputs=components, **QUIET)
        if followed:
            boxes = [one.component for one in followed]
            gr.on(
                [part.change for part in boxes],
                fn=None,
                js="(...values) => window.explorerAddress.keep(values)",
                inputs=boxes,
                **QUIET,
            )
        for tab in (tab for tabs in self.tabs.values() for tab in _tabs_of(tabs)):
            tabs_id, name = place(tab)[-1]
            tab.select(fn=None, js=f"() => window.explorerAddress.turn({tabs_id}, {json.dumps(name)})", **QUIET)

    def _first(self) -> dict[int, Any]:
        """Return, for all Tabs, the tab that is shown first, and what they lie in themselves."""
        return {
            number: {"first": str(tabs.selected or _tabs_of(tabs)[0].id), "in": self._in[number]}
            for number, tabs in self.tabs.items()
        }

    def restore(self, picker: Any, remembered: Any, fragment: Any) -> dict[str, Any]:
        """Return the picker's model, and the values and tabs that a fragment asks for, by their components."""
        wanted = dict(parse_qsl(fragment[:LONGEST], keep_blank_values=True)) if isinstance(fragment, str) else {}
        said: list[str] = []
        model = wanted.pop(MODEL, "") if self._picked else ""
        if model and picker.at_hand(model):
            remembered = model
        elif model:
            said.append(f"The model {model[:80]} is not on this machine: pick it at the top to fetch it.")
        answer: dict[str, Any] = picker.restore(remembered)
        if not wanted and not said:
            return answer
        tabs = self._turned(wanted.pop(TAB, ""), said)
        left_out = wanted.pop(LEFT_OUT, "")
        if left_out:
            said.append(f"What stood in {left_out[:80]} was too long for an address.")
        values = self._values(wanted, dict(tabs), said)
        turned = {str(number): tab for number, tab in tabs}  # the keys of JSON are texts
        return answer | {"address": {"values": values, "tabs": turned, "said": str(_remark(said))}}

    def places(self) -> list[Place]:
        """Return the page's tabs that have none inside, in their order; one empty place for a page without tabs."""
        return list(self._below(()))

    def _below(self, place: Place) -> Iterator[Place]:
        inside = [number for number, lies in self._in.items() if lies == place]
        if not inside:
            yield place
        for number in inside:
            for tab in _tabs_of(self.tabs[number]):
                if tab.visible is not False:
                    yield from self._below((*place, (number, str(tab.id))))

    def _turned(self, path: str, said: list[str]) -> list[tuple[int, str]]:
        """Return the tab of each Tabs on the way to the one that is named, "outer" or "outer/inner"."""
        turned: list[tuple[int, str]] = []
        for name in path.split("/") if path else []:
            inside = [number for number, place in self._in.items() if place == tuple(turned)]
            named = {str(tab.id): number for number in inside for tab in _tabs_of(self.tabs[number])}
            if name not in named:
                said.append(f"This page has no tab “{path[:80]}”.")
                break
            turned.append((named[name], name))
        return turned

    def _values(self, wanted: dict[str, str], turned: dict[int, str], said: list[str]) -> dict[str, Any]:
        first = {number: one["first"] for number, one in self._first().items()} | turned
        values: dict[str, Any] = {}
        for name, text in wanted.items():
            here = [
                one for one in self.kept if one.name == name and all(first[number] == tab for number, tab in one.tabs)
            ]
            if not here:
                said.append(f"Nothing here is called {name[:40]!r}.")
                continue
            try:
                values[str(here[0].component._id)] = here[0].read(text)
            except (UnreadableError, BadInputError) as error:
                said.append(str(error))
        return values


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
    if name in _NOT_KEPT or USED in (part.elem_classes or ()):
        return False
    return part.elem_id != RUN_PICKER and not isinstance(part, (gr.JSON, gr.State, gr.HTML)) and hasattr(part, "change")


def _tabs_of(tabs: gr.Tabs) -> list[gr.Tab]:
    return [part for part in tabs.children if isinstance(part, gr.Tab)]


def _places(blocks: gr.Blocks) -> Callable[[Any], Place]:
    """Return the function that says where a component of the current page lies."""
    # By the children and not by `parent`, which a second `with` of the same component changes.
    holds: dict[int, Any] = {
        child._id: part
        for part in blocks.blocks.values()
        if part.page == blocks.current_page
        for child in getattr(part, "children", ())
    }

    def place(part: Any) -> Place:
        found: list[tuple[int, str]] = []
        while (outer := holds.get(part._id)) is not None:
            if isinstance(part, gr.Tab):
                found.insert(0, (outer._id, str(part.id)))
            part = outer
        return tuple(found)

    return place


def _remark(said: Sequence[str]) -> Markup:
    """Return what an address asked for in vain, and that the rest is as it says."""
    if not said:
        return Markup("")
    return Markup('<div class="notice" role="status"><p>{} The rest is as the address says.</p></div>').format(
        " ".join(said)
    )


# What a visitor has chosen while the page was opening stays; then the page knows its model (assets/page.js).
_TAKE_UP = """(answer, model) => {
  window.explorerKnows?.("model");
  const leave = { __type__: "update" };
  const next = answer?.address ? [Date.now(), leave] : [leave, Date.now()];
  const touched = window.explorerChose || model !== "%s";
  if (!answer || touched) return [answer ? { ...leave, choices: answer.choices } : leave, leave, ...next];
  return [{ ...leave, choices: answer.choices, value: answer.model }, answer.card, ...next];
}"""
