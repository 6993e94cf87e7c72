"""The distillation page's endpoints, as scripts and notebooks call them."""

from __future__ import annotations

from typing import Any

from gradio_client import Client

from tests.caller import Caller
from tests.ui.conftest import QUICK, columns, newest, rows

TEXT = " ".join(f"The number {number} stands in this sentence." for number in range(24))
ON_TEXT: dict[str, Any] = {"task": "text", "text": TEXT, "epochs": 1}


def test_distill_streams_a_student_and_leaves_it_as_a_run(client: Caller, trained: str) -> None:
    answers = list(client.follow(teacher=trained, **QUICK, api_name="/distill"))
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
