"""Experiments and examples put their values into the controls that they name."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.ui.kit import Examples, Tries, start_stop


def events(page: gr.Blocks) -> list[Any]:
    return list(page.fns.values())


def test_values_go_into_the_controls_in_their_order() -> None:
    with gr.Blocks() as page:
        boxes = [gr.Textbox(), gr.Number()]
        triggers = Tries({"one": ("a", 1), "another": ("b", 2)}).into(boxes)
    assert len(triggers) == 2
    assert [event.fn() for event in events(page)] == [("a", 1), ("b", 2)]
    assert all(event.outputs == boxes and event.api_visibility == "private" for event in events(page))


def test_values_by_name_leave_the_other_controls_alone() -> None:
    with gr.Blocks() as page:
        controls = {"text": gr.Textbox(), "share": gr.Number(), "steps": gr.Number()}
        tries = Tries({"both": {"steps": 4, "text": "a"}, "one": {"share": 0.5}, "another way": None})
        tries.into(controls)
    both, one = events(page)
    assert (both.fn(), both.outputs) == ([4, "a"], [controls["steps"], controls["text"]])
    assert (one.fn(), one.outputs) == (0.5, [controls["share"]])
    assert list(tries.buttons) == ["both", "one", "another way"]


def test_an_example_is_found_by_its_number() -> None:
    with gr.Blocks() as page:
        examples = Examples({"first": ("a", 1), "second": ("b", 2)})
        examples.into([gr.Textbox(), gr.Number()], show_progress="full")
    (event,) = events(page)
    assert examples.list.choices == [("first", 0), ("second", 1)]
    assert event.fn(1) == ("b", 2)
    assert event.show_progress == "full"


def test_stop_is_named_after_start_where_it_has_a_name() -> None:
    with gr.Blocks():
        assert [button.elem_id for button in start_stop("Train", "train")] == ["train", "train-stop"]
        assert start_stop("Train them", "train", stop_id=None)[1].elem_id is None
