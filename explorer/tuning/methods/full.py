"""Full fine-tuning: every weight of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy every parameter of the body and train it."""
    from explorer.tuning.forks import own

    own(fork, [name for name, parameter in fork.named_parameters() if not parameter.requires_grad])
    return fork


METHOD = Method(
    "full",
    "Full fine-tuning",
    "Every weight of the model is trained. It is the yardstick for all other methods, and each task costs a whole copy "
    "of the model.",
    r"W' = W + \Delta W,\quad \Delta W \in \mathbb{R}^{d \times k}\ \text{free}",
    "Devlin et al. 2019, BERT, section 3.2",
    (),
    5e-5,
    build,
    products=3,
    kept=16,
    changes_matrices=True,
    whole_tensors=True,
    template=lambda spec, layers: "full",
)
