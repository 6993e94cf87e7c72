"""A page never asks for a layer or a head that its model lacks."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.serving.pages import within_ends
from explorer.ui.within_model import within_model
from tests.rows import each_row


@each_row(
    ("model", "asked", "expected"),
    [
        ("bert-small", {"layer": 5, "head": 11}, {"layer": 5, "head": 11}),
        ("gpt2-mini", {"layer": 5, "head": 11}, {"layer": 3, "head": 3}),
        ("electra-mini-discriminator", {"layer": 4, "head": 0}, {"layer": 3, "head": 0}),
        ("gpt2-mini", {"layer": 3, "head": None}, {"layer": 3, "head": None}),
        ("gpt2-mini", {"layer": "5"}, {"layer": "5"}),
        ("no/such-model", {"layer": 50}, {"layer": 50}),
        ("gpt2-mini", {"text": "a"}, {"text": "a"}),
    ],
)
def test_layers_and_heads_end_where_the_model_s_do(model: str, asked: dict[str, Any], expected: dict[str, Any]) -> None:
    assert within_model({"model": model, **asked}) == {"model": model, **expected}


def test_a_layer_to_look_at_may_count_the_embedding() -> None:
    assert within_model({"model": "gpt2-mini", "layer": 4}, views=("layer",)) == {"model": "gpt2-mini", "layer": 4}


def test_a_sliders_value_on_its_way_when_the_ends_move_is_the_nearest_there_is() -> None:
    with gr.Blocks():
        layer, moved, text = gr.Slider(0, 5, 4, step=1), gr.Slider(0, 5, 4, step=1), gr.Textbox("9")
    state = {moved._id: gr.Slider(0, 3, 2, step=1, render=False)}
    assert within_ends([layer, moved, text], [4, 4, "9"], state) == [4, 3, "9"]
    assert within_ends([layer, moved], [-1, None], {}) == [0, None]
    assert within_ends([layer, moved], [7], {}) == [5], "fewer values than components"
