"""The distillation page's endpoints, as scripts and notebooks call them."""

from __future__ import annotations

from typing import Any

import pytest
from gradio_client import Client

from explorer.tuning.spec import HIGHEST_TEMPERATURE
from tests.ui.conftest import QUICK, columns, newest, refusal, rows

TEXT = " ".join(f"The number {number} stands in this sentence." for number in range(24))
ON_TEXT: dict[str, Any] = {"task": "text", "text": TEXT, "epochs": 1}


def test_soft_targets_of_a_model_and_of_a_run(client: Client, trained: str, tiny_model: str) -> None:
    for where, text in (({"model": tiny_model}, "The cat [MASK]."), ({"run": trained}, "A fine film.")):
        answer = client.predict(**where, text=text, temperature=2.0, api_name="/soft_targets")
        assert columns(answer) == ["target", "logit", "hard", "soft"]
        found = rows(answer)
        assert sum(row["soft"] for row in found) == pytest.approx(1, abs=1e-6)
        assert [row["hard"] for row in found] == [1, *[0] * (len(found) - 1)]
    even = rows(client.predict(run=trained, text="A", temperature=HIGHEST_TEMPERATURE, api_name="/soft_targets"))
    assert [row["soft"] for row in even] == pytest.approx([0.5, 0.5], abs=1e-2)


def test_losses_and_gradients(client: Client, trained: str) -> None:
    asked = {"run": trained, "text": "A fine film.", "student_layers": 1}
    found = {row["loss"]: row["value"] for row in rows(client.predict(**asked, api_name="/distillation_losses"))}
    assert {"soft", "kl", "l2", "hard", "weighted", "cosine"} <= found.keys()
    assert found["soft"] == pytest.approx(4 * found["kl"])
    assert found["weighted"] == pytest.approx((found["soft"] + found["hard"]) / 2)
    itself = rows(client.predict(**{**asked, "student_layers": 2}, api_name="/distillation_losses"))
    assert next(row["value"] for row in itself if row["loss"] == "soft") == pytest.approx(0, abs=1e-6)
    steps = client.predict(**asked, api_name="/soft_gradients")
    assert columns(steps) == ["temperature", "without_factor", "with_factor"]
    for row in rows(steps):
        assert row["with_factor"] == pytest.approx(row["temperature"] ** 2 * row["without_factor"], rel=1e-6)


def test_distill_streams_a_student_and_leaves_it_as_a_run(client: Client, trained: str) -> None:
    answers = list(client.submit(teacher=trained, **QUICK, api_name="/distill"))
    assert columns(answers[-1]) == ["step", "loss", "metric"]
    found = rows(answers[-1])
    assert [row["step"] for row in found] == [0, 1, 2]
    assert found[-1]["loss"] is not None
    assert "The student reaches" in answers[-1][0]
    assert "parameters" in str(answers[-1][3])
    assert f"teacher='{trained}'" in answers[-1][-2]
    assert "labels" in newest(client)["name"]
    again = client.predict(run=newest(client)["run"], api_name="/follow_student")
    assert [row["step"] for row in rows(again)] == [0, 1, 2]


def test_students_of_several_seeds_know_few_labels_and_are_one_table(client: Client, trained: str) -> None:
    asked = {"teacher": trained, **QUICK, "labelled": 16, "alpha": 0.5, "seeds": 2}
    client.predict(**asked, api_name="/distill")
    run = newest(client)["run"]
    answer = client.predict(run=run, api_name="/student_seeds")
    assert columns(answer) == ["seed", "with_teacher", "without_teacher", "difference"]
    alone = rows(answer)
    assert [row["seed"] for row in alone] == [0, 1], "the newest is a student on labels alone, of both seeds"
    assert {row["with_teacher"] for row in alone} == {None}


def test_distill_on_a_text_needs_no_labels(client: Client, tiny_model: str) -> None:
    answer = client.predict(model=tiny_model, **ON_TEXT, alpha=0.7, cosine=0.15, api_name="/distill")
    assert columns(answer) == ["step", "loss", "metric"]
    assert "hidden words" in answer[0]
    assert all(0 <= row["metric"] <= 1 for row in rows(answer) if row["metric"] is not None)
    assert "1-layer student" in newest(client)["name"]


def test_stop_keeps_what_a_student_has_learned(client: Client, trained: str) -> None:
    job = client.submit(teacher=trained, epochs=200, with_labels_only=False, api_name="/distill")
    for answer in job:
        if any(row["step"] for row in rows(answer)):
            break
    run = newest(client)["run"]
    client.predict(run=run, api_name="/stop_run")
    assert "Stopped at step" in job.result(timeout=180)[0]
    assert newest(client)["status"] == "stopped"


def test_the_ablation_has_a_line_a_term(client: Client, trained: str) -> None:
    found = rows(client.predict(teacher=trained, **QUICK, api_name="/ablate_distillation"))
    assert [row["line"] for row in found] == ["all", "no-soft", "no-cosine", "no-hard", "random"]
    assert [row["distilbert"] for row in found] == [None, -2.96, -1.46, -0.31, -3.69]
    assert {row["status"] for row in found} == {"done"}


@pytest.mark.parametrize(
    ("name", "given", "hint"),
    [
        ("/soft_targets", {"text": ""}, "sentence is empty"),
        ("/soft_targets", {"text": "x", "temperature": 0}, "temperature must be a number above 0"),
        ("/soft_targets", {"text": "x", "run": "nobody"}, "No run is called"),
        ("/distillation_losses", {"text": "x", "student_layers": 3}, "cannot be cut from 2"),
        ("/distillation_losses", {"text": "x", "alpha": 2}, "alpha must be a number from 0 to 1"),
        ("/distill", {"temperature": 0}, "temperature must be a number above 0"),
        ("/distill", {"alpha": 1.5}, "alpha must be"),
        ("/distill", {"student_layers": 3}, "can have at most 2"),
        ("/distill", {"teacher": "nobody"}, "No run is called"),
        ("/distill", {"teacher": ""}, "needs a teacher"),
        ("/distill", {"task": "rte"}, "another task"),
        ("/distill", {"labelled": -1}, "labelled must be"),
        ("/distill", {"seeds": 0}, "seeds must be"),
        ("/distill", {**ON_TEXT, "labelled": 8}, "labelled has no meaning there"),
        ("/student_seeds", {"run": "nobody"}, "No run is called"),
        ("/distill", {"task": "<b>"}, "is no task"),
        ("/distill", {"loss": "mse"}, "loss must be kl or l2"),
        ("/distill", {**ON_TEXT, "text": "Too short."}, "at least 8 are needed"),
        ("/distill", {**ON_TEXT, "model": "no/model"}, "no/model"),
        ("/distill", {**ON_TEXT, "temperature": 0}, "temperature must be"),
        ("/distill", {**ON_TEXT, "student": "bert-small", "model": "bert-mini"}, "Leave the student's model empty"),
        ("/ablate_distillation", {"cosine": 0}, "all three need a weight"),
        ("/follow_student", {"run": "nobody"}, "No run is called"),
    ],
)
def test_refusals(client: Client, trained: str, name: str, given: dict[str, Any], hint: str) -> None:
    whose = {"/distill": "teacher", "/ablate_distillation": "teacher"}.get(name, "run")
    assert hint in refusal(client, name, **{whose: trained, **given})


def test_a_student_in_a_layer_too_many_on_text(client: Client, tiny_model: str) -> None:
    asked = {**ON_TEXT, "model": tiny_model, "student_layers": 9}
    assert "can have at most 2" in refusal(client, "/distill", **asked)
