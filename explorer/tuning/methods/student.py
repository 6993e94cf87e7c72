"""A student on a task: a model with fewer layers that learns from a teacher."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy every parameter of a shorter model and train it; from random numbers if spec.start says so.

    What a student takes over from a fine-tuned teacher is copied into it afterwards (explorer.tuning.distilling).
    """
    from explorer.tuning.methods.full import build as copy_all

    return copy_all(fork, spec, layers)


METHOD = Method(
    "distill",
    "Student",
    "A model with fewer layers learns to answer as its teacher does: from the probabilities that the teacher gives to all "
    "classes, and not only from the label. Every weight of the student is trained.",
    r"L = w_{\mathrm{soft}}\, T^2\, \mathrm{KL}\!\left(\mathrm{softmax}(z_t / T)\,\|\,\mathrm{softmax}(z_s / T)\right) + "
    r"w_{\mathrm{hard}}\, L_{CE} + w_{\cos}\,(1 - \cos(h_s, h_t))",
    "Hinton, Vinyals and Dean 2015; Sanh et al. 2019, DistilBERT, section 3",
    (
        *("teacher", "student_layers", "start", "temperature", "soft_loss"),
        *("soft_weight", "hard_weight", "cosine_weight", "labelled"),
    ),
    1e-4,
    build,
    products=3,
    kept=16,
    template=lambda spec, layers: "chosen",
)
"""How a student is trained. It needs a teacher, so it is not in METHODS, which fine-tune a model by itself."""
