"""Updates ΔW and base weights W, by (layer, module), and what is said where one of them is missing."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from explorer.errors import BadInputError, ExplorerError, ModelUnavailableError
from explorer.lru_cache import LRUCache
from explorer.maths import spectra
from explorer.tuning.deltas import Delta, Dense, LowRank

Site = tuple[int, str]
Deltas = Mapping[Site, Delta]

MOST_DECOMPOSED = 12
"""Matrices of one model whose singular vectors are kept: twice the size of each."""


class BaseWeights:
    """The base model's matrices W (d, k); their singular values are computed when first asked for, and kept.

    One object for each base model: a 768 x 768 matrix takes about 40 ms, which no redrawing should pay twice.
    """

    def __init__(self, matrices: Mapping[Site, Tensor]) -> None:
        self._matrices = matrices
        self._values: dict[Site, Tensor] = {}
        self._decomposed = LRUCache(MOST_DECOMPOSED)

    def matrix(self, site: Site, delta: Delta) -> Tensor:
        """Return W (d, k) of a site on the CPU. Raises BadInputError if it is missing or of another shape than the
        update.
        """
        found = self._matrices.get(site)
        if found is None or tuple(found.shape) != shape_of(delta):
            has = "no such matrix" if found is None else f"one of {found.shape[0]} x {found.shape[1]}"
            raise BadInputError(
                f"This update was not trained on this model: layer {site[0]}, {site[1]} is {shape_of(delta)[0]} x "
                f"{shape_of(delta)[1]}, and the model has {has}. Choose the model that the adapter names."
            )
        return found.detach().cpu()

    def values(self, site: Site, delta: Delta) -> Tensor:
        """Return W's singular values, (min(d, k),), from large to small."""
        if site not in self._values:
            self._values[site] = spectra.dense_spectrum(self.matrix(site, delta))
        return self._values[site]

    def decomposed(self, site: Site, delta: Delta) -> spectra.Svd:
        """Return W's singular vectors too; of the matrices that were asked for last they are kept."""
        found: spectra.Svd = self._decomposed.get(site, lambda: spectra.dense_svd(self.matrix(site, delta)))
        return found


def update_at(deltas: Deltas, layer: int, module: str) -> Delta:
    """Return the update of one matrix. Raises BadInputError, which names the adapted matrices, if this one has none."""
    delta = deltas.get((layer, module))
    if delta is None:
        raise BadInputError(f"There is no update of layer {layer}, {module!r}: {adapted(deltas)}")
    return delta


def adapted(deltas: Deltas) -> str:
    """Say what can be chosen instead, as the end of a sentence."""
    if not deltas:
        return "this run changes no weight matrix of the encoder. Choose a run of LoRA or of full fine-tuning."
    layers = sorted({layer for layer, _ in deltas})
    return f"choose one of {', '.join(sorted({role for _, role in deltas}))} in layers {layers[0]} to {layers[-1]}."


def needed(base: BaseWeights | None) -> BaseWeights:
    """Return W. Raises ModelUnavailableError if it is not here."""
    if base is None:
        raise ModelUnavailableError(
            "This view compares ΔW with W, and the adapter's base model is not on this machine. Choose the base model in "
            "the picker to fetch it; the spectrum of ΔW is drawn without it."
        )
    return base


def shape_of(delta: Delta) -> tuple[int, int]:
    """Return (d, k) of an update."""
    if isinstance(delta, Dense):
        return delta.value.shape[0], delta.value.shape[1]
    return delta.B.shape[0], delta.A.shape[1]


def decomposed(delta: Delta) -> spectra.Svd:
    """Decompose an update, LoRA's by its factors. Raises ExplorerError for a diverged run's."""
    if isinstance(delta, LowRank):
        return spectra.low_rank_svd(finite(delta.A), finite(delta.B), float(delta.scale))
    return spectra.dense_svd(finite(delta.value))


def finite(tensor: Tensor) -> Tensor:
    """Return the tensor on the CPU, without gradients. Raises ExplorerError for a diverged run's."""
    plain = tensor.detach().cpu()
    if not bool(torch.isfinite(plain).all()):
        raise ExplorerError("The weights of this run are no longer finite: it has diverged. Lower the learning rate.")
    return plain
