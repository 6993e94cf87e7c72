"""What the views of ΔW are made from, in plain values. Layers count from 0; singular values and directions from 1."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError

KEPT = 64
"""Singular values that are kept of each matrix; what is said of the whole matrix is computed from all of them."""

BASES: dict[str, str] = {
    "A": "the right-singular vectors of A",
    "B": "the left-singular vectors of B",
    "right": "the right-singular vectors of ΔW",
    "left": "the left-singular vectors of ΔW",
}
"""Whose subspaces can be compared; the paper takes A's (LoRA, section 7.2) and names B's as the alternative."""


@dataclass(frozen=True)
class SiteSpectrum:
    """One update ΔW (rows, columns) of a layer's module.

    rank: the most that ΔW can have. low_rank: whether it is a product of LoRA factors. values: its first KEPT singular
    values; energy: the share of the squared norm that the first i of them hold. random: those of a Gaussian matrix of the
    same shape and norm. random_product: those of a random B A of the same rank and norm; None where ΔW is dense.
    weight, weight_norm: W's; None if the base model is not here.
    """

    layer: int
    module: str
    rows: int
    columns: int
    rank: int
    low_rank: bool
    norm: float
    effective_rank: float
    stable_rank: float
    values: tuple[float, ...]
    energy: tuple[float, ...]
    random: tuple[float, ...]
    random_product: tuple[float, ...] | None = None
    weight: tuple[float, ...] | None = None
    weight_norm: float | None = None


@dataclass(frozen=True)
class SpectrumResult:
    """Every update of a run, by layer, then by module. step: the training step that it was read at, None for the end."""

    name: str
    sites: tuple[SiteSpectrum, ...]
    step: int | None = None

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that were adapted, in the order of the sites."""
        return tuple(dict.fromkeys(site.module for site in self.sites))

    def of(self, module: str) -> tuple[SiteSpectrum, ...]:
        """Return one module's sites, layer by layer. Raises BadInputError if the run has none."""
        found = tuple(site for site in self.sites if site.module == module)
        if not found:
            raise BadInputError(f"{self.name} did not adapt {module!r}: choose one of {', '.join(self.modules)}.")
        return found


@dataclass(frozen=True)
class SimilarityResult:
    """φ(i, j) between the first i directions of one run and the first j of another, for one layer's module.

    basis: a key of BASES. phi[i - 1][j - 1] in [0, 1]. expected: the same for two random subspaces, on average. drawn: for
    two random subspaces once, from a seed. width: of the space in which they lie.
    """

    name_a: str
    name_b: str
    layer: int
    module: str
    basis: str
    width: int
    phi: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]
    drawn: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Projection:
    """W projected on r directions on either side: projected_norm is ‖UᵀWV‖_F, factor is what ΔW's first r directions hold of
    its norm / projected_norm (None if that is zero). directions: whose they are, ΔW, W or random."""

    directions: str
    projected_norm: float
    factor: float | None


@dataclass(frozen=True)
class AmplificationResult:
    """LoRA's section 7.3 for one layer's module. inside: what of ΔW's norm lies in its own first r directions."""

    name: str
    layer: int
    module: str
    r: int
    low_rank: bool
    delta_norm: float
    weight_norm: float
    inside: float
    projections: tuple[Projection, Projection, Projection]

    def of(self, directions: str) -> Projection:
        """Return the projection on the directions of ΔW, of W or random."""
        return {entry.directions: entry for entry in self.projections}[directions]


@dataclass(frozen=True)
class LayerFactor:
    """One layer of a run.

    factor: ‖UᵀΔWV‖ / ‖UᵀWV‖ with U, V the first r directions of ΔW, which for LoRA at its own rank is the paper's factor.
    energy: the share of ΔW's squared norm in those r directions. emphasis: ‖UᵀWV‖ as a multiple of what random directions
    give: above 1 where W already holds them.
    """

    layer: int
    factor: float
    energy: float
    emphasis: float


@dataclass(frozen=True)
class RunFactors:
    """The amplification of one run in every layer of a module, in r directions."""

    name: str
    module: str
    r: int
    low_rank: bool
    layers: tuple[LayerFactor, ...]


@dataclass(frozen=True)
class PlacementResult:
    """Where in W's spectrum an update lies.

    starts: the first direction of each bin, from 1, and `last` the last direction of all. right and left: the share of ΔW's
    energy in each bin of W's right- and left-singular directions. expected_right and expected_left: a random update's.
    outside_right and outside_left: the share in no direction of W, its null space on the longer side.
    """

    name: str
    layer: int
    module: str
    starts: tuple[int, ...]
    last: int
    right: tuple[float, ...]
    left: tuple[float, ...]
    expected_right: tuple[float, ...]
    expected_left: tuple[float, ...]
    outside_right: float
    outside_left: float


@dataclass(frozen=True)
class RankPoint:
    """One run of the sweep: its rank, held-out metric (None if it is undefined or not there yet), trained parameters."""

    rank: int
    metric: float | None
    trainable: int


@dataclass(frozen=True)
class RankSweepResult:
    """Metric against rank on one task and seed; metric: its title."""

    task: str
    metric: str
    points: tuple[RankPoint, ...]
