"""Full fine-tuning: training every weight of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import Method, is_reached

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy every parameter of the body, or of its last layers, and train it; from random numbers if spec.start says so."""
    import torch

    from explorer.tuning.forks import own

    frozen = [name for name, parameter in fork.named_parameters() if not parameter.requires_grad]
    own(fork, [name for name in frozen if is_reached(name, fork, spec, layers)])
    if spec.start == "random":
        with torch.no_grad():
            fork.apply(fork._init_weights)  # of copies only: `own` has replaced every shared tensor
    return fork


def _template(spec: RunSpec, layers: Layers) -> str:
    if spec.start == "random":
        return "random"
    return "chosen" if spec.last_layers else "full"


METHOD = Method(
    "full",
    "Full fine-tuning",
    "Every weight of the model is trained. It is the yardstick for all other methods, and each task costs a whole copy "
    "of the model.",
    r"W' = W + \Delta W,\quad \Delta W \in \mathbb{R}^{d \times k}\ \text{free}",
    "Devlin et al. 2019, BERT, section 3.2",
    ("last_layers",),
    5e-5,
    build,
    products=3,
    kept=16,
    changes_matrices=True,
    whole_tensors=True,
    template=_template,
)
