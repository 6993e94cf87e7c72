"""Draws that depend on a seed alone, whatever other threads and the global generator do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from explorer.tuning.seeded import Seeded, SeededDropout
from tests.rows import each_row

DRAWS: dict[str, Callable[[], Tensor]] = {
    "linear": lambda: nn.Linear(5, 7).weight.detach(),
    "embedding": lambda: nn.Embedding(5, 7).weight.detach(),
    "normal": lambda: nn.init.normal_(torch.empty(9)),
    "truncated": lambda: nn.init.trunc_normal_(torch.empty(9)),
    "randn": lambda: torch.randn(9),
    "rand": lambda: torch.rand(9),
    "randint": lambda: torch.randint(0, 1000, (9,)),
    "randperm": lambda: torch.randperm(50),
    "dropout": lambda: nn.functional.dropout(torch.ones(50)),
    "svd_lowrank": lambda: torch.svd_lowrank(torch.arange(36.0).reshape(6, 6).sin(), 2, niter=0)[1],
}


@each_row("draw", DRAWS.values(), ids=DRAWS)
def test_a_draw_depends_on_the_seed_and_leaves_the_global_state_alone(draw: Callable[[], Tensor]) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    drawn = {}
    for run, seed in enumerate((3, 3, 4)):
        with Seeded(seed):
            drawn[run] = draw()
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_normal_draws_are_the_generators_own() -> None:
    with Seeded(11):
        drawn = torch.empty(6).normal_(2, 3)
    assert torch.equal(drawn, torch.empty(6).normal_(2, 3, generator=torch.Generator().manual_seed(11)))


def test_what_takes_no_generator_is_refused_rather_than_left_to_chance() -> None:
    with Seeded(0), pytest.raises(RuntimeError, match="generator"):
        torch.native_dropout(torch.ones(3), 0.5, True)


def test_meta_tensors_need_no_numbers() -> None:
    with Seeded(0), torch.device("meta"):
        assert nn.Linear(3, 4).weight.is_meta
        assert torch.randint(0, 5, (3,)).is_meta


def test_threads_do_not_disturb_each_other() -> None:
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            torch.randn(100)

    def draw(seed: int) -> Tensor:
        with Seeded(seed):
            return torch.stack([nn.Linear(8, 8).weight.detach() for _ in range(20)])

    with ThreadPoolExecutor(4) as pool:
        pool.submit(disturb)
        parallel = list(pool.map(draw, (1, 2, 1)))
        stop.set()
    assert torch.equal(parallel[0], parallel[2])
    assert torch.equal(parallel[1], draw(2))
    assert not torch.equal(parallel[0], parallel[1])


class TestDropout:
    def test_it_is_the_identity_unless_it_trains(self) -> None:
        x = torch.randn(4, 5)
        assert torch.equal(SeededDropout(0.5, 0).eval()(x), x)
        assert torch.equal(SeededDropout(0.0, 0).train()(x), x)

    def test_it_keeps_the_mean_and_the_share(self) -> None:
        kept = SeededDropout(0.25, 0)(torch.ones(40_000))
        assert sorted(kept.unique().tolist()) == pytest.approx([0, 4 / 3])
        assert float((kept == 0).float().mean()) == pytest.approx(0.25, abs=0.01)

    def test_masks_differ_from_call_to_call_and_repeat_with_the_seed(self) -> None:
        x = torch.ones(100)
        one, other = SeededDropout(0.5, 7), SeededDropout(0.5, 7)
        torch.manual_seed(0)
        first = [one(x), one(x)]
        torch.manual_seed(1)
        assert torch.equal(torch.stack(first), torch.stack([other(x), other(x)]))
        assert not torch.equal(*first)

    def test_the_gradient_passes_where_the_value_does(self) -> None:
        x = torch.ones(50, requires_grad=True)
        kept = SeededDropout(0.5, 0)(x)
        kept.sum().backward()
        assert x.grad is not None
        assert torch.equal(x.grad, kept.detach())
