"""What the page's jobs refuse, in a sentence that names the parameter."""

from __future__ import annotations

import math
from typing import Any

import gradio as gr
import pytest

from explorer.errors import BadInputError
from explorer.labs.distillation.params import (
    AblationParams,
    DistillParams,
    FollowStudentParams,
    LossesParams,
    SoftTargetsParams,
)
from explorer.labs.distillation.schema import CURVE, GRADIENT_CURVE
from explorer.runs.examples import FIRST, STUDENT
from explorer.tuning.spec import RunSpec
from explorer.ui.controls import control
from explorer.ui.signatures import for_clients
from tests.engine.records import record
from tests.rows import each_row

BAD_TEMPERATURES = (0, -1, math.nan, math.inf, "hot", None, 1001)


@each_row("temperature", BAD_TEMPERATURES, ids=str)
@each_row("params", [SoftTargetsParams, LossesParams])
def test_a_temperature_out_of_range(params: Any, temperature: Any) -> None:
    with pytest.raises(BadInputError, match="temperature"):
        params("the cat", temperature)


@each_row("text", ["", "   ", None, 7])
def test_no_text(text: Any) -> None:
    for params in (SoftTargetsParams, LossesParams):
        with pytest.raises(BadInputError, match="sentence is empty"):
            params(text)


@each_row("top_k", [0, 31, 1.5, "many", math.nan])
def test_a_number_of_classes_out_of_range(top_k: Any) -> None:
    with pytest.raises(BadInputError, match="top_k"):
        SoftTargetsParams("the cat", top_k=top_k)


@each_row(
    ("name", "value"),
    [("alpha", 1.01), ("alpha", -0.1), ("alpha", math.nan), ("student_layers", -1), ("student_layers", 1.5)],
)
def test_a_share_or_a_depth_out_of_range(name: str, value: float) -> None:
    with pytest.raises(BadInputError, match=name):
        LossesParams("the cat", **{name: value})  # type: ignore[arg-type]


@each_row(
    ("name", "value"),
    [
        *(("temperature", value) for value in BAD_TEMPERATURES),
        *(("alpha", value) for value in (1.5, -1, math.nan, "half")),
        ("loss", "mse"),
        ("epochs", 0),
        ("seed", -1),
        ("start", "scratch"),
        ("cosine", -1),
        ("student_layers", -1),
        ("learning_rate", 0),
        ("batch_size", 0),
        ("examples", -1),
        ("teacher", ""),
    ],
    ids=str,
)
def test_a_students_settings_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(BadInputError, match=name):
        DistillParams(**{name: value})


def test_alpha_is_the_share_of_the_soft_loss() -> None:
    teacher = record(spec=RunSpec("a-model", "rte"))
    student, alone = DistillParams("r0", alpha=0.7, cosine=0.5, temperature=3, student_layers=2).specs(teacher)
    assert (student.soft_weight, student.cosine_weight) == (0.7, 0.5)
    assert student.hard_weight == pytest.approx(0.3)
    assert (student.model, student.task, student.method, student.teacher) == ("a-model", "rte", "distill", "r0")
    assert (student.temperature, student.student_layers) == (3.0, 2)
    assert (alone.soft_weight, alone.hard_weight, alone.cosine_weight) == (0.0, 1.0, 0.0)
    assert alone.seed == student.seed


def test_no_second_run_where_it_would_be_the_same_one_or_is_not_wanted() -> None:
    teacher = record(spec=RunSpec("m", "rte"))
    assert len(DistillParams("r0", alpha=0).specs(teacher)) == 1
    assert len(DistillParams("r0", with_labels_only=False).specs(teacher)) == 1
    assert DistillParams("r0", task="sst2", student="other").specs(teacher)[0].model == "other"


def test_the_ablation_needs_all_three_terms() -> None:
    teacher = record(spec=RunSpec("m", "rte"))
    lines = AblationParams("r0", seed=3, epochs=1).of(teacher)
    assert [line.spec.seed for line in lines] == [3] * 5
    assert {line.spec.task for line in lines} == {"rte"}
    for name in ("soft", "hard", "cosine"):
        with pytest.raises(BadInputError, match="all three need a weight"):
            AblationParams(**{name: 0})
        with pytest.raises(BadInputError, match=name):
            AblationParams(**{name: math.nan})


def test_what_is_left_out_is_the_worked_example() -> None:
    assert DistillParams().teacher == FIRST
    assert FollowStudentParams("").run == FollowStudentParams().run == STUDENT
    with pytest.raises(BadInputError, match="run must be a text"):
        FollowStudentParams(7)  # type: ignore[arg-type]


def test_the_curves_cover_the_slider() -> None:
    assert (CURVE[0], CURVE[-1]) == pytest.approx((0.1, 20))
    assert (GRADIENT_CURVE[0], GRADIENT_CURVE[-1]) == pytest.approx((0.1, 100))


@pytest.mark.parametrize("params", [DistillParams, AblationParams])
def test_a_text_goes_with_no_other_task(params: Any) -> None:
    with pytest.raises(BadInputError, match="Leave one of them out"):
        params(task="sst2", text="A sentence.")
    with pytest.raises(BadInputError, match="text must be a text"):
        params(text=7)
    assert params(task="text", text="A sentence.").text == "A sentence."


def test_a_student_on_text_is_of_the_model_and_has_no_run_as_its_teacher() -> None:
    first, alone = DistillParams(model="bert-mini", alpha=0.7, cosine=0.15).text_specs("text")
    assert (first.model, first.task, first.method, first.teacher) == ("bert-mini", "text", "distill_text", "")
    assert first.soft_weight + first.hard_weight == pytest.approx(1)
    assert (alone.soft_weight, alone.hard_weight, alone.cosine_weight) == (0, 1, 0)
    only = DistillParams(alpha=0.0).text_specs("text")
    assert len(only) == 1, "on the hidden words alone it is its own companion"


def test_every_second_layer_is_a_choice_by_its_name_and_a_number_to_clients() -> None:
    with gr.Blocks():
        layers = control(DistillParams, "student_layers")
        sent = for_clients({"student_layers": layers}, DistillParams)["student_layers"]
    assert layers.choices[:2] == [("every second layer", 0), ("1", 1)]
    assert (layers.value, isinstance(sent, gr.Number), sent.value) == (0, True, 0)
