"""Sampling by temperature, and the ROC curve and its area, against scikit-learn."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import roc_auc_score, roc_curve

from explorer.maths.detection import auc, roc, sampled


def test_samples_are_drawn_as_often_as_they_are_likely_and_not_always_the_best() -> None:
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().repeat(20_000, 1)
    drawn = sampled(logits, torch.Generator().manual_seed(0))
    shares = torch.bincount(drawn, minlength=4) / len(drawn)
    torch.testing.assert_close(shares, torch.tensor([0.5, 0.3, 0.15, 0.05]), atol=0.015, rtol=0)
    certain = torch.full((5, 4), -100.0)
    certain[:, 2] = 100.0
    assert sampled(certain, torch.Generator()).tolist() == [2] * 5


@pytest.mark.parametrize("temperature", [0.0, 1e-9, 1e-4])
def test_without_warmth_the_likeliest_is_drawn(temperature: float) -> None:
    logits = torch.randn(500, 40, generator=torch.Generator().manual_seed(1)) * 8
    drawn = sampled(logits, torch.Generator().manual_seed(0), temperature)
    assert drawn.tolist() == logits.argmax(-1).tolist()


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_a_temperature_divides_the_logits(temperature: float) -> None:
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    drawn = sampled(logits.repeat(20_000, 1), torch.Generator().manual_seed(0), temperature)
    shares = torch.bincount(drawn, minlength=4) / len(drawn)
    torch.testing.assert_close(shares, (logits / temperature).softmax(-1), atol=0.015, rtol=0)


def test_a_seed_draws_the_same_again_and_another_one_something_else() -> None:
    logits = torch.zeros(30, 100)
    first, again, other = (sampled(logits, torch.Generator().manual_seed(seed)).tolist() for seed in (5, 5, 6))
    assert first == again != other


@pytest.mark.parametrize("levels", [4, 1_000_000])
def test_curve_and_area_are_those_of_scikit_learn(levels: int) -> None:
    dice = torch.Generator().manual_seed(2)
    replaced = torch.rand(400, generator=dice) < 0.2
    scores = torch.randint(levels, (400,), generator=dice) / levels + 0.3 * replaced * (levels > 4)
    assert auc(scores, replaced) == pytest.approx(roc_auc_score(replaced, scores), abs=1e-12)
    thresholds, hits, alarms = roc(scores, replaced)
    false, true, expected = roc_curve(replaced, scores.double(), drop_intermediate=False)
    assert thresholds.tolist() == pytest.approx(expected[1:].tolist())  # scikit-learn's first is above all scores
    assert hits.tolist() == pytest.approx(true[1:].tolist())
    assert alarms.tolist() == pytest.approx(false[1:].tolist())
    area = torch.trapezoid(torch.cat([torch.zeros(1), hits]), torch.cat([torch.zeros(1), alarms]))
    assert float(area) == pytest.approx(roc_auc_score(replaced, scores), abs=1e-5)


def test_without_both_kinds_there_is_no_area() -> None:
    scores = torch.tensor([0.1, 0.2])
    assert auc(scores, torch.tensor([False, False])) is None
    assert auc(scores, torch.tensor([True, True])) is None
    assert roc(scores, torch.tensor([False, False]))[1].tolist() == [0, 0]
