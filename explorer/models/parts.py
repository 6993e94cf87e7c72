"""Counts a model's parts: each formula must agree with the model's own parameters."""

from __future__ import annotations

from typing import Any

from torch import nn
from transformers import PreTrainedModel

from explorer.errors import ExplorerError
from explorer.models.families import ARCHITECTURES
from explorer.models.families.formulas import Part

PARTS = {entry.model_class: entry.parts for entry in ARCHITECTURES if entry.parts is not None}
"""The functions that list a model's parts from its config, by the name of the model's class."""


def counted_parts(model: PreTrainedModel) -> list[Part]:
    """Return a model's parts, each checked against the count of its own parameters; a tied tensor counts once.

    Raises ExplorerError if a formula and a count differ, or a parameter belongs to no part.
    """
    parts = PARTS[type(model).__name__](model.config)
    left = named_once(model)
    for part in parts:
        own = [name for name in left if name.startswith(part.prefixes)]
        count = sum(left.pop(name).numel() for name in own)
        if count != part.count:
            raise ExplorerError(
                f"{part.name}: the formula {part.formula} gives {part.count:,}, the model has {count:,}."
            )
    if left:
        raise ExplorerError(f"These parameters belong to no part: {', '.join(left)}.")
    return parts


def named_once(model: PreTrainedModel) -> dict[str, nn.Parameter]:
    """Return every parameter once. A tied tensor is listed under the name of the module that it is taken from."""
    seen: dict[int, str] = {}
    entries = dict(model.named_parameters(remove_duplicate=False))
    # Names that are tied to another come last. In XLM-RoBERTa the decoder stands before the embeddings whose tensor
    # it has.
    for name in sorted(entries, key=lambda name: name in model.all_tied_weights_keys):
        seen.setdefault(id(entries[name]), name)
    return {name: entries[name] for name in entries if name in seen.values()}


def tied(model: PreTrainedModel) -> bool:
    """Return whether the decoder and the word embeddings share their storage; True for a model without a decoder."""
    decoder: Any = model.get_output_embeddings()
    words: Any = model.get_input_embeddings().weight
    return decoder is None or decoder.weight.data_ptr() == words.data_ptr()
