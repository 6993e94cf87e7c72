"""The best step of a run: which one it is, that it outlives a Stop, and what a run ends with."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from explorer.models.loaded_model import LoadedModel
from explorer.runs.record import RunStatus
from explorer.tuning.adapted import adapt
from explorer.tuning.reading import predict
from explorer.tuning.rows import tokenise
from explorer.tuning.snapshots import Best, better, from_state
from explorer.tuning.spec import RunSpec
from tests.engine.working import Run, same
from tests.models import conftest as models_conftest
from tests.tuning.small import WEIGHT, data, losses, training_of

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert

WANDERS = RunSpec("tiny", method="full", learning_rate=2e-2, epochs=3, batch_size=8, keep_best=True)
"""A rate that makes it better and worse again."""


def chosen(*found: dict[str, float | None]) -> int:
    best = None
    for step, metrics in enumerate(found, start=1):
        best = better(best, step, metrics, "accuracy", dict)
    assert best is not None
    return best.step


def test_the_metric_decides_then_the_loss_then_who_was_first() -> None:
    assert chosen({"accuracy": 0.5, "loss": 0.1}, {"accuracy": 0.9, "loss": 2.0}, {"accuracy": 0.8, "loss": 0.1}) == 2
    assert chosen({"accuracy": 0.9, "loss": 0.5}, {"accuracy": 0.9, "loss": 0.4}, {"accuracy": 0.9, "loss": 0.6}) == 2
    assert chosen({"accuracy": 0.9, "loss": 0.4}, {"accuracy": 0.9, "loss": 0.4}) == 1
    assert chosen({"accuracy": None, "loss": 0.1}, {"accuracy": -0.2, "loss": 9.0}) == 2
    assert chosen({"accuracy": 0.9}, {"accuracy": 0.9}) == 1


def test_a_checkpoint_gives_it_back() -> None:
    best = Best(7, -math.inf, 0.25, {"a.weight": torch.arange(3.0)})
    back = from_state(best.state())
    assert back is not None
    assert (back.step, back.score, back.loss) == (7, -math.inf, 0.25)
    assert same(dict(back.numbers), dict(best.numbers), 0)
    assert from_state({"progress": torch.zeros(3)}) is None


def test_inside_the_model_is_the_best_one_and_outside_it_trains_on_as_if_nothing_had_been(bert: LoadedModel) -> None:
    training, alone = (training_of(bert, WANDERS, data()) for _ in range(2))
    found = {update.step: update.metrics for update in training.updates() if update.metrics}
    losses(alone)
    best = training.best
    assert best is not None
    assert best.step < training.steps, "its last step is the best; take another rate"
    ranked = sorted(found, key=lambda step: (-(found[step]["accuracy"] or 0), found[step]["loss"], step))
    assert best.step == ranked[0]
    last = training.adapted.state()
    with training.at_best():
        assert training.quick_scores() == found[best.step]
        assert not same(training.adapted.state(), last)
    assert same(training.adapted.state(), last, 0)
    assert same(last, alone.adapted.state(), 0)


def test_a_run_ends_with_its_best_step_also_when_it_was_stopped_between(bert: LoadedModel, tmp_path: Path) -> None:
    whole = Run(bert, tmp_path / "whole", WANDERS)
    done = whole.work()
    assert 0 < done.kept < done.step
    stopped = Run(bert, tmp_path / "stopped", WANDERS)
    between = stopped.work(stop=lambda one: one.step > done.kept)
    assert between.status is RunStatus.STOPPED
    assert between.kept == done.kept
    again = stopped.work()
    assert (again.status, again.kept, again.outcome) == (RunStatus.DONE, done.kept, done.outcome)
    assert same(stopped.weights, whole.weights)
    assert [loss for _, loss in again.losses] == pytest.approx([loss for _, loss in done.losses], abs=2e-6)
    without = Run(bert, tmp_path / "without", replace(WANDERS, keep_best=False))
    assert without.work().kept == 0
    assert without.last.losses == done.losses
    assert not same(without.weights, whole.weights)
    assert done.score is not None
    assert without.last.score is not None
    assert done.score >= without.last.score


def test_what_is_kept_of_a_low_rank_update_is_the_kept_steps(bert: LoadedModel, tmp_path: Path) -> None:
    run = Run(bert, tmp_path, replace(WANDERS, method="lora", rank=2, learning_rate=3e-1))
    done = run.work()
    assert done.kept in done.snapshots
    assert list(done.snapshots) == sorted(set(done.snapshots))


def test_the_held_out_loss_is_the_one_that_is_trained_on(bert: LoadedModel, tmp_path: Path) -> None:
    run = Run(bert, tmp_path / "classes", RunSpec("tiny", method="full", epochs=2))
    done = run.work()
    rows = tokenise(bert, run.data.validation["validation"])
    restored = adapt(bert, 2, done.spec)
    restored.load_state(run.weights)
    logits = predict(restored, rows, torch.device("cpu"))
    assert done.outcome is not None
    assert done.outcome.metrics["validation"]["loss"] == pytest.approx(float(cross_entropy(logits, rows.labels.long())))
    scored = Run(bert, tmp_path / "scores", RunSpec("tiny", method="full", epochs=2), data(WEIGHT)).work()
    assert scored.outcome is not None
    errors = [((said - true) / scored.scale[1]) ** 2 for true, said in scored.outcome.points]
    expected = sum(errors) / len(errors)
    assert scored.outcome.metrics["validation"]["loss"] == pytest.approx(expected, rel=1e-4)
    assert all(values["loss"] is not None for _, values in scored.evaluations)
