"""Addresses that ask each tab for something else than it opens with, and what a page sets by itself as it opens.

A value is read, named and refused in this process, for every tab alike (tests/ui/test_address.py). What only a browser can show
is whether something that the page does by itself writes over it (tests/e2e/test_address.py).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

import gradio as gr

from explorer.kinds import Exact, Whole
from explorer.ui.address import TAB, Address
from explorer.ui.kept_controls import Kept, Place, path_of

WORTHWHILE: dict[tuple[str, str], dict[str, str]] = {
    ("delta", "weight"): {"layer": "1", "module": "value"},
    ("delta", "intruders"): {"layer": "1", "module": "value"},
    ("delta", "layers"): {"module": "value"},
    ("delta", "compare"): {"layer": "1", "module": "value"},
    ("delta", "amplification"): {"layer": "1", "module": "value"},
    ("distillation", "losses"): {"kind": "layers"},
    ("pairs", "order"): {"score_order.model": "bert-small"},
    ("attention", "switches"): {"everywhere": "false"},
}
"""Values of controls where the next one that comes would be refused by what the page shows at first."""

BY_HAND = {"click", "input", "submit", "upload", "release"}
"""What a visitor does, and no page by itself; a press on a figure is an HTML's `select`."""


def another(kept: Kept) -> str | None:
    """A value that is not the one with which the page opens, as an address writes it; none where any would be nonsense."""
    part, value = kept.component, kept.component.value
    if isinstance(part, gr.Checkbox):
        return json.dumps(not value)
    if isinstance(part, (gr.Dropdown, gr.Radio, gr.CheckboxGroup)):
        several = isinstance(part, gr.CheckboxGroup) or bool(getattr(part, "multiselect", False))
        others = [choice for _, choice in part.choices if choice != value and [choice] != value]
        return (json.dumps([str(others[0])]) if several else str(others[0])) if others else None
    if part.visible == "hidden":
        return None  # set by a press on a figure
    if isinstance(part, gr.Slider):
        step = part.step or 1
        return f"{value + step if value + step <= part.maximum else value - step:g}"
    if isinstance(part, gr.Number):
        return f"{(value or 0) + 1:g}" if isinstance(kept.kind, Whole | Exact) or (value and value >= 1) else "0.5"
    if isinstance(part, gr.Textbox) and value and " " in value:
        return f"{value} Today."
    return None


class Asked(NamedTuple):
    """A tab, and all that its address can ask it for."""

    place: Place
    is_first: bool
    texts: dict[str, str]
    controls: list[Kept]

    @property
    def path(self) -> str:
        return path_of(self.place)

    @property
    def fragment(self) -> str:
        return urlencode(({} if self.is_first else {TAB: self.path}) | self.texts)

    @property
    def is_inside_another(self) -> bool:
        """Whether its tab lies in another tab's Tabs."""
        return len(self.place) > 1


def asked_of(slug: str, address: Address) -> Iterator[Asked]:
    """Each tab of a page that keeps something."""
    places = address.places()
    for place in places:
        here = [one for one in address.kept if all(step in place for step in one.tabs)]
        found = {one.name: another(one) for one in here} | WORTHWHILE.get((slug, path_of(place)), {})
        texts = {name: text for name, text in found.items() if text is not None}
        if texts:
            yield Asked(place, place == places[0], texts, [one for one in here if one.name in texts])


class Events:
    """All events of the app: which controls a page sets by itself, and what opening a tab waits for."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self._blocks, self._all = blocks, blocks.fns
        self._sets: dict[int, list[Any]] = defaultdict(list)
        self._started: dict[tuple[Any, str], list[Any]] = defaultdict(list)
        self._then: dict[int, list[Any]] = defaultdict(list)
        for event in self._all.values():
            for part in event.outputs:
                self._sets[part._id].append(event)
            for target in event.targets:
                self._started[target].append(event)
            if event.trigger_after is not None:
                self._then[event.trigger_after].append(event)

    def _begin(self, event: Any) -> list[tuple[Any, str]]:
        """What starts an event, or the one that it comes after."""
        while event.trigger_after is not None:
            event = self._all[event.trigger_after]
        return list(event.targets)

    def _is_by_itself(self, target: tuple[Any, str]) -> bool:
        part, does = target
        return does not in BY_HAND and not (does == "select" and isinstance(self._blocks.blocks.get(part), gr.HTML))

    def sets_by_itself(self, part: Any) -> bool:
        """Whether anything but the visitor and the address sets a control."""
        events = [event for event in self._sets[part._id] if "explorerAddress" not in str(event.js)]
        return any(self._is_by_itself(target) for event in events for target in self._begin(event))

    def read_at_opening(self, tabs: Iterable[gr.Tab]) -> list[Any]:
        """The parts that are read as tabs are opened, by what their `select` starts and what comes after that."""
        waiting = [event for tab in tabs for event in self._started[tab._id, "select"]]
        seen: dict[int, Any] = {}
        while waiting:
            event = waiting.pop()
            if event._id not in seen:
                seen[event._id] = event
                waiting += self._then[event._id]
                tickets = [part for part in event.outputs if isinstance(part, gr.Number) and part.visible == "hidden"]
                waiting += [then for part in tickets for then in self._started[part._id, "change"]]
        return [part for event in seen.values() for part in event.inputs]
