"""Pretraining as a method: a model of its own, trained from nothing or from a BERT (explorer.scratch), for lists of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.errors import BadInputError
from explorer.models.families import Layers
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Raise BadInputError: this method is never put on another model."""
    raise BadInputError("A model from nothing is not put on another one: it is trained on the page From nothing.")


METHOD = Method(
    "scratch",
    "From nothing",
    "Every weight begins as a random number and is trained on plain text, as BERT was pretrained.",
    r"L = L_{\text{MLM}} + L_{\text{NSP}}",
    "Devlin et al. 2019, section 3.1",
    (),
    2e-3,
    build,
    products=3,
    kept=16,
    fills_masks=True,
)
"""It makes a model and adapts none, so it is not in METHODS."""
