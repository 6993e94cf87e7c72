"""A result fills a page's components: each by a function that asks by name for what it needs to know."""

from __future__ import annotations

import re
from typing import Any, cast
from unittest.mock import AsyncMock

import gradio as gr
import pytest
from markupsafe import Markup

from explorer.labs.models import HELD_OUT, LAB
from explorer.labs.models import records_page as records
from explorer.settings import ROOT
from explorer.ui import kit, wiring
from explorer.ui.kit import View
from explorer.ui.outputs import Output, Outputs
from explorer.ui.page import Page
from tests.loops import run


def places(*draws: Any, **options: Any) -> Outputs:
    with gr.Blocks():
        views = {"kind": gr.Radio(["a", "b"], value="a"), "depth": gr.Number(3)}
        shown: list[Output] = [(gr.HTML(), draw) for draw in draws]
        return Outputs(shown, views, **options)


def test_a_function_gets_the_choices_that_it_has_parameters_for() -> None:
    shown = places(
        lambda result: result, lambda result, kind: (result, kind), lambda result, depth, kind: (depth, kind)
    )
    assert shown.values("r", kind="b", depth=5) == ["r", ("r", "b"), (5, "b")]


def test_who_has_chosen_nothing_gets_the_functions_default_or_what_the_control_opens_with() -> None:
    shown = places(lambda result, kind, depth=None: (kind, depth))
    assert shown.values("r") == [("a", None)]
    assert shown.values("r", kind="b", depth=5) == [("b", 5)]


def test_what_is_looked_at_can_follow_from_the_result() -> None:
    def look(result: int, depth: int = 99) -> dict[str, Any]:
        return {"depth": min(depth, result), "found": result > 1}

    shown = places(lambda result, depth, found, kind: (depth, found, kind), look=look)
    assert shown.values(2, depth=5, kind="b") == [(2, True, "b")]
    assert shown.values(2) == [(2, True, "a")]


def test_one_function_can_fill_several_components_and_none_sends_markup() -> None:
    with gr.Blocks():
        several = [gr.HTML(), gr.Number()]
        shown = Outputs(
            [(several, lambda result: [Markup("<b>x</b>"), result]), (gr.HTML(), lambda result: Markup("y"))]
        )
    assert shown.components[:2] == several
    assert shown.values(1) == ["<b>x</b>", 1, "y"]
    assert [type(value) for value in shown.values(1)] == [str, int, str]


def test_a_view_is_its_sentence_its_bar_and_its_figure() -> None:
    with gr.Blocks():
        named = View("file", "one", lambda result: "said", lambda result: "drawn", bar=lambda result: "half")
        other = View("file", (None, "own-figure"), lambda result: "said", lambda result: "drawn", bar=True)
    assert Outputs(named).values(None) == ["said", "half", "drawn"]
    assert [part.elem_id for part in Outputs(named).components] == ["one-said", None, "one-figure"]
    assert Outputs(other).values(None) == ["said", "drawn"]  # its bar is filled by another
    assert other.bar not in Outputs(other).components
    assert other.figure.elem_id == "own-figure"


def test_an_answer_leaves_a_control_that_stood_where_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "answer", found := AsyncMock(return_value=4))
    with gr.Blocks() as blocks:
        model, notice, layer = gr.Dropdown(), gr.HTML(), gr.Slider(0, 5, value=4)
        page = Page(cast(Any, None), LAB, model, notice, opened=blocks.load, changed=())
        steered: list[Output] = [([layer], lambda result: [gr.update(maximum=5, value=result)])]
        asked = wiring.Connection(page, HELD_OUT, {"models": layer}, [], steered=steered)
        asked.on(page.opened, adapt=lambda values: {"models": ("bert-small",)})
    respond = next(event for event in blocks.fns.values() if layer in event.outputs)
    for answered, moved in ((4, False), (2, True)):
        found.return_value = answered
        monkeypatch.setattr(asked, "drawn", lambda *given, **named: [""] * len(asked.outputs))
        update = run(cast(Any, respond.fn)(models=4))[-1]
        assert update["maximum"] == 5
        assert ("value" in update) is moved


def test_the_tab_in_the_developers_guide_is_built_and_published() -> None:
    guide = (ROOT / "docs" / "developers.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(def build_scores.*?)```", guide, re.DOTALL)
    names = {**vars(kit), **vars(records), "WHY": "It is so."}
    exec(code, names)
    with gr.Blocks() as blocks:
        model, notice = gr.Dropdown(), gr.HTML()
        page = Page(cast(Any, None), LAB, model, notice, opened=blocks.load, changed=())
        with gr.Tab() as tab:
            names["build_scores"](page, tab)
    (published,) = [event for event in blocks.fns.values() if event.api_visibility == "public"]
    assert published.api_name == HELD_OUT.name
    assert len(published.outputs) == len(["sentence", "figure", "everything", "script", "table"])
