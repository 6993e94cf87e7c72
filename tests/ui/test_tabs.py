"""Tabs that are made from a description: whole, inside their own tab, and asking for what there is."""

from __future__ import annotations

import importlib
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, cast

import gradio as gr
import pytest

from explorer.labs.models import LAB, recipe
from explorer.params import declared
from explorer.tab import Choice, Tab
from explorer.ui.page import Page
from explorer.ui.tabs import build_tab
from tests.rows import each_row
from tests.test_layers import ROOT, questions


def described(path: Path) -> Tab:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    tab = importlib.import_module(module).TAB
    assert isinstance(tab, Tab)
    return tab


TABS = [pytest.param(described(path), id=path.stem) for path in questions()]


@each_row("tab", TABS)
def test_a_tab_asks_for_parameters_that_there_are(tab: Tab) -> None:
    known = declared(tab.action.params).keys()
    assert set(tab.inputs) | set(tab.opening) <= known
    for values in tab.tries.values():
        assert values.keys() <= set(tab.inputs)
        tab.action.params(**values)


@each_row("tab", TABS)
def test_a_choice_is_one_that_its_figure_is_drawn_by(tab: Tab) -> None:
    taken = signature(tab.figure.picture).parameters
    assert {part.name for part in tab.asks if isinstance(part, Choice)} == {*taken} - {"result"}


def test_a_choice_is_seen_by_the_page_and_not_by_clients() -> None:
    way = Choice("way", "Way", (("one", "1"), ("other", "2")))
    said = Choice("said", "Said", (("one", "1"), ("other", "2")), dropdown=True)
    with gr.Blocks() as blocks:
        model, notice = gr.Dropdown(), gr.HTML()
        page = Page(cast(Any, None), LAB, model, notice, opened=blocks.load, changed=())
        with gr.Tabs():
            build_tab(page, replace(recipe.TAB, asks=("score", way, said), why=None))
    (published,) = [event for event in blocks.fns.values() if event.api_visibility == "public"]
    assert [part.label for part in published.inputs] == ["Score on"]
    redrawn = [event for event in blocks.fns.values() if len(event.inputs) == 3]
    assert [part.value for part in redrawn[0].inputs] == ["mnli", "1", "1"]
    assert {type(part) for part in redrawn[0].inputs} == {gr.Radio, gr.Dropdown}
    assert sorted(target[1] for event in redrawn for target in event.targets) == ["input", "input", "input", "select"]


@each_row("tab", TABS)
def test_a_tab_is_laid_out_once_and_nothing_of_it_outside(tab: Tab, blocks: gr.Blocks) -> None:
    tabs = [block for block in blocks.blocks.values() if isinstance(block, gr.Tab)]
    [laid_out] = [block for block in tabs if (block.id, block.label) == (tab.slug, tab.title)]
    assert isinstance(laid_out.parent, gr.Tabs)
    assert all(isinstance(block, gr.Tab) for block in laid_out.parent.children)
    [figure] = [
        block for block in blocks.blocks.values() if getattr(block, "elem_id", "") == f"{tab.figure.name}-figure"
    ]
    above = figure
    while above.parent is not laid_out:
        assert above.parent is not None
        above = above.parent
