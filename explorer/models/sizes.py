"""Counts the parameters of a model: part by part, where each formula must agree with the model's own tensors, and for given
sizes, on a model without weights (torch's meta device).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedModel

from explorer.errors import BadInputError, ExplorerError
from explorer.models.catalog import find_card
from explorer.models.families import ARCHITECTURES, Architecture, by_family, find_architecture
from explorer.models.families.family import Part
from explorer.models.folders import read_config
from explorer.models.loaded_model import LOADING
from explorer.models.published import PUBLISHED
from explorer.settings import BUNDLED_MODELS

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


@dataclass(frozen=True)
class Groups:
    """Parameters by purpose. rest: positions, segments, maps between widths and norms outside the layers."""

    words: int
    rest: int
    layers: int
    heads: int

    @property
    def total(self) -> int:
        """All of them; a tied tensor counts once."""
        return self.words + self.rest + self.layers + self.heads


@dataclass(frozen=True)
class Outline:
    """A model's family and config, without its weights."""

    model_id: str
    architecture: Architecture
    config: Any

    @property
    def inner(self) -> int:
        """The width inside the feed-forward net."""
        return int(getattr(self.config, self._inner_name) or 4 * self.config.hidden_size)

    @property
    def embedding_size(self) -> int:
        """The width of the embeddings before they are mapped to that of the layers."""
        return int(getattr(self.config, "embedding_size", None) or self.config.hidden_size)

    @property
    def factorises(self) -> bool:
        """Whether its embeddings can be narrower than its layers."""
        return "embedding_size" in self.config.to_dict()

    @property
    def shares(self) -> bool:
        """Whether all layers are one set of tensors."""
        return getattr(self.config, "num_hidden_groups", None) == 1

    @property
    def _inner_name(self) -> str:
        return self.architecture.inner

    def resized(self, **sizes: int | bool | None) -> Outline:
        """Return the same family in other sizes: vocab_size, hidden_size, layers, inner, embedding_size, shared; None
        keeps one.

        Raises BadInputError if the family does not have what is to be changed.
        """
        values = self.config.to_dict()
        kept = {name: value for name, value in sizes.items() if value is not None}
        if not self.factorises and kept.pop("embedding_size", None) is not None:
            raise BadInputError(
                f"{self.architecture.family} has embeddings as wide as its layers. Choose an ALBERT or an ELECTRA to "
                "factorise them, or leave embedding_size at 0."
            )
        if kept.get("shared") and "num_hidden_groups" not in values:
            raise BadInputError(f"{self.architecture.family} does not share its layers. Choose an ALBERT for that.")
        shared = kept.pop("shared", None)
        given = {"layers": "num_hidden_layers", "inner": self._inner_name}
        own = type(self.config).attribute_map  # DistilBERT's `dim` is every other family's hidden_size
        # One head, whatever the model has: the count does not change, and every width can be divided by one.
        for name, value in {"num_attention_heads": 1, **kept}.items():
            name = given.get(name, name)
            values[own.get(name, name)] = value
        if shared is not None and "num_hidden_groups" in values:
            values["num_hidden_groups"] = 1 if shared else values["num_hidden_layers"]
        if (values.get("pad_token_id") or 0) >= values["vocab_size"]:
            values["pad_token_id"] = 0  # an embedding refuses one beyond the vocabulary; it changes no count
        values.pop("layer_types", None)  # ModernBERT's list is made anew for the number of layers
        return Outline(self.model_id, self.architecture, type(self.config).from_dict(values))

    @property
    def parts(self) -> list[Part] | None:
        """The model's parts with their formulas; None for a family that has none written down."""
        return self.architecture.parts(self.config) if self.architecture.parts else None

    def empty(self) -> PreTrainedModel:
        """Return the model with every tensor's shape and no weights."""
        with LOADING, torch.device("meta"):
            model: PreTrainedModel = getattr(transformers, self.architecture.model_class)(self.config)
        return model


def outline_of(model_id: str) -> Outline:
    """Return the outline of a bundled or a published model. Raises BadInputError for another."""
    card = find_card(model_id)
    if card is not None and card.bundled:
        values = read_config(model_id, BUNDLED_MODELS / model_id / "config.json")
        architecture = find_architecture(str(values["model_type"]), values.get("architectures") or ())
        if architecture is not None:
            return Outline(model_id, architecture, _config(architecture, values))
    for published in PUBLISHED:
        if published.model_id == model_id:
            architecture = by_family(published.family)
            return Outline(model_id, architecture, _config(architecture, published.values))
    raise BadInputError("The sizes of this model are not known before it is loaded. Choose one of the list.")


def _config(architecture: Architecture, values: Mapping[str, Any]) -> Any:
    return getattr(transformers, architecture.model_class).config_class.from_dict(dict(values))


def grouped(outline: Outline) -> Groups:
    """Sort every parameter of the model into one of four groups."""
    layers = outline.architecture.layers
    inside, words = (
        f"{layers.body}.{layers.path.split('*')[0]}",
        f"{layers.body}.{outline.architecture.embeddings.token}.",
    )
    counts = dict.fromkeys(("words", "rest", "layers", "heads"), 0)
    for name, parameter in named_once(outline.empty()).items():
        if name.startswith(inside):
            group = "layers"
        elif name.startswith(words):
            group = "words"
        # A pooler is read by heads only.
        elif name.startswith(f"{layers.body}.") and not name.startswith(f"{layers.body}.pooler"):
            group = "rest"
        else:
            group = "heads"
        counts[group] += parameter.numel()
    return Groups(**counts)
