"""Memory that training needs for each number of a model, and its sum for GPT-3, whose figures LoRA's paper gives.

Adam keeps two moments beside each trained number and its gradient (Kingma and Ba 2015); frozen numbers are weights and
no more.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Precision:
    """Bytes for each number. weight: as it is multiplied. gradient. moments: both together. master: a copy in float32
    that the optimiser changes, if the weight is in half precision.
    """

    name: str
    weight: int
    gradient: int
    moments: int
    master: int = 0

    @property
    def trained(self) -> int:
        """Bytes of a number that is trained."""
        return self.weight + self.gradient + self.moments + self.master


PRECISIONS = (
    Precision("float32", 4, 4, 8),
    Precision("mixed precision", 2, 2, 8, 4),
    Precision("float16 throughout", 2, 2, 4),
    Precision("float16, gradients not kept", 2, 0, 4),
)
"""Ways to keep numbers. The second is the usual rule of 16 bytes a number (Rajbhandari et al. 2020, ZeRO, section 3.1);
the last is what 1.2 TB leaves room for.
"""


@dataclass(frozen=True)
class Described:
    """A decoder of a paper: layers, width d and vocabulary as published; parameters as LoRA's Table 4 counts them."""

    layers: int
    width: int
    parameters: int


GPT3 = Described(96, 12_288, 175_255_800_000)
"""GPT-3 (Brown et al. 2020, Table 2.1; Hu et al. 2021, Table 4)."""


def lora_parameters(model: Described, rank: int, matrices: int) -> int:
    """Return how many numbers A and B of square d x d matrices have, for `matrices` in each layer: 2 d r for each (Hu
    et al. 2021, section 4.2).
    """
    return model.layers * matrices * 2 * model.width * rank


def held(precision: Precision, frozen: int, trained: int) -> int:
    """Return the bytes of weights, gradients and the optimiser's numbers, without activations, for `frozen` and
    `trained` numbers.
    """
    return precision.weight * frozen + precision.trained * trained
