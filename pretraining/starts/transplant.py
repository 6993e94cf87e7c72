"""A trained BERT's weights in the form of its relatives.

Each function takes a BertForPreTraining (or its parts) and gives what another architecture can begin from: embeddings under
another vocabulary, embeddings in two factors, one layer for all positions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from explorer.errors import ModelUnavailableError
from explorer.settings import BUNDLED_MODELS
from pretraining.starts.pieces import in_wordpieces, mean_embeddings

SAMPLES = 20_000
"""Drawn inputs that the projection of factorised embeddings is fitted to."""

LENGTH = 128
"""Their positions: the first ones, as in training."""

ALBERT_NAMES = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.dense",
    "attention.output.LayerNorm": "attention.LayerNorm",
    "intermediate.dense": "ffn",
    "output.dense": "ffn_output",
    "output.LayerNorm": "full_layer_layer_norm",
}
"""BERT's module names inside a layer and ALBERT's."""


def located(model: str, models: Path) -> str:
    """Where a model is: a finished one in `models`, else a bundled one, else its own id or path."""
    for folder in (models, BUNDLED_MODELS):
        if (folder / model / "config.json").is_file():
            return str(folder / model)
    return model


def load(model: str, models: Path, model_class: type[PreTrainedModel]) -> Any:
    """A model of a class in float32; raises ModelUnavailableError if it is neither here nor on a hub that answers."""
    try:
        return model_class.from_pretrained(located(model, models), dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(
            f"{model} could not be loaded as {model_class.__name__}: train it first, or name a folder or a hub id by --start."
        ) from error


def load_tokenizer(model: str, models: Path) -> PreTrainedTokenizerBase:
    """A model's tokenizer; raises ModelUnavailableError if there is none."""
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(located(model, models))
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(f"{model} has no tokenizer here: name a folder or a hub id by --start.") from error
    return tokenizer


def mapped_words(bert: Any, own: PreTrainedTokenizerBase, new: PreTrainedTokenizerBase) -> Tensor:
    """An embedding for each token of another vocabulary, the mean of its WordPieces': (len(new), width)."""
    return mean_embeddings(bert.bert.embeddings.word_embeddings.weight.detach(), in_wordpieces(new, own))


def factors(words: Tensor, width: int, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Truncated SVD: words (vocabulary, wide) ~ (vocabulary, width) @ (width, wide).

    Each token weighs as the square root of its count (vocabulary,), so that frequent words are kept best. The second factor
    has orthonormal rows, each with its largest entry positive: an SVD leaves the signs open.
    """
    weight = (counts + 1.0).sqrt()[:, None]
    _, _, rows = torch.linalg.svd(weight * words, full_matrices=False)
    largest = rows[:width].gather(1, rows[:width].abs().argmax(1, keepdim=True))
    basis = rows[:width] * largest.sign()
    return words @ basis.T, basis


@torch.no_grad()
def fill_factorised(embeddings: Any, projection: torch.nn.Linear, bert: Any, words: Tensor, counts: Tensor) -> Tensor:
    """Begin narrow embeddings (words, positions, segments, LayerNorm) and the map to the encoder's width from BERT's.

    words: (vocabulary, wide). Returns the second factor, (narrow, wide). The narrow LayerNorm stands before the map and
    BERT's after its sum, so the map is fitted by least squares: from the narrow embeddings of drawn tokens and positions to
    BERT's own.
    """
    source = bert.bert.embeddings
    narrow, basis = factors(words, projection.in_features, counts)
    embeddings.word_embeddings.weight.copy_(narrow)
    embeddings.position_embeddings.weight.copy_(source.position_embeddings.weight @ basis.T)
    embeddings.token_type_embeddings.weight.copy_(source.token_type_embeddings.weight @ basis.T)
    generator = torch.Generator().manual_seed(0)
    tokens = torch.multinomial(counts + 1e-3, SAMPLES, replacement=True, generator=generator)
    places = torch.randint(min(LENGTH, len(source.position_embeddings.weight)), (SAMPLES,), generator=generator)
    wide = source.LayerNorm(
        words[tokens] + source.position_embeddings.weight[places] + source.token_type_embeddings.weight[0]
    )
    low = embeddings.LayerNorm(
        narrow[tokens] + embeddings.position_embeddings.weight[places] + embeddings.token_type_embeddings.weight[0]
    )
    fitted = _least_squares(torch.cat([low, torch.ones(SAMPLES, 1)], dim=1), wide)
    projection.weight.copy_(fitted[:-1].T)
    projection.bias.copy_(fitted[-1])
    return basis


def _least_squares(inputs: Tensor, outputs: Tensor) -> Tensor:
    """The matrix that maps inputs (samples, low) to outputs (samples, wide) best, (low, wide), in float64.

    A LayerNorm's output sums to zero, so one direction of the inputs is empty; a ridge too small to be seen elsewhere keeps
    it from taking rounding errors for a signal.
    """
    inputs = inputs.double()
    square = inputs.T @ inputs
    square.diagonal().add_(1e-6 * square.diagonal().mean())
    fitted: Tensor = torch.linalg.solve(square, inputs.T @ outputs.double())
    return fitted.float()


def albert_layer(bert: Any, number: int) -> dict[str, Tensor]:
    """One layer of BERT as the state dict of an AlbertLayer."""
    renamed: dict[str, Tensor] = {}
    for name, value in bert.bert.encoder.layer[number].state_dict().items():
        module, kind = name.rsplit(".", 1)
        renamed[f"{ALBERT_NAMES[module]}.{kind}"] = value
    return renamed
