"""The page's address: its tab, its texts and its settings, by the parameters' names, in the fragment.

A fragment never reaches a server's log, and a page stays one page to every cache. The browser writes it as controls change
(assets/address.js); what is read from one is checked here, since anybody may have written it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
from markupsafe import Markup

from explorer.errors import BadInputError
from explorer.ui.components import QUIET, rich_text
from explorer.ui.kept_controls import MODEL, Kept, Place, UnreadableError, folds_of, kept, places_of
from explorer.ui.page import Page

LONGEST = 12_000
"""Characters of a fragment: a text of 2,000 in an alphabet that takes six of them each."""

TAB, LEFT_OUT = "tab", "left_out"
"""The names that every page's address has: its tab, and the values that are too long for an address."""

CARRIED, FROM = "carried", "from"
"""Of a sentence that came along from another page, which stands in no address: the tab that it is for, and that page's title."""


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
        self.place: Callable[[Any], Place] = lambda part: ()
        self.kept: list[Kept] = []
        self.tabs: dict[int, gr.Tabs] = {}
        self.lies_in: dict[int, Place] = {}
        self._picked: list[Kept] = []
        self._folds: dict[int, list[gr.Accordion]] = {}

    def find(self, blocks: gr.Blocks, page: Page) -> None:
        """Find the page's tabs, and the controls in each, once they are laid out."""
        self.place = place = places_of(blocks)
        self.kept = kept(page, place)
        folds = folds_of(blocks)
        self._folds = {one.component._id: folds(one.component) for one in self.kept}
        here = [part for part in blocks.blocks.values() if part.page == blocks.current_page]
        self.tabs = {part._id: part for part in here if isinstance(part, gr.Tabs)}
        self.lies_in = {number: place(tabs) for number, tabs in self.tabs.items()}
        self._picked = [Kept(MODEL, page.model, None, ())] if page.model.visible is True else []

    def wire(self, blocks: gr.Blocks, page: Page, picker: Any) -> None:
        """Restore what the address says as the page opens, and keep it up from then on."""
        followed = [*self._picked, *self.kept]
        reads = asdict(page.lab.reads) if page.lab.reads else None
        told = {"kept": [one.spec for one in followed], "tabs": self._first(), "reads": reads, "title": page.lab.title}
        spec = json.dumps(told, default=str)
        found = blocks.load(
            lambda remembered, fragment: self.restore(picker, remembered, fragment),
            [picker.memory, self._fragment],
            [self._answer],
            js=f"(remembered) => [remembered, window.explorerAddress.begin({spec})]",
            **QUIET,
        )
        taken = found.then(
            fn=None,
            js=_TAKE_UP % picker.model.value,
            inputs=[self._answer, picker.model],
            outputs=[picker.model, picker.card],
            **QUIET,
        )
        # Apart, since what fires in the same update is asked before the picker holds the new model.
        taken.then(fn=None, js=_GO_ON, inputs=[self._answer], outputs=[self._asked, self._opened], **QUIET)
        components = [one.component for one in self.kept]
        folds = list({fold._id: fold for several in self._folds.values() for fold in several}.values())
        controls, tabs = json.dumps([part._id for part in components]), json.dumps([*self.tabs])
        closed = json.dumps([fold._id for fold in folds])
        self._asked.change(
            fn=None,
            js=f"(answer) => window.explorerAddress.values(answer, [{controls}, {tabs}, {closed}])",
            inputs=[self._answer],
            outputs=[*components, *self.tabs.values(), *folds, self.remark, self._opened],
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

    def _first(self) -> dict[int, Any]:
        """Return, for all Tabs, the tab that is shown first, and what they lie in themselves."""
        return {
            number: {
                "first": str(tabs.selected or _names(tabs)[0]),
                "in": self.lies_in[number],
                "tabs": _names(tabs),
            }
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
        carried, source = wanted.pop(CARRIED, None), wanted.pop(FROM, "")
        tabs = self._turned(wanted.pop(TAB, "") if carried is None else carried, said)
        left_out = wanted.pop(LEFT_OUT, "")
        if left_out:
            said.append(f"What stood in {left_out[:80]} was too long for an address.")
        values = self._values(wanted, dict(tabs), said)
        # The keys of JSON are texts. Where a sentence only came along, the page opens at its first tab as ever.
        turned = {} if carried is not None else {str(number): tab for number, tab in tabs}
        remark = (
            _remark(said)
            if carried is None
            else _brought(source, values and not said, self.title(tabs[-1]) if tabs else "")
        )
        folds = [fold._id for number in values for fold in self._folds[int(number)]]
        return answer | {"address": {"values": values, "tabs": turned, "folds": folds, "said": str(remark)}}

    def refused(self, fragment: str) -> list[str]:
        """Return a sentence for each thing that a fragment asks for and that this page has not; its model isn't looked for."""
        wanted = dict(parse_qsl(fragment[:LONGEST], keep_blank_values=True))
        said: list[str] = []
        wanted.pop(MODEL if self._picked else "", None)
        tabs = self._turned(wanted.pop(TAB, ""), said)
        self._values(wanted, dict(tabs), said)
        return said

    def tabs_of(self, number: int) -> list[gr.Tab]:
        """Return the tabs of one of the page's Tabs."""
        return _tabs_of(self.tabs[number])

    def places(self) -> list[Place]:
        """Return the page's tabs that have none inside, in their order; one empty place for a page without tabs."""
        return list(self._below(()))

    def _below(self, place: Place) -> Iterator[Place]:
        inside = [number for number, lies in self.lies_in.items() if lies == place]
        if not inside:
            yield place
        for number in inside:
            for tab in self.tabs_of(number):
                if tab.visible is not False:
                    yield from self._below((*place, (number, str(tab.id))))

    def _turned(self, path: str, said: list[str]) -> list[tuple[int, str]]:
        """Return the tab of each Tabs on the way to the one that is named, "outer" or "outer/inner"."""
        turned: list[tuple[int, str]] = []
        for name in path.split("/") if path else []:
            inside = [number for number, place in self.lies_in.items() if place == tuple(turned)]
            named = {str(tab.id): number for number in inside for tab in self.tabs_of(number)}
            if name not in named:
                said.append(f"This page has no tab “{path[:80]}”.")
                break
            turned.append((named[name], name))
        return turned

    def title(self, step: tuple[int, str]) -> str:
        """Return the label of a tab."""
        number, name = step
        return next(str(tab.label) for tab in self.tabs_of(number) if str(tab.id) == name)

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


def _tabs_of(tabs: gr.Tabs) -> list[gr.Tab]:
    return [part for part in tabs.children if isinstance(part, gr.Tab)]


def _remark(said: Sequence[str]) -> Markup:
    """Return what an address asked for in vain, and that the rest is as it says."""
    if not said:
        return Markup("")
    return Markup('<div class="notice" role="status"><p>{} The rest is as the address says.</p></div>').format(
        " ".join(said)
    )


def _brought(source: str, taken: object, tab: str) -> Markup:
    """Return that a sentence came along, in which tab it stands if not the first, and the way back to the page's own
    example.
    """
    if not taken:
        return Markup("")
    place = f" is in “{tab}”" if tab else ""
    own = Markup('<button type="button" class="plain" data-own>This page\'s example</button>')
    return Markup('<p class="brought">Your sentence from {}{}. {}</p>').format(
        source[:40] or "another page", place, own
    )


# What a visitor has chosen while the page was opening stays.
_TAKE_UP = """(answer, model) => {
  const leave = { __type__: "update" };
  const touched = window.explorerChose || model !== "%s";
  if (!answer || touched) return [answer ? { ...leave, choices: answer.choices } : leave, leave];
  return [{ ...leave, choices: answer.choices, value: answer.model }, answer.card];
}"""

# Then the page knows its model (assets/page.js).
_GO_ON = """(answer) => {
  window.explorerKnows?.("model");
  const leave = { __type__: "update" };
  return answer?.address ? [Date.now(), leave] : [leave, Date.now()];
}"""


def _names(tabs: gr.Tabs) -> list[str]:
    return [str(tab.id) for tab in _tabs_of(tabs)]
