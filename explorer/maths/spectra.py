"""The spectrum of a weight's update ΔW: singular values from the factors alone, and the directions they belong to; and intruder
dimensions, strong directions of W + ΔW that W did not have (Shuttleworth et al. 2024, LoRA vs Full Fine-tuning).

Shapes follow torch's Linear: a weight is (d, k), d outputs by k inputs, and LoRA's update is scale · B A with B (d, r)
and A (r, k) (Hu et al. 2021, section 4.1). Leading dimensions are a batch. Results from the factors are float64. A matrix's
left-singular vectors are the columns of U, strongest first.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

# ruff: noqa: N803, N806 (matrices keep the papers' capitals)


_GRID = 4097
"""Points on which the Marchenko-Pastur law is integrated."""


class Svd(NamedTuple):
    """U (..., d, m), S (..., m) from large to small, V (..., k, m): the matrix is U diag(S) Vᵀ."""

    U: Tensor
    S: Tensor
    V: Tensor


def low_rank_svd(A: Tensor, B: Tensor, scale: float | Tensor) -> Svd:
    """Return the singular value decomposition of scale · B A without ever forming that (d, k) product.

    A: (..., r, k). B: (..., d, r). scale: a number, or a tensor of the leading dimensions. m is min(r, d, k).
    """
    # Two thin QRs leave a core of at most r x r, whose own decomposition is cheap.
    inner, inner_core = torch.linalg.qr(A.double().mT)
    outer, outer_core = torch.linalg.qr(B.double())
    U, S, Vh = torch.linalg.svd(_scaled(outer_core @ inner_core.mT, scale), full_matrices=False)
    return Svd(outer @ U, S, inner @ Vh.mT)


def low_rank_spectrum(A: Tensor, B: Tensor, scale: float | Tensor) -> Tensor:
    """Return the singular values (..., m) of scale · B A alone, as in low_rank_svd and several times as fast."""
    inner_core = torch.linalg.qr(A.double().mT, mode="r").R
    outer_core = torch.linalg.qr(B.double(), mode="r").R
    values: Tensor = torch.linalg.svdvals(_scaled(outer_core @ inner_core.mT, scale))
    return values


def _scaled(core: Tensor, scale: float | Tensor) -> Tensor:
    return core * (scale.to(core)[..., None, None] if isinstance(scale, Tensor) else scale)


def dense_spectrum(weight: Tensor) -> Tensor:
    """Return the singular values (min(d, k),) of a matrix (d, k) that has no factors; float32 at least."""
    values: Tensor = torch.linalg.svdvals(_at_least_single(weight))
    return values


def dense_svd(weight: Tensor) -> Svd:
    """Return the decomposition of a matrix (d, k) that has no factors; m is min(d, k)."""
    U, S, Vh = torch.linalg.svd(_at_least_single(weight), full_matrices=False)
    return Svd(U, S, Vh.mT)


def _at_least_single(weight: Tensor) -> Tensor:
    """Return a matrix in float32 at least, since LAPACK has no half precision."""
    return weight if weight.dtype == torch.float64 else weight.float()


def random_spectrum(rows: int, columns: int, norm: float) -> Tensor:
    """Return the singular values (min(rows, columns),) that a Gaussian matrix of this shape and Frobenius norm has, in
    the limit.

    They are quantiles of the Marchenko-Pastur law (1967), one at the middle of each of the min(rows, columns) equal
    shares: no draw, hence no noise and no time. At the sizes of a model's weights a draw differs by about 1% of its
    largest value.
    """
    return _marchenko_pastur(*sorted((rows, columns))) * norm


@lru_cache(maxsize=64)
def _marchenko_pastur(short: int, long: int) -> Tensor:
    """Return the quantiles, scaled to norm 1. The density of the singular values s is sqrt((b² - s²)(s² - a²)) / s,
    with a, b = 1 ∓ sqrt(short / long).
    """
    root = math.sqrt(short / long)
    values = torch.linspace(max(1 - root, 1e-9), 1 + root, _GRID, dtype=torch.float64)
    squares = values.square()
    density = (((1 + root) ** 2 - squares) * (squares - (1 - root) ** 2)).clamp_min(0).sqrt() / values
    # The trapezoidal rule; its constant step cancels out.
    mass = torch.cat([torch.zeros(1, dtype=torch.float64), ((density[1:] + density[:-1]) / 2).cumsum(0)])
    wanted = (torch.arange(short, 0, -1, dtype=torch.float64) - 0.5) / short * mass[-1]
    right = torch.searchsorted(mass, wanted).clamp(1, _GRID - 1)
    # Linear interpolation between two points of the grid.
    share = (wanted - mass[right - 1]) / (mass[right] - mass[right - 1])
    quantiles = values[right - 1] + share * (values[right] - values[right - 1])
    return _to_norm_one(quantiles)


def random_product_spectrum(rows: int, columns: int, rank: int, norm: float) -> Tensor:
    """Return the singular values (min(rank, rows, columns),) of B A with Gaussian factors, at this Frobenius norm: one
    seeded draw.

    For a LoRA update this is the fair comparison: of rank r by construction, like it, and nearly flat.
    """
    return _random_product(rows, columns, rank) * norm


@lru_cache(maxsize=64)
def _random_product(rows: int, columns: int, rank: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    A = torch.randn(rank, columns, generator=generator)
    B = torch.randn(rows, rank, generator=generator)
    return _to_norm_one(low_rank_spectrum(A, B, 1.0))


def _to_norm_one(values: Tensor) -> Tensor:
    return values / float(values.norm())


def energy(S: Tensor) -> Tensor:
    """Return the share of the squared Frobenius norm that the first i directions hold, (..., m), ending at 1; zeros for
    a zero matrix.
    """
    total = S.double().square().cumsum(-1)
    return torch.where(total[..., -1:] > 0, total / total[..., -1:], torch.zeros_like(total))


def directions_for(S: Tensor, share: float) -> int:
    """Return the fewest directions, strongest first, that hold this share in (0, 1] of the squared norm of (m,)
    singular values; 0 for a zero matrix.
    """
    held = energy(S)
    return min(int((held < share).sum()) + 1, len(held)) if float(held[-1]) else 0


def effective_rank(S: Tensor) -> Tensor:
    """Return exp of the entropy of the singular values divided by their sum (Roy & Vetterli 2007), (...,): from 1 to m,
    0 for a zero matrix. All m equal give m, one alone gives 1.
    """
    values = S.double()
    total = values.sum(-1, keepdim=True)
    shares = torch.where(total > 0, values / total, torch.zeros_like(values))
    entropy = -torch.special.xlogy(shares, shares).sum(-1)
    return torch.where(total[..., 0] > 0, entropy.exp(), torch.zeros_like(entropy))


def stable_rank(S: Tensor) -> Tensor:
    """Return ‖·‖_F² / σ₁² (Rudelson & Vershynin 2007), (...,): how many directions as strong as the first would make up
    the norm.
    """
    squares = S.double().square()
    first = squares[..., 0]
    return torch.where(first > 0, squares.sum(-1) / first, torch.zeros_like(first))


def subspace_similarity(Va: Tensor, Vb: Tensor) -> Tensor:
    """Return φ(i, j) = ‖Va[:, :i]ᵀ Vb[:, :j]‖_F² / min(i, j) for all i and j at once (LoRA, section 7.2 and appendix
    G).

    Va: (k, ra) and Vb: (k, rb) with orthonormal columns. Returns (ra, rb) in [0, 1]; entry [i - 1, j - 1] is φ(i, j): 1
    if one subspace lies in the other, 0 if they are orthogonal.
    """
    overlaps = (Va.double().mT @ Vb.double()).square()
    # Sums over both dimensions hold all i and j.
    return (overlaps.cumsum(-2).cumsum(-1) / torch.minimum(*_counts(*overlaps.shape))).clamp(0, 1)


def expected_similarity(width: int, ra: int, rb: int) -> Tensor:
    """Return the mean of φ(i, j) for two random subspaces of a space of this width, (ra, rb): exactly max(i, j) / width."""
    return torch.maximum(*_counts(ra, rb)) / width


def _counts(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Return i as a column and j as a row, from 1."""
    i = torch.arange(1, rows + 1, dtype=torch.float64)[:, None].expand(rows, columns)
    return i, torch.arange(1, columns + 1, dtype=torch.float64).expand(rows, columns)


def random_directions(width: int, count: int, generator: torch.Generator) -> Tensor:
    """Draw orthonormal columns (width, count) uniformly."""
    drawn = torch.randn(width, count, generator=generator, dtype=torch.float64)
    directions: Tensor = torch.linalg.qr(drawn).Q
    return directions


class Amplification(NamedTuple):
    """The norms of LoRA's Table 7 (section 7.3), each a Frobenius norm.

    inside: ‖UᵀΔW V‖, the part of ΔW in its own first r directions (all of it if r is its rank). by_delta, by_weight,
    by_random: ‖UᵀW V‖ with U and V the first r directions of ΔW, of W, and random ones.
    """

    delta_norm: float
    weight_norm: float
    inside: float
    by_delta: float
    by_weight: float
    by_random: float


def amplification(delta: Svd, weight: Tensor, r: int, weight_values: Tensor | None = None) -> Amplification:
    """Measure how strongly W already holds the directions of its update; the paper's factor is delta_norm / by_delta.

    delta: of ΔW, with at least r directions. weight: W (d, k). weight_values: W's singular values, if they are known.
    The random directions' norm is its root mean square, exactly ‖W‖_F r / sqrt(d k), not a draw (for GPT-3's W_q and r
    = 4 that is 61.95 · 4 / 12288 = 0.020, the paper's 0.02).

    Raises ValueError unless r is from 1 to m.
    """
    if not 1 <= r <= len(delta.S):
        raise ValueError(f"r must be from 1 to {len(delta.S)}, and is {r}")
    projected = delta.U[:, :r].double().mT @ weight.double() @ delta.V[:, :r].double()
    values = dense_spectrum(weight) if weight_values is None else weight_values
    norm = float(weight.double().norm())
    return Amplification(
        delta_norm=float(delta.S.double().norm()),
        weight_norm=norm,
        inside=float(delta.S[:r].double().norm()),
        by_delta=float(projected.norm()),
        by_weight=float(values[:r].double().norm()),  # W's own first r directions: UᵀW V is then diagonal
        by_random=norm * r / math.sqrt(weight.numel()),
    )


def placement(delta: Svd, weight: Svd) -> tuple[Tensor, Tensor]:
    """Return where in the spectrum of W the update lies: the share of ΔW's energy in each singular direction of W.

    Returns left (m,), ‖u_iᵀ ΔW‖² / ‖ΔW‖², and right (m,), ‖ΔW v_j‖² / ‖ΔW‖², m = min(d, k). They sum to 1 on a side
    whose directions span the whole space; what is missing on the longer side lies in W's null space. A random update
    has 1 / d and 1 / k in each. Zeros for a zero update.
    """
    return _shares(delta.U, delta.S, weight.U), _shares(delta.V, delta.S, weight.V)


def _shares(directions: Tensor, strengths: Tensor, basis: Tensor) -> Tensor:
    parts = (basis.double().mT @ (directions.double() * strengths.double())).square().sum(-1)
    total = strengths.double().square().sum()
    return parts / total if float(total) else torch.zeros_like(parts)


_DRAWN = 64
"""Random directions over which chance is averaged."""


def cosines(updated: Svd, weight: Svd, k: int) -> Tensor:
    """Return |cos| of each of the first k left-singular vectors of W + ΔW with every one of W's, (k, m) in [0, 1].

    k may exceed m, the number of either's directions; there are then m rows.
    """
    return (updated.U[:, :k].double().mT @ weight.U.double()).abs().clamp(max=1)


def nearest_directions(found: Tensor) -> tuple[Tensor, Tensor]:
    """Return the largest cosine of each row, (k,), and the index of W's direction that has it, (k,), from `cosines`, (k, m)."""
    best = found.max(-1)
    return best.values, best.indices


def count_intruders(largest_cosines: Tensor, epsilon: float) -> int:
    """Return how many directions are intruders: all of W's are further from them than |cos| = epsilon."""
    return int((largest_cosines < epsilon).sum())


def chance_cosine(weight: Svd) -> float:
    """Return the largest |cos| of a random direction with W's, on average over seeded draws."""
    drawn = random_directions(len(weight.U), min(_DRAWN, len(weight.U)), torch.Generator().manual_seed(0))
    return float((drawn.mT @ weight.U.double()).abs().max(-1).values.mean())
