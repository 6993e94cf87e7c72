"""The ways between pages: the foot of every tab, with the pages that can take its sentence or its run and the question that it
leaves open; and all pages and tabs by their titles and addresses, which the map lists and Ctrl-K searches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
from markupsafe import Markup

from explorer import ledger
from explorer.action import Lab
from explorer.home import EXAMPLE
from explorer.labs import LABS
from explorer.path import LEADS
from explorer.ui.address import TAB, Address
from explorer.ui.kept_controls import path_of
from explorer.ui.page import Page
from explorer.ui.take_home import LINE, places_taken

OF_RUNS = (("finetune", ""), ("delta", ""), ("distillation", ""), ("pruning", ""), ("attribution", "tab=run"))
"""The pages that show a run of the visitor's, and where on them."""


def lay_out_feet(address: Address, page: Page, labs: Sequence[Lab]) -> None:
    """Lay out the foot of each of a page's tabs, or of a page without tabs. labs: all pages, by which they are called."""
    lab, titles = page.lab, {one.slug: one.title for one in labs}
    taken = places_taken(address, page)
    outermost = [tab for number, place in address.lies_in.items() if not place for tab in address.tabs_of(number)]
    for tab in outermost:
        outer = tab.parent
        with tab:
            name = str(tab.id)
            lines = foot(address, lab, name, labs, titles) + ledger.line(
                lab.slug, name, tab is outermost[0], EXAMPLE.text
            )
            gr.HTML(str(lines + (LINE if name in taken else "")), elem_classes=["foot"])
        tab.parent = outer  # to enter a tab again puts it, to Gradio's mind, where that was done
    if not outermost:
        gr.HTML(str(foot(address, lab, "", labs, titles) + (LINE if taken else "")), elem_classes=["foot"])


def foot(address: Address, lab: Lab, tab: str, labs: Sequence[Lab], titles: dict[str, str]) -> Markup:
    """Return the foot of one tab as HTML; assets/thread.js fills in the sentence and the run."""
    lines = Markup("")
    if any(one.is_sentence and (not one.tabs or one.tabs[0][1] == tab) for one in address.kept):
        links = [_to_sentence(one) for one in labs if one.reads and one is not lab]
        lines += Markup('<p class="of-sentence" hidden>See this sentence in {}</p>').format(Markup(" ").join(links))
    if any(slug == lab.slug for slug, _ in OF_RUNS) or lab.slug == "generation":
        links = [
            Markup('<span><a data-run="{}">{}</a></span>').format(slug + (f"#{place}" if place else ""), titles[slug])
            for slug, place in OF_RUNS
            if slug != lab.slug
        ]
        lines += Markup('<p class="of-run" hidden>See this run in {}</p>').format(Markup(" ").join(links))
    lead = LEADS.get((lab.slug, tab))
    if lead:
        slug = lead.to.partition("#")[0]
        here = titles[slug] if slug != lab.slug else "Next"
        lines += Markup('<p class="lead">{} <a href="{}">{} →</a></p>').format(lead.question, lead.to or "./", here)
    return lines


def _to_sentence(lab: Lab) -> Markup:
    assert lab.reads
    reads = json.dumps({"name": lab.reads.name, "how": lab.reads.how, "tab": lab.reads.tab, "to": lab.slug or "./"})
    title = lab.title if lab.slug else "the front page"
    return Markup('<span hidden><a data-reads="{}">{}</a></span>').format(reads, title)


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
