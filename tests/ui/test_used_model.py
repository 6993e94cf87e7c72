"""Tabs that do not use the page's model say which they use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from explorer.engine.local import LocalEngine
from explorer.runs.comparing import Compared
from explorer.runs.examples import BY_METHOD
from explorer.settings import Settings
from explorer.ui.used_model import line_of_runs, used_line
from tests.rows import each_row


@each_row(
    ("model", "used", "said"),
    [
        ("bert-small", ("bert-small",), ""),
        ("bert-small", ("gpt2-mini",), "Used on this tab: gpt2-mini."),
        ("albert-mini", ("albert-mini", "bert-small"), "Used on this tab: albert-mini and bert-small."),
        ("gpt2-mini", ("bert-small", "bert-small"), "Used on this tab: bert-small."),
    ],
)
def test_the_line_names_the_models_unless_the_pages_is_the_only_one(
    model: str, used: tuple[str, ...], said: str
) -> None:
    assert (
        used_line(model, *used)
        .replace("<strong>", "")
        .replace("</strong>", "")
        .removeprefix('<p class="caption">')
        .removesuffix("</p>")
        == said
    )


def test_a_models_name_stays_text() -> None:
    assert "<img" not in used_line("a", "<img>")


def test_a_tab_of_several_runs_names_each_of_their_models_once(tmp_path: Path) -> None:
    engine = LocalEngine(Settings(data_folder=tmp_path, device="cpu", offline=True))
    records = tuple(engine.runs.get(name) for name in BY_METHOD.values())
    assert "runs of <strong>bert-small</strong>; what you start" in line_of_runs(Compared(records))
    other = replace(records[0], spec=replace(records[0].spec, model="/home/me/<b>own"))
    said = line_of_runs(Compared((*records, other)))
    assert "<strong>bert-small</strong> and <strong>&lt;b&gt;own</strong>;" in said


@pytest.mark.parametrize("tab", ["Compare all", "Sweep"])
def test_tabs_of_several_runs_have_that_line(blocks: gr.Blocks, tab: str) -> None:
    (found,) = [block for block in blocks.blocks.values() if isinstance(block, gr.Tab) and block.label == tab]
    (line,) = [one for one in inside(found) if str(getattr(one, "elem_id", "")).endswith("-used")]
    assert any(line is output for event in blocks.fns.values() for output in event.outputs)


@pytest.mark.parametrize(("tab", "said"), [("From nothing", "models of its own"), ("Metrics", "no model and no run")])
def test_tabs_without_a_model_of_the_pages_say_so(blocks: gr.Blocks, tab: str, said: str) -> None:
    (found,) = [block for block in blocks.blocks.values() if isinstance(block, gr.Tab) and block.label == tab]
    assert any(f"Used on this tab: <strong>{said}</strong>" in str(value) for value in values_within(found))


@each_row("tab", ["Order", "Continue a text", "A meaning in words", "Adapt GPT-2"])
def test_tabs_with_models_of_their_own_have_a_line_that_names_them(blocks: gr.Blocks, tab: str) -> None:
    (found,) = [
        block for block in blocks.blocks.values() if isinstance(block, gr.Tab) and str(block.label).startswith(tab)
    ]
    within = {id(block) for block in inside(found)}
    lines = [
        output
        for event in blocks.fns.values()
        for output in event.outputs
        if id(output) in within and getattr(event.fn, "__name__", "") in ("used_line", "chosen")
    ]
    assert any(isinstance(line, gr.HTML) for line in lines)


def inside(block: Any) -> list[Any]:
    """Everything in a block, at any depth."""
    children = list(getattr(block, "children", []))
    return [*children, *(found for child in children for found in inside(child))]


def values_within(block: Any) -> list[Any]:
    return [getattr(found, "value", None) for found in inside(block)]
