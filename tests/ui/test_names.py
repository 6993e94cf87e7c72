"""A page has one name: in its address, its folder, its title, and where another page leads to it."""

from __future__ import annotations

import re

import gradio as gr

from explorer.labs import CHAPTERS, LABS, Lab
from explorer.settings import ROOT
from tests.rows import each_row

IN_LETTERS = {"delta": "ΔW", "agrees": "What agrees"}
"""Titles that an address can't spell, or that would be long in one."""

TITLES = {lab.slug: lab.title for lab in LABS}


@each_row("lab", LABS, ids=lambda lab: lab.slug)
def test_address_folder_and_title_say_the_same(lab: Lab) -> None:
    assert lab.tab.startswith(f"explorer.labs.{lab.slug}.")
    if lab.slug in IN_LETTERS:
        assert lab.title == IN_LETTERS[lab.slug]
    else:
        assert re.sub("[^a-z]", "", lab.title.lower()) == lab.slug


def test_no_chapter_and_no_tab_has_the_name_of_a_page(blocks: gr.Blocks) -> None:
    tabs = {block.label for block in blocks.blocks.values() if isinstance(block, gr.Tab)}
    assert tabs
    assert not {*CHAPTERS, *tabs} & {*TITLES.values()}


def test_a_link_in_a_sentence_calls_a_page_by_its_name() -> None:
    links = [
        (slug, said)
        for path in sorted((ROOT / "explorer" / "labs").rglob("*.py"))
        for slug, said in re.findall(r'<a href="([a-z]+)(?:\?[^"]*)?">([^<{]+)</a>', path.read_text(encoding="utf-8"))
        if slug in TITLES
    ]
    assert links
    assert [(slug, said) for slug, said in links if TITLES[slug] not in said] == []
