"""Updates of a small made-up model, and results made by hand."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.labs.delta.schema import (
    AmplificationResult,
    LayerFactor,
    PlacementResult,
    Projection,
    RunFactors,
    SimilarityResult,
    SiteSpectrum,
    SpectrumResult,
)
from explorer.tuning.deltas import Delta, Dense, LowRank

WIDTH, RANK = 16, 4


def lora(layers: int = 3, rank: int = RANK, seed: int = 0, width: int = WIDTH) -> dict[tuple[int, str], Delta]:
    """Query and value of every layer, and a feed-forward matrix that is not square in the first."""
    draw = torch.Generator().manual_seed(seed)

    def made(rows: int, columns: int) -> LowRank:
        return LowRank(torch.randn(rank, columns, generator=draw), 0.1 * torch.randn(rows, rank, generator=draw), 2.0)

    deltas: dict[tuple[int, str], Delta] = {
        (layer, role): made(width, width) for layer in range(layers) for role in ("value", "query")
    }
    return deltas | {(0, "ffn_out"): made(width, 2 * width)}


def dense(deltas: dict[tuple[int, str], Delta]) -> dict[tuple[int, str], Delta]:
    """The same updates as matrices, as full fine-tuning has them."""
    return {site: Dense(delta.dense()) for site, delta in deltas.items()}


def weights(deltas: dict[tuple[int, str], Delta], seed: int = 9) -> dict[tuple[int, str], Tensor]:
    """A base matrix for every update."""
    draw = torch.Generator().manual_seed(seed)
    return {site: torch.randn(delta.dense().shape, generator=draw) for site, delta in deltas.items()}


def site(
    layer: int = 0, module: str = "query", norm: float = 5.0, first: float = 0.64, **changes: object
) -> SiteSpectrum:
    """Two directions, with W three times as strong."""
    values = (norm * first**0.5, norm * (1 - first) ** 0.5)
    made = {
        "layer": layer,
        "module": module,
        "rows": 16,
        "columns": 16,
        "rank": 2,
        "low_rank": True,
        "norm": norm,
        "effective_rank": 1.9,
        "stable_rank": 1.6,
        "values": values,
        "energy": (first if norm else 0.0, 1.0 if norm else 0.0),
        "random": (norm * 0.5, norm * 0.4, norm * 0.3),
        "random_product": (norm * 0.8, norm * 0.6),
        "weight": (3 * norm, 2 * norm, norm),
        "weight_norm": 4 * norm,
    }
    return SiteSpectrum(**(made | changes))  # type: ignore[arg-type]


def spectrum(*sites: SiteSpectrum, name: str = "LoRA") -> SpectrumResult:
    """Six layers of query with growing norm and one of value, or the sites given."""
    usual = [site(layer, norm=1.0 + layer, first=0.5 + 0.08 * layer) for layer in range(6)] + [site(2, "value", 0.5)]
    return SpectrumResult(name, sites or tuple(usual))


def similarity(ra: int = 2, rb: int = 3, name: str = "first", basis: str = "A") -> SimilarityResult:
    """φ falls from 0.9 with i and j; chance is max(i, j) / 16."""
    phi = tuple(tuple(0.9 / (i * j) for j in range(1, rb + 1)) for i in range(1, ra + 1))
    chance = tuple(tuple(max(i, j) / 16 for j in range(1, rb + 1)) for i in range(1, ra + 1))
    return SimilarityResult(name, "second", 1, "query", basis, 16, phi, chance, chance)


def amplified(low_rank: bool = True) -> AmplificationResult:
    """The paper's own numbers at r = 4."""
    inside = 6.91 if low_rank else 3.2
    norms = (("ΔW", 0.32), ("W", 21.67), ("random", 0.02))
    first, second, third = (Projection(directions, norm, inside / norm) for directions, norm in norms)
    return AmplificationResult("GPT-3", 47, "query", 4, low_rank, 6.91, 61.95, inside, (first, second, third))


def run_factors(name: str = "LoRA", factor: float = 20.0, energy: float = 1.0) -> RunFactors:
    """Three layers, the factor growing by one a layer."""
    layers = tuple(LayerFactor(layer, factor + layer, energy, 1.5) for layer in range(3))
    return RunFactors(name, "query", 4, energy == 1.0, layers)


def placed(outside: float = 0.0) -> PlacementResult:
    """Two bins of four directions; the first holds three times on the right, and half on the left, of what is expected."""
    return PlacementResult(
        "LoRA", 1, "query", (1, 5), 8, (0.75, 0.25 - outside), (0.25, 0.75), (0.25, 0.25), (0.5, 0.5), outside, 0.0
    )
