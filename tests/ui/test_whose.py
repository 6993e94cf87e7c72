"""The name above a figure: of the model that it is of, whatever stands in the picker."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from explorer.engine.local import LocalEngine
from explorer.runs.examples import FIRST
from explorer.settings import Settings
from explorer.ui.components import plot, rich_text
from explorer.ui.whose import signed, whose

NOTHING = SimpleNamespace()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = Settings(device="cpu", offline=True, data_folder=tmp_path_factory.mktemp("data"))
    return SimpleNamespace(engine=LocalEngine(settings))


@pytest.mark.parametrize(
    ("model", "params", "result", "drawn", "said"),
    [
        ("gpt2-mini", NOTHING, NOTHING, "", "gpt2-mini"),
        ("", SimpleNamespace(model="/models/own"), NOTHING, "", "own"),
        ("google-bert/bert-base-cased", NOTHING, NOTHING, "", "google-bert/bert-base-cased"),
        ("", SimpleNamespace(models=("a", "b")), NOTHING, "", ""),
        ("", SimpleNamespace(models=("a", "b")), NOTHING, "b", "b"),
        ("", SimpleNamespace(model="gpt2-mini", run=FIRST), NOTHING, "", "bert-small"),
        ("", SimpleNamespace(model="gpt2-mini", run=""), NOTHING, "", "gpt2-mini"),
        # A run that only stands beside what is asked of the model.
        ("", SimpleNamespace(model="gpt2-mini", run=FIRST), SimpleNamespace(model="gpt2-mini"), "", "gpt2-mini"),
        ("", SimpleNamespace(run=FIRST), SimpleNamespace(model="the run's name"), "", "bert-small"),
        ("", SimpleNamespace(run=FIRST), NOTHING, "", "bert-small"),
        ("", SimpleNamespace(model="gpt2-mini", run="gone"), NOTHING, "", ""),
    ],
)
def test_a_figure_is_of_what_was_asked(page: Any, model: str, params: Any, result: Any, drawn: str, said: str) -> None:
    assert whose(page, model, params, result, drawn) == said


def test_figures_are_named_and_nothing_else() -> None:
    with gr.Blocks():
        parts = [rich_text(), plot("a"), plot("b"), plot("c")]
    picture, update = {"data": [1]}, {"__type__": "update", "visible": False}
    assert signed(parts, ["text", picture, update, ""], "bert-small") == [
        "text",
        {"data": [1], "of": "bert-small"},
        update,
        "",
    ]
    assert signed(parts[1:2], [picture], "") == [picture]
    assert picture == {"data": [1]}, "a worked example is drawn from one object for all visitors"
