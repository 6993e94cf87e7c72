"""What a run learns and how it is measured: in the task's own unit, in the rows' order, by the usual libraries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Task
from explorer.tuning import reading as module
from explorer.tuning import training as loop
from explorer.tuning.reading import decide
from explorer.tuning.spec import RunSpec
from explorer.tuning.training import Training
from tests.models import conftest as models_conftest
from tests.rows import each_row
from tests.tuning.small import BASKET, CATS, KILOS, WEIGHT, data, losses, training_of

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert


class TestLearning:
    @pytest.mark.parametrize(("method", "rate"), [("full", 2e-3), ("lora", 1e-2)])
    def test_a_tiny_model_learns_to_see_a_cat(self, bert: LoadedModel, method: str, rate: float) -> None:
        spec = RunSpec("tiny", method=method, learning_rate=rate, epochs=12, batch_size=8)
        training = training_of(bert, spec, data(train=96, held_out=40))
        updates = list(training.updates())
        assert updates[-1].metrics is not None
        assert updates[-1].metrics["accuracy"] is not None
        assert updates[-1].metrics["accuracy"] > 0.9
        assert updates[-1].loss < 0.3 < updates[0].loss

    def test_a_regression_predicts_in_the_tasks_own_unit(self, bert: LoadedModel) -> None:
        spec = RunSpec("tiny", method="full", learning_rate=2e-3, epochs=20, batch_size=8)
        task_data = data(WEIGHT, train=96, held_out=40)
        training = training_of(bert, spec, task_data)
        labels = torch.tensor([example.label for example in task_data.train], dtype=torch.float64)
        assert training.scale.mean == pytest.approx(float(labels.mean()))
        assert training.scale.spread == pytest.approx(float(labels.std(correction=0)))
        untrained = decide(WEIGHT, training.predict(training.held_out), training.scale)
        assert all(BASKET < weight < BASKET + 4 * KILOS for weight in untrained)
        first = next(training.updates())
        assert 0.1 < first.loss < 5  # of scores in units of their spread
        losses(training)
        trained = decide(WEIGHT, training.predict(training.held_out), training.scale)
        errors = [abs(said - true) for said, true in zip(trained, training.held_out.labels.tolist(), strict=True)]
        assert sum(errors) / len(errors) < KILOS
        assert scored(training)["pearson"] > 0.9

    def test_scores_that_do_not_differ_are_trained_on_all_the_same(self, bert: LoadedModel) -> None:
        task_data = data(WEIGHT)
        task_data = replace(task_data, train=tuple(replace(one, label=3.0) for one in task_data.train))
        training = training_of(bert, RunSpec("tiny", epochs=1), task_data)
        assert (training.scale.mean, training.scale.spread) == (3.0, 1.0)


def scored(training: Training) -> dict[str, float]:
    found = training.quick_scores()
    assert all(value is not None for value in found.values())
    return {name: value for name, value in found.items() if value is not None and name != "loss"}


class TestMeasuring:
    @pytest.mark.parametrize("task", [CATS, WEIGHT], ids=["classes", "scores"])
    def test_predictions_stand_in_the_rows_order(
        self, bert: LoadedModel, monkeypatch: pytest.MonkeyPatch, task: Task
    ) -> None:
        monkeypatch.setattr(module, "precision", lambda *of: nullcontext())
        monkeypatch.setattr(module, "ordered_batches", lambda lengths: module_batches(lengths, 40))
        training = training_of(bert, RunSpec("tiny", method="full", learning_rate=2e-3, epochs=8), data(task))
        losses(training)
        together = module.predict(training.adapted, training.held_out, training.device)
        assert together.dtype == torch.float32
        one_by_one = [
            training.adapted.logits({name: torch.tensor([ids]) for name, ids in row.items()})
            for row in training.held_out.inputs
        ]
        torch.testing.assert_close(together, torch.cat(one_by_one).detach(), atol=1e-5, rtol=1e-4)
        assert not torch.allclose(together[:-1], together[1:], atol=1e-3)
        first = module.predict(training.adapted, training.held_out, training.device, 7)
        torch.testing.assert_close(first, together[:7], atol=1e-5, rtol=1e-4)

    def test_metrics_are_scikit_learns(self, bert: LoadedModel) -> None:
        training = training_of(bert, RunSpec("tiny", method="full", learning_rate=1e-3, epochs=12), data(held_out=60))
        losses(training)
        said = training.predict(training.held_out).argmax(-1).tolist()
        true = [int(label) for label in training.held_out.labels]
        assert 0 < sum(said) < 60
        assert scored(training) == pytest.approx(
            {
                "accuracy": accuracy_score(true, said),
                "f1": f1_score(true, said),
                "matthews": matthews_corrcoef(true, said),
            }
        )

    def test_correlations_are_scipys(self, bert: LoadedModel) -> None:
        training = training_of(bert, RunSpec("tiny", epochs=1), data(WEIGHT))
        losses(training)
        said, true = training.predict(training.held_out)[:, 0].numpy(), training.held_out.labels.numpy()
        assert scored(training) == pytest.approx(
            {"pearson": pearsonr(said, true).statistic, "spearman": spearmanr(said, true).statistic}, abs=1e-6
        )

    @each_row("rows", [3, 16, 17, 80, 115, 240])
    def test_the_metric_is_measured_several_times_an_epoch_and_at_the_end(self, bert: LoadedModel, rows: int) -> None:
        training = training_of(bert, RunSpec("tiny", epochs=2), data(train=rows, held_out=6))
        updates = list(training.updates())
        measured = [update.step for update in updates if update.metrics is not None]
        assert measured[-1] == training.steps == 2 * -(-rows // 16)
        assert len(measured) <= 2 * loop.EVALUATIONS_PER_EPOCH + 1
        assert len(measured) >= min(training.steps, 5)

    def test_only_the_first_rows_are_measured_while_it_trains(
        self, bert: LoadedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(loop, "QUICK_ROWS", 5)
        training = training_of(bert, RunSpec("tiny", epochs=1), data())
        training.held_out.labels[5:] = float("nan")  # scikit-learn would refuse it
        assert training.quick_scores()["accuracy"] in [count / 5 for count in range(6)]

    def test_updates_count_rows_and_steps(self, bert: LoadedModel) -> None:
        training = training_of(bert, RunSpec("tiny", epochs=3), data(train=40))
        updates = list(training.updates())
        assert [update.step for update in updates] == list(range(1, 10))
        assert sum(update.rows for update in updates) == 3 * 40
        assert all(update.seconds > 0 for update in updates)


def module_batches(lengths: object, tokens: int) -> Iterator[list[int]]:
    from explorer.tuning.rows import ordered_batches

    return ordered_batches(lengths, tokens)  # type: ignore[arg-type]
