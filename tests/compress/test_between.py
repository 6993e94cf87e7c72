"""A little training between two prunings, and what is asked of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from explorer.compress import between
from explorer.compress.asking import example_losses
from explorer.compress.between import trained, with_weights
from explorer.compress.cuts import Cut
from explorer.compress.importance import unit_sums
from explorer.errors import BadInputError, MissingCapabilityError
from explorer.maths.intervals import Ratio, Spent
from explorer.models.timing import milliseconds, ratio, spent, typical_milliseconds
from explorer.tuning import reading
from tests.compress.subjects import FAMILIES, model_subject, run_subject, tiny
from tests.compress.test_removal import outputs, some
from tests.rows import each_row


@pytest.mark.parametrize("family", FAMILIES)
def test_it_trains_copies_and_leaves_the_subject_alone(
    tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(between, "RATE", 2e-3)
    subject = run_subject(tiny(tmp_path, family), examples=32)
    cut = Cut(heads=some(subject.shape.blocks * 4, 1))
    whole = outputs(subject, subject.tree())
    with torch.inference_mode():
        weights, first = trained(subject, cut, {}, 2, 1)
        for round_ in range(2, 5):
            weights, last = trained(subject, cut, weights, 6, round_)
    assert last < first
    assert torch.equal(outputs(subject, subject.tree()), whole)
    assert not torch.equal(outputs(subject, with_weights(subject, weights)), whole)
    pruned = subject.having(with_weights(subject, weights))
    with pruned.without(cut) as model:
        assert outputs(pruned, model).isfinite().all()


def test_what_is_left_can_be_asked_for_importance_where_nothing_has_bfloat16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs compute in inference mode; in bfloat16 the weights are copied on the way, in float32 they are used as they are."""
    subject = run_subject(tiny(tmp_path, "BERT"))
    weights, _ = trained(subject, Cut(), {}, 2, 0)
    told = []
    for has in (True, False):
        monkeypatch.setattr(reading, "has_bfloat16", lambda device, has=has: has)
        with torch.inference_mode():
            cut = Cut(neurons=bytes(place % 2 for place in range(subject.shape.blocks * subject.shape.neurons)))
            told.append(unit_sums(subject, "head", "labels", 0, 4, cut, with_weights(subject, weights)).absolute)
    torch.testing.assert_close(*told, atol=0.05 * float(told[1].max()), rtol=0.2)


def test_the_loss_of_each_example_is_torchs() -> None:
    draw = torch.Generator().manual_seed(0)
    scores, labels = torch.randn(4, 3, generator=draw), torch.tensor([0.0, 2.0, 1.0, 1.0])
    assert torch.allclose(example_losses(scores, labels, "labels").mean(), cross_entropy(scores, labels.long()))
    spread = torch.distributions.Categorical(logits=scores).entropy()
    assert torch.allclose(example_losses(scores, labels, "soft"), spread)
    tokens, targets = torch.randn(2, 4, 5, generator=draw), torch.tensor([[1, -100, 2, -100], [-100, 0, -100, -100]])
    each = example_losses(tokens[targets != -100], targets, "labels")
    for row in range(2):
        assert torch.allclose(each[row], cross_entropy(tokens[row], targets[row]))
    scored = example_losses(torch.tensor([[1.0], [3.0]]), torch.tensor([10.0, 30.0]), "labels", 10.0, 10.0)
    assert scored.tolist() == [1.0, 1.0]
    with pytest.raises(BadInputError, match="no soft output"):
        example_losses(torch.ones(2, 1), torch.ones(2), "soft")


@each_row("family", FAMILIES)
def test_a_head_that_reads_asked_tokens_alone_says_the_same(tmp_path: Path, family: str) -> None:
    loaded = tiny(tmp_path, family)
    try:
        subject = model_subject(loaded)
    except MissingCapabilityError:
        pytest.skip("no head without labels")
    inputs, labels = subject.examples.batch(list(range(6)), subject.loaded.device)
    with torch.inference_mode():
        every, asked = subject.scores(subject.model, inputs), subject.answers(subject.model, inputs, labels)
        assert torch.allclose(every[labels >= 0], asked, atol=1e-6)
        assert torch.equal(subject.scores(subject.model, inputs), every), "the head is left as it was"


def test_a_batch_of_any_size_and_its_time(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"), held_out=5)
    inputs = subject.batch(12)
    assert inputs["input_ids"].shape[0] == 12
    assert torch.equal(inputs["input_ids"][0], inputs["input_ids"][5])
    quick, slow = milliseconds([lambda: None, lambda: sum(range(200_000))], torch.device("cpu"))
    assert 0 <= quick < slow


def test_calls_take_turns_and_their_scatter_is_told() -> None:
    called: list[str] = []
    first, second = typical_milliseconds(
        [lambda: called.append("a"), lambda: called.append("b")], torch.device("cpu"), times=3
    )
    assert "".join(called) == "abbaabba"
    assert first.low <= first.median <= first.high
    assert second.low <= second.median <= second.high
    assert spent([1.0, 2.0, 3.0, 4.0, 100.0]) == Spent(3.0, 2.0, 4.0)


def test_a_ratio_is_paired_and_its_interval_covers_what_the_rounds_say() -> None:
    busy = [1.0, 5.0, 2.0, 9.0, 1.5, 3.0, 7.0, 2.5, 4.0, 6.0]
    slower = ratio([1.2 * value for value in busy], busy)
    assert (slower.median, slower.low, slower.high) == pytest.approx((1.2, 1.2, 1.2))
    assert slower.differs
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(60):
        one, other = draw.lognormal(0, 0.1, (2, 15))
        found = ratio(one.tolist(), other.tolist())
        assert found.low <= found.median <= found.high
        covered += not found.differs
    assert covered >= 50, "a 95% interval of two like calls holds 1 nearly always"
    assert not Ratio(1.1, 0.99, 1.3).differs
    assert Ratio(0.9, 0.8, 0.95).differs
