"""Soft targets and the losses of distillation, against torch, scipy and closed forms."""

from __future__ import annotations

import math

import pytest
import torch
from scipy.stats import entropy as scipy_entropy
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, kl_div, log_softmax, softmax

from explorer.maths import distillation as maths
from tests.rows import each_row

TEMPERATURES = (0.1, 0.5, 1.0, 2.0, 7.0, 20.0)
EACH = pytest.mark.parametrize("T", TEMPERATURES)


def logits(rows: int = 4, classes: int = 7, seed: int = 0) -> Tensor:
    return 3 * torch.randn(rows, classes, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


class TestSoftening:
    @EACH
    def test_it_is_the_softmax_of_the_divided_logits(self, T: float) -> None:  # noqa: N803
        z = logits()
        weights = (z / T).exp()
        torch.testing.assert_close(maths.softened(z, T), weights / weights.sum(-1, keepdim=True))

    def test_a_cold_one_is_one_hot_and_a_hot_one_even(self) -> None:
        z = logits()
        hard = torch.nn.functional.one_hot(z.argmax(-1), 7).double()
        torch.testing.assert_close(maths.softened(z, 1e-3), hard)
        torch.testing.assert_close(maths.softened(z, 1e9), torch.full_like(z, 1 / 7))

    def test_the_order_of_the_classes_never_changes(self) -> None:
        z = logits()
        for T in TEMPERATURES:  # noqa: N806
            assert torch.equal(maths.softened(z, T).argsort(-1), z.argsort(-1))

    @each_row("T", [0.0, -1.0, math.nan, math.inf])
    def test_no_other_temperature_is_taken(self, T: float) -> None:  # noqa: N803
        for work in (
            lambda: maths.softened(logits(), T),
            lambda: maths.soft_loss(logits(), logits(), T),
            lambda: maths.gradient(logits()[0], logits()[1], T),
        ):
            with pytest.raises(ValueError, match="above 0"):
                work()

    @EACH
    def test_entropy_and_dark_mass(self, T: float) -> None:  # noqa: N803
        p = maths.softened(logits(), T)
        for row, one, dark in zip(p, maths.entropy(p), maths.dark_mass(p), strict=True):
            assert float(one) == pytest.approx(scipy_entropy(row.numpy()), abs=1e-12)
            assert float(dark) == pytest.approx(1 - float(row.max()), abs=1e-12)
        assert (maths.entropy(p) <= math.log(7) + 1e-12).all()

    def test_a_hard_target_has_no_entropy_and_an_even_one_the_most(self) -> None:
        one_hot = torch.eye(5)[0]
        assert float(maths.entropy(one_hot)) == 0
        assert str(float(maths.entropy(one_hot))) == "0.0"
        assert float(maths.dark_mass(one_hot)) == 0
        assert float(maths.entropy(torch.full((5,), 0.2))) == pytest.approx(math.log(5))

    def test_dark_mass_keeps_its_digits_beside_one(self) -> None:
        z = torch.tensor([60.0, 0.0, 0.0], dtype=torch.float64)
        assert float(maths.dark_mass(maths.softened(z, 1.0))) == pytest.approx(2 * math.exp(-60), rel=1e-9)


class TestLosses:
    @EACH
    def test_the_soft_loss_is_torchs_divergence(self, T: float) -> None:  # noqa: N803
        zs, zt = logits(seed=1), logits(seed=2)
        torch_says = kl_div(log_softmax(zs / T, -1), softmax(zt / T, -1), reduction="batchmean")
        torch.testing.assert_close(maths.soft_loss(zs, zt, T, scaled=False), torch_says)
        torch.testing.assert_close(maths.soft_loss(zs, zt, T), T**2 * torch_says)
        scipy_says = [
            scipy_entropy(p.numpy(), q.numpy()) for p, q in zip(softmax(zt / T, -1), softmax(zs / T, -1), strict=True)
        ]
        assert float(maths.soft_loss(zs, zt, T, scaled=False)) == pytest.approx(sum(scipy_says) / 4, rel=1e-9)

    @EACH
    def test_a_teacher_has_nothing_to_learn_from_itself(self, T: float) -> None:  # noqa: N803
        z = logits()
        assert float(maths.soft_loss(z, z, T)) == 0
        assert float(maths.soft_loss(z + 5, z, T)) == pytest.approx(0, abs=1e-9)
        assert float(maths.logit_loss(z, z)) == 0
        assert float(maths.cosine_loss(z, z)) == pytest.approx(0, abs=1e-12)

    def test_the_hard_loss_is_cross_entropy(self) -> None:
        z, targets = logits(), torch.tensor([0, 3, 6, 2])
        torch.testing.assert_close(maths.hard_loss(z, targets), cross_entropy(z, targets))

    def test_the_logit_loss_is_the_mean_squared_difference(self) -> None:
        zs, zt = logits(seed=1), logits(seed=2)
        assert float(maths.logit_loss(zs, zt)) == pytest.approx(float(((zs - zt) ** 2).sum() / zs.numel()))

    def test_the_cosine_loss_is_torchs(self) -> None:
        a, b = logits(seed=1), logits(seed=2)
        torch.testing.assert_close(maths.cosine_loss(a, b), (1 - cosine_similarity(a, b)).mean())
        assert float(maths.cosine_loss(a, -a)) == pytest.approx(2)
        assert float(maths.cosine_loss(a, 3 * a)) == pytest.approx(0, abs=1e-12)


class TestGradient:
    @EACH
    def test_autograd_and_the_closed_form_agree(self, T: float) -> None:  # noqa: N803
        zs, zt = logits(1, seed=1)[0], logits(1, seed=2)[0]
        asked = zs.clone().requires_grad_()
        (by_autograd,) = torch.autograd.grad(maths.soft_loss(asked[None], zt[None], T), asked)
        torch.testing.assert_close(by_autograd, maths.gradient(zs, zt, T))
        torch.testing.assert_close(by_autograd, T * (softmax(zs / T, -1) - softmax(zt / T, -1)))
        scaled, plain = (maths.gradient_norms(zs, zt, (T,), factor)[0] for factor in (True, False))
        assert scaled == pytest.approx(float(by_autograd.norm()))
        assert scaled == pytest.approx(T**2 * plain)

    def test_without_the_factor_it_falls_as_one_over_t_squared(self) -> None:
        zs, zt = logits(1, seed=1)[0], logits(1, seed=2)[0]
        one, other = maths.gradient_norms(zs, zt, (500.0, 1000.0), scaled=False)
        assert one / other == pytest.approx(4, rel=1e-2)

    def test_with_it_the_limit_is_that_of_hintons_equation_4(self) -> None:
        zs, zt = logits(1, seed=1)[0], logits(1, seed=2)[0]
        limit = maths.gradient_limit(zs, zt)
        assert maths.gradient_norms(zs, zt, (1e4,))[0] == pytest.approx(limit, rel=1e-3)
        centred = (zs - zs.mean()) - (zt - zt.mean())
        assert limit == pytest.approx(float(centred.norm()) / 7)

    def test_the_logits_are_left_as_they_were(self) -> None:
        zs, zt = logits(1, seed=1)[0], logits(1, seed=2)[0]
        before = zs.clone()
        maths.gradient_norms(zs, zt, TEMPERATURES)
        assert torch.equal(zs, before)
        assert not zs.requires_grad
