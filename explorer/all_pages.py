"""All pages and tabs by their titles and addresses: what the map lists, and Ctrl-K searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.labs import LABS
from explorer.path import LEADS
from explorer.ui.address import TAB, Address
from explorer.ui.kept_controls import path_of


@dataclass(frozen=True)
class ListedTab:
    """A tab. question: the one that leads to it from another, if one does. controls: their labels, by which it is found."""

    title: str
    to: str
    question: str
    controls: str


@dataclass(frozen=True)
class Listed:
    """A page with its tabs."""

    title: str
    to: str
    chapter: str
    question: str
    about: str
    tabs: tuple[ListedTab, ...]


def pages_and_tabs(addresses: Mapping[str, Address]) -> list[Listed]:
    """Return every page in the order of the menu, with its tabs."""
    asked = {lead.to: lead.question for lead in LEADS.values()}
    return [
        Listed(lab.title, lab.slug, lab.chapter, lab.question, lab.teaser, _tabs(lab.slug, addresses[lab.slug], asked))
        for lab in LABS
    ]


def _tabs(slug: str, address: Address, asked: Mapping[str, str]) -> tuple[ListedTab, ...]:
    listed = []
    for place in address.places():
        title = " › ".join(address.title(step) for step in place)
        if place:
            to = f"{slug}#{TAB}={path_of(place)}"
            labels = {
                str(one.component.label) for one in address.kept if one.tabs and one.tabs == place[: len(one.tabs)]
            }
            listed.append(ListedTab(title, to, asked.get(to, ""), " · ".join(sorted(labels))))
    return tuple(listed)
