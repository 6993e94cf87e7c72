"""The training loop: repeatable, resumable, safe for the shared model, and quick to say when it diverges."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest
import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example
from explorer.tuning import training as training_module
from explorer.tuning.methods import METHODS
from explorer.tuning.rows import tokenise
from explorer.tuning.spec import RunSpec
from tests.models import conftest as models_conftest
from tests.tuning.small import data, losses, training_of

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert

SPECS = {
    **{method.slug: RunSpec("tiny", method=method.slug, epochs=2, prefix_length=4, bottleneck=8) for method in METHODS},
    **{variant: RunSpec("tiny", variant=variant, epochs=2) for variant in ("rslora", "dora", "pissa")},
    "dropout": RunSpec("tiny", dropout=0.3, epochs=2, targets=("query", "key", "value", "output", "ffn_in", "ffn_out")),
    "adapter dropout": RunSpec("tiny", method="houlsby", dropout=0.3, bottleneck=8, epochs=2),
    "pissa dropout": RunSpec("tiny", variant="pissa", dropout=0.2, epochs=2),
}
ALL = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())


@pytest.fixture(autouse=True)
def unchanged(bert: LoadedModel) -> Iterator[None]:
    """Whatever a test does, the shared model stays bit for bit the same."""
    before = {name: tensor.clone() for name, tensor in bert.model.state_dict().items()}
    yield
    after = bert.model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert all(weight.grad is None and not weight.requires_grad for weight in bert.model.parameters())
    assert not any(part.training for part in bert.model.modules())


def largest_difference(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    assert one.keys() == other.keys()
    return max(float((one[name].double() - other[name].double()).abs().max()) for name in one)


class TestRepeating:
    @ALL
    def test_the_same_seed_gives_the_same_losses_and_weights(self, bert: LoadedModel, spec: RunSpec) -> None:
        first, second = (training_of(bert, spec, data()) for _ in range(2))
        assert losses(first, 4) == losses(second, 4)
        assert largest_difference(first.adapted.state(), second.adapted.state()) == 0

    @ALL
    def test_another_seed_gives_others(self, bert: LoadedModel, spec: RunSpec) -> None:
        other = replace(spec, seed=1)
        assert losses(training_of(bert, spec, data()), 3) != losses(training_of(bert, other, data()), 3)

    @pytest.mark.parametrize("name", ["dropout", "pissa dropout", "full", "prompt"])
    def test_a_run_in_another_thread_changes_nothing(self, bert: LoadedModel, name: str) -> None:
        spec = SPECS[name]
        alone = losses(training_of(bert, spec, data()))
        ended = threading.Event()

        def disturb() -> None:
            seed = 100
            while not ended.is_set():
                seed += 1
                torch.manual_seed(seed)
                losses(training_of(bert, replace(spec, seed=seed), data()), 2)

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            beside = [losses(training_of(bert, spec, data())) for _ in range(3)]
        finally:
            ended.set()
            thread.join()
        assert beside == [alone] * 3

    def test_dropout_drops_something_and_not_the_same_in_every_matrix(self, bert: LoadedModel) -> None:
        spec = SPECS["dropout"]
        assert losses(training_of(bert, spec, data()), 3) != losses(
            training_of(bert, replace(spec, dropout=0.0), data()), 3
        )
        training = training_of(bert, spec, data())
        losses(training, 1)
        ones = torch.ones(4, 32)
        masks = [dropout.train()(ones).tolist() for dropout in training._dropouts]
        assert len(masks) > 2
        assert all(masks.count(mask) == 1 for mask in masks)


class TestResuming:
    @ALL
    @pytest.mark.parametrize("stop", [1, 4])
    def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(
        self, bert: LoadedModel, spec: RunSpec, stop: int
    ) -> None:
        whole = training_of(bert, spec, data())
        uninterrupted = losses(whole)
        first = training_of(bert, spec, data())
        before = losses(first, stop)
        kept = {name: tensor.clone() for name, tensor in first.state().items()}
        again = training_of(bert, spec, data())
        again.load_state(kept)
        assert again.step == stop
        assert before + losses(again) == pytest.approx(uninterrupted, abs=1e-6)
        assert again.step == whole.step == whole.steps == len(uninterrupted)
        assert largest_difference(again.adapted.state(), whole.adapted.state()) < 1e-6

    def test_the_state_is_a_copy(self, bert: LoadedModel) -> None:
        training = training_of(bert, SPECS["lora"], data())
        losses(training, 1)
        kept = training.state()
        before = {name: tensor.clone() for name, tensor in kept.items()}
        list(islice(training.updates(), 2))
        assert largest_difference(before, kept) == 0

    def test_a_state_of_another_method_is_refused(self, bert: LoadedModel) -> None:
        kept = training_of(bert, SPECS["lora"], data()).state()
        with pytest.raises(BadInputError, match="not of a run like this"):
            training_of(bert, SPECS["bitfit"], data()).load_state(kept)


class TestDiverging:
    @ALL
    def test_a_huge_rate_is_named(self, bert: LoadedModel, spec: RunSpec) -> None:
        with pytest.raises(BadInputError, match=r"diverged.*learning rate 1e\+06 is too high; try 1e\+05"):
            losses(training_of(bert, replace(spec, learning_rate=1e6), data()))

    def test_a_single_step_that_blows_up_is_noticed_though_no_step_follows(self, bert: LoadedModel) -> None:
        spec = RunSpec("tiny", method="full", epochs=1, batch_size=48, learning_rate=1e6)
        with pytest.raises(BadInputError, match="diverged"):
            losses(training_of(bert, spec, data()))

    def test_what_is_no_number_is_noticed_at_its_step(self, bert: LoadedModel) -> None:
        training = training_of(bert, SPECS["lora"], data())
        updates = training.updates()
        next(updates)
        with torch.no_grad():
            next(iter(training.adapted.trainable().values())).fill_(float("nan"))
        with pytest.raises(BadInputError, match="at step 2 the loss is nan"):
            next(updates)

    def test_one_bad_batch_is_no_divergence(self, bert: LoadedModel) -> None:
        training = training_of(bert, SPECS["lora"], data())
        training._watch(0.7)
        for step, loss in enumerate((0.6, 60.0, 0.5), 1):
            training.step = step
            training._watch(loss)
        with pytest.raises(BadInputError, match="diverged"):
            TestDiverging.watch_again(training)

    @staticmethod
    def watch_again(training: training_module.Training) -> None:
        for _ in range(5):
            training._watch(60.0)

    def test_a_rate_that_works_does_not_look_like_one_that_does_not(self, bert: LoadedModel) -> None:
        for spec in SPECS.values():
            assert all(loss < 5 for loss in losses(training_of(bert, spec, data())))


def test_the_rate_rises_over_the_first_steps_and_falls_to_the_end(bert: LoadedModel) -> None:
    training = training_of(bert, RunSpec("tiny", epochs=40, learning_rate=2e-3), data())
    rates = [training._rate_at(step) for step in range(training.steps)]
    peak = rates.index(max(rates))
    assert max(rates) == 2e-3
    assert peak + 1 == round(training_module.WARM_UP * training.steps)
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak + 1 :] == sorted(rates[peak + 1 :], reverse=True)
    assert 0 < rates[-1] < 2e-3 / 50
    next(training.updates())
    assert training.optimizer.param_groups[0]["lr"] == rates[0]


def test_matrices_decay_and_vectors_do_not(bert: LoadedModel) -> None:
    training = training_of(bert, SPECS["full"], data())
    for group in training.optimizer.param_groups:
        assert {parameter.ndim > 1 for parameter in group["params"]} == {group["weight_decay"] > 0}
    trained = sum(len(group["params"]) for group in training.optimizer.param_groups)
    assert trained == len(training.adapted.trainable())


def test_a_prefix_leaves_room_for_itself(bert: LoadedModel) -> None:
    for method in ("prompt", "prefix"):
        spec = RunSpec("tiny", method=method, prefix_length=12, epochs=1)
        task_data = replace(data(), train=tuple(Example("the cat " * 30, None, float(i % 2)) for i in range(8)))
        training = training_of(bert, spec, task_data)
        assert training.train_rows.lengths.max() == bert.longest - 12
        losses(training)
    assert tokenise(bert, task_data.train).lengths.max() == bert.longest
