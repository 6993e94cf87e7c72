"""A student on plain text: fewer layers that learn to fill masks as the whole model does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.models.families import Architecture, Capability
from explorer.tuning.methods.method import Method
from explorer.tuning.methods.student import METHOD as STUDENT


def _needs_masks(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    if Capability.MLM in architecture.heads:
        return None
    return f"{architecture.family} fills no masks, so it has nothing to teach on plain text. Choose bert-small or another BERT."


METHOD = Method(
    "distill_text",
    "Student on plain text",
    "Some of a model's layers learn to fill masks as all of them do: from the probabilities that the whole model gives to every "
    "word of the vocabulary, from the hidden word, and from the whole model's last states. No label is needed.",
    r"L = w_{\mathrm{soft}}\, T^2\, \mathrm{KL}\!\left(\mathrm{softmax}(z_t / T)\,\|\,\mathrm{softmax}(z_s / T)\right) + "
    r"w_{\mathrm{mlm}}\, L_{mlm} + w_{\cos}\,(1 - \cos(h_s, h_t))",
    "Sanh et al. 2019, DistilBERT, sections 2 and 3",
    tuple(option for option in STUDENT.options if option not in ("teacher", "labelled")),
    STUDENT.learning_rate,
    STUDENT.build,
    _needs_masks,
    products=3,
    kept=16,
    template=lambda spec, layers: "chosen",
    fills_masks=True,
)
"""The student's method on plain text: its teacher is the model itself, which has a head already."""
