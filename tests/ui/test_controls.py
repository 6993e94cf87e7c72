"""A control has its label, its range, its choices and what it opens with from the parameter's field."""

from __future__ import annotations

from typing import Annotated, Any

import gradio as gr

from explorer.kinds import Flag, Name, Names, Number, OneOf, Whole
from explorer.params import SecondText, Shown, params
from explorer.ui.controls import control, controls
from tests.rows import each_row

WAYS = (("one", "a"), ("other", "b"))


@params
class Asked:
    """A parameter for each control."""

    layer: Annotated[int, Whole(0, 1000), Shown("Layer", "From 0.", (0, 11))] = 4
    rate: Annotated[float, Number(0, 1), Shown("Rate", slider=(0, 0.5, 0.05))] = 0.1
    count: Annotated[int, Whole(0), Shown("Count")] = 3
    weight: Annotated[float, Number(0, 10)] = 2.5
    even: Annotated[bool, Flag(), Shown("Even")] = True
    way: Annotated[str, OneOf(("a", "b"), ("one", "other")), Shown("Way")] = "b"
    listed: Annotated[str, OneOf(("a", "b"), ("one", "other")), Shown("Way", dropdown=True)] = "a"
    task: Annotated[str, Name(), Shown("Task", dropdown=True)] = "a"
    ways: Annotated[tuple[str, ...], Names(), Shown("Ways", choices=WAYS)] = ("a",)
    ranks: Annotated[tuple[str, ...], Names()] = ("1", "2")
    second: Annotated[SecondText, Shown("Second text", lines=(1, 4))] = ""


def made(name: str, **options: Any) -> Any:
    with gr.Blocks():
        return control(Asked, name, **options)


@each_row(
    ("name", "kind", "expected"),
    [
        ("layer", gr.Slider, {"minimum": 0, "maximum": 11, "step": 1, "value": 4, "label": "Layer", "info": "From 0."}),
        ("rate", gr.Slider, {"minimum": 0, "maximum": 0.5, "step": 0.05, "value": 0.1}),
        ("count", gr.Number, {"precision": 0, "value": 3, "label": "Count", "minimum": None}),
        ("weight", gr.Number, {"precision": None, "value": 2.5, "label": "weight"}),
        ("even", gr.Checkbox, {"value": True, "label": "Even"}),
        ("way", gr.Radio, {"choices": list(WAYS), "value": "b"}),
        ("listed", gr.Dropdown, {"filterable": False, "allow_custom_value": False, "value": "a"}),
        ("ways", gr.CheckboxGroup, {"choices": list(WAYS), "value": ["a"]}),
        ("ranks", gr.Textbox, {"value": "1, 2"}),
        ("second", gr.Textbox, {"lines": 1, "max_lines": 4, "value": "", "label": "Second text"}),
    ],
)
def test_what_stands_at_the_field_makes_the_control(name: str, kind: type, expected: dict[str, Any]) -> None:
    component = made(name)
    assert type(component) is kind
    assert {option: getattr(component, option) for option in expected} == expected


def test_a_page_may_say_otherwise() -> None:
    assert (made("layer", slider=(0, 5), value=2).maximum, made("layer", label="Depth").label) == (5, "Depth")
    task = made("task", choices=["a", "b"])
    assert (type(task), task.allow_custom_value, task.choices) == (gr.Dropdown, True, [("a", "a"), ("b", "b")])


def test_several_come_by_their_names_in_the_order_in_which_they_are_named() -> None:
    with gr.Blocks():
        several = controls(Asked, "rate", "layer", second="A text.")
    assert list(several) == ["rate", "layer", "second"]
    assert several["second"].value == "A text."
