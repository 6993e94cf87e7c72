"""From updates ΔW and base weights W, by (layer, module), to the plain values that the figures draw."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.delta.schema import (
    BASES,
    KEPT,
    AmplificationResult,
    LayerFactor,
    PlacementResult,
    Projection,
    RunFactors,
    SimilarityResult,
    SiteSpectrum,
    SpectrumResult,
)
from explorer.labs.delta.updates import (
    BaseWeights,
    Deltas,
    Site,
    adapted,
    decomposed,
    finite,
    needed,
    shape_of,
    update_at,
)
from explorer.maths import spectra
from explorer.tuning.deltas import Delta, LowRank
from explorer.tuning.spec import TARGETS

BINS = 16
"""Of W's singular directions in the placement figure."""


def spectrum(
    deltas: Deltas, base: BaseWeights | None = None, name: str = "This run", step: int | None = None
) -> SpectrumResult:
    """Compute the singular values of every update: all LoRA factors of one shape at once, dense updates one by one.

    base: None leaves the parts that need W out. Raises BadInputError for a method that changes no weight matrix, and
    ExplorerError if the weights are no longer finite.
    """
    if not deltas:
        raise BadInputError(f"{name} has no ΔW: {adapted(deltas)}")
    values = _all_values(deltas)
    # As pages list them; other names last.
    sites = sorted(deltas, key=lambda site: (site[0], TARGETS.index(site[1]) if site[1] in TARGETS else len(TARGETS)))
    return SpectrumResult(name, tuple(_site(site, deltas[site], values[site], base) for site in sites), step)


def _all_values(deltas: Deltas) -> dict[Site, Tensor]:
    """Compute singular values by site; the low-rank ones in a batch for each shape."""
    batches: dict[tuple[int, ...], list[tuple[Site, LowRank]]] = defaultdict(list)
    values: dict[Site, Tensor] = {}
    for site, delta in deltas.items():
        if isinstance(delta, LowRank):
            batches[*delta.A.shape, *delta.B.shape].append((site, delta))
        else:
            values[site] = spectra.dense_spectrum(finite(delta.value))
    for batch in batches.values():
        down = finite(torch.stack([delta.A for _, delta in batch]))  # (sites, r, k)
        up = finite(torch.stack([delta.B for _, delta in batch]))  # (sites, d, r)
        scales = torch.tensor([float(delta.scale) for _, delta in batch], dtype=torch.float64)
        found = spectra.low_rank_spectrum(down, up, scales)
        values |= {site: row for (site, _), row in zip(batch, found, strict=True)}
    return values


def _site(site: Site, delta: Delta, values: Tensor, base: BaseWeights | None) -> SiteSpectrum:
    (rows, columns), norm = shape_of(delta), float(values.double().norm())
    low_rank = isinstance(delta, LowRank)
    rank = len(values)
    return SiteSpectrum(
        layer=site[0],
        module=site[1],
        rows=rows,
        columns=columns,
        rank=rank,
        low_rank=low_rank,
        norm=norm,
        effective_rank=float(spectra.effective_rank(values)),
        stable_rank=float(spectra.stable_rank(values)),
        values=_first(values),
        energy=_first(spectra.energy(values)),
        random=_first(spectra.random_spectrum(rows, columns, norm)),
        random_product=_first(spectra.random_product_spectrum(rows, columns, rank, norm)) if low_rank else None,
        weight=_first(base.values(site, delta)) if base else None,
        weight_norm=float(base.values(site, delta).double().norm()) if base else None,
    )


def _first(values: Tensor) -> tuple[float, ...]:
    return tuple(values[:KEPT].tolist())


def similarity(
    deltas_a: Deltas,
    deltas_b: Deltas,
    layer: int,
    module: str,
    basis: str = "",
    names: tuple[str, str] = ("the first run", "the second run"),
) -> SimilarityResult:
    """Compute φ(i, j) between two runs' directions, at most KEPT of each (LoRA, section 7.2).

    basis: a key of BASES; "" takes A's if both runs have an A, as the paper does, else ΔW's right-singular vectors.

    Raises BadInputError for runs of different widths, and for an update that is still zero.
    """
    pair = update_at(deltas_a, layer, module), update_at(deltas_b, layer, module)
    if not basis:
        basis = "A" if all(isinstance(delta, LowRank) for delta in pair) else "right"
    one, other = (_directions(delta, basis) for delta in pair)
    if len(one) != len(other):
        raise BadInputError(
            f"The two runs belong to models of different widths ({len(one)} and {len(other)}), so their directions lie in "
            "different spaces. Choose two runs of one model."
        )
    draw = torch.Generator().manual_seed(0)  # the same comparison each time
    drawn = [spectra.random_directions(len(one), directions.shape[1], draw) for directions in (one, other)]
    return SimilarityResult(
        *names,
        layer,
        module,
        basis,
        len(one),
        _grid(spectra.subspace_similarity(one, other)),
        _grid(spectra.expected_similarity(len(one), one.shape[1], other.shape[1])),
        _grid(spectra.subspace_similarity(*drawn)),
    )


def _directions(delta: Delta, basis: str) -> Tensor:
    """Return orthonormal columns (width, at most KEPT), strongest first, without those that carry nothing."""
    if basis not in BASES:
        raise BadInputError(f"The directions are those of {', '.join(BASES)}; got {str(basis)[:40]!r}.")
    if basis in ("A", "B"):
        if not isinstance(delta, LowRank):
            raise BadInputError(f"Only LoRA has a matrix {basis}. For other methods compare ΔW's own directions.")
        found = spectra.dense_svd(finite(delta.A if basis == "A" else delta.B))
    else:
        found = decomposed(delta)
    # The tolerance of numpy's matrix_rank: directions below it are rounding.
    noise = float(found.S[0]) * max(shape_of(delta)) * torch.finfo(found.S.dtype).eps
    kept = min(int((noise < found.S).sum()), KEPT)
    if kept == 0:
        raise BadInputError("There are no directions yet: the update is still zero. Train a few steps first.")
    return (found.U if basis in ("B", "left") else found.V)[:, :kept]


def amplification(
    deltas: Deltas, base: BaseWeights | None, layer: int, module: str, r: int, name: str = "This run"
) -> AmplificationResult:
    """Measure how strongly W holds the first r directions of ΔW, of its own and random ones (LoRA, section 7.3).

    Raises BadInputError for r beyond ΔW's rank and for an update that is zero, ModelUnavailableError without W.
    """
    delta = update_at(deltas, layer, module)
    found = _amplified((layer, module), delta, base, r)
    projections = (("ΔW", found.by_delta), ("W", found.by_weight), ("random", found.by_random))
    of_delta, of_weight, random = (
        Projection(directions, norm, found.inside / norm if norm > 0 else None) for directions, norm in projections
    )
    return AmplificationResult(
        name,
        layer,
        module,
        r,
        isinstance(delta, LowRank),
        found.delta_norm,
        found.weight_norm,
        found.inside,
        (of_delta, of_weight, random),
    )


def factors(deltas: Deltas, base: BaseWeights | None, module: str, r: int, name: str = "This run") -> RunFactors:
    """Measure the amplification in every layer, comparable between LoRA and full fine-tuning: both in their first r
    directions.
    """
    sites = sorted(site for site in deltas if site[1] == module)
    if not sites:
        raise BadInputError(f"{name} did not adapt {module!r}: {adapted(deltas)}")
    layers = []
    for site in sites:
        found = _amplified(site, deltas[site], base, r)
        share = (found.inside / found.delta_norm) ** 2
        layers.append(LayerFactor(site[0], found.inside / found.by_delta, share, found.by_delta / found.by_random))
    return RunFactors(name, module, r, isinstance(deltas[sites[0]], LowRank), tuple(layers))


def _amplified(site: Site, delta: Delta, base: BaseWeights | None, r: int) -> spectra.Amplification:
    weight = needed(base).matrix(site, delta)
    found = decomposed(delta)
    most = len(found.S)
    if not 1 <= r <= most:
        raise BadInputError(f"r must be from 1 to {most}, the rank of this update; got {r}.")
    if not float(found.S[0]):
        raise BadInputError("The update is still zero, so it has no directions to project on. Train a few steps first.")
    return spectra.amplification(found, weight, r, needed(base).values(site, delta))


def placement(
    deltas: Deltas, base: BaseWeights | None, layer: int, module: str, name: str = "This run"
) -> PlacementResult:
    """Compute the share of ΔW's energy along W's singular directions, in at most BINS bins from the strongest to the
    weakest.
    """
    delta = update_at(deltas, layer, module)
    weight = needed(base).decomposed((layer, module), delta)
    left, right = spectra.placement(decomposed(delta), weight)
    count, (rows, columns) = len(right), shape_of(delta)
    # Bins differ by one direction at most.
    edges = [round(place * count / min(BINS, count)) for place in range(min(BINS, count) + 1)]
    sizes = [stop - start for start, stop in pairwise(edges)]
    return PlacementResult(
        name,
        layer,
        module,
        tuple(edge + 1 for edge in edges[:-1]),  # pages count from 1
        count,
        tuple(float(part.sum()) for part in right.split(sizes)),
        tuple(float(part.sum()) for part in left.split(sizes)),
        tuple(size / columns for size in sizes),
        tuple(size / rows for size in sizes),
        # Shares add up to less than 1 on the longer side: W has no direction for the rest.
        max(0.0, 1 - float(right.sum())) if columns > count else 0.0,
        max(0.0, 1 - float(left.sum())) if rows > count else 0.0,
    )


def _grid(values: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in values.tolist())
