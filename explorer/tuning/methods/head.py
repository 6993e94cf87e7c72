"""Head only: training nothing but the fresh head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Leave the fork unchanged: it trains what the checkpoint lacks, and nothing else."""
    return fork


METHOD = Method(
    "head",
    "Head only",
    "The model stays as it is and only the classifier on top is trained. It shows what the pretrained features already "
    "hold. BERT's own fine-tuning trains all weights.",
    r"\hat{y} = \mathrm{softmax}(W_c\, h_{\mathrm{[CLS]}} + b_c),\quad h\ \text{fixed}",
    "Devlin et al. 2019, BERT, section 5.3 (the feature-based approach)",
    (),
    5e-3,
    build,
    products=1,
    kept=0,
    reaches_layers=False,
    trains_body=False,
    whole_tensors=True,
    template=lambda spec, layers: "chosen",
)
