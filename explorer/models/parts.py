"""A model's parameters part by part: a formula in its sizes, and the count. The two must agree."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel

from explorer.errors import ExplorerError


@dataclass(frozen=True)
class Part:
    """A part of a model: its formula with the sizes put in, and the beginnings of its parameters' names."""

    name: str
    formula: str
    prefixes: tuple[str, ...]

    @property
    def count(self) -> int:
        """The formula's value."""
        return _value(ast.parse(self.formula.replace(",", "").replace("·", "*").replace("²", "**2"), mode="eval").body)


def _value(node: ast.expr) -> int:
    """The value of a sum, product or power of whole numbers."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            return int(_value(left) ** power)
    raise ValueError(f"{ast.dump(node)} is no part of a parameter formula")


def _layer(wide: int, inner: int) -> str:
    """One Transformer layer: four square maps, two of the feed-forward net, two LayerNorms, with their biases."""
    return f"(4·({wide}² + {wide}) + 2·{wide}·{inner} + {inner} + {wide} + 4·{wide})"


def _decoder(wide: int, narrow: int, vocabulary: int) -> str:
    """An MLM head whose decoder is tied to the embeddings: a dense layer, a LayerNorm, the decoder's bias."""
    square = f"{wide}² + {wide}" if wide == narrow else f"{wide}·{narrow} + {narrow}"
    return f"{square} + 2·{narrow} + {vocabulary:,}"


def _bert(c: Any) -> list[Part]:
    wide = c.hidden_size
    return [
        _embeddings("bert", c, wide, c.type_vocab_size),
        Part(
            f"{c.num_hidden_layers} layers",
            _times(c.num_hidden_layers, _layer(wide, c.intermediate_size)),
            ("bert.encoder.",),
        ),
        Part("pooler", f"{wide}² + {wide}", ("bert.pooler.",)),
        Part("MLM head (decoder tied to the embeddings)", _decoder(wide, wide, c.vocab_size), ("cls.predictions.",)),
        Part("NSP head", f"2·{wide} + 2", ("cls.seq_relationship.",)),
    ]


def _roberta(c: Any) -> list[Part]:
    wide = c.hidden_size
    layers = _times(c.num_hidden_layers, _layer(wide, c.intermediate_size))
    return [
        _embeddings("roberta", c, wide, c.type_vocab_size),
        Part(f"{c.num_hidden_layers} layers", layers, ("roberta.encoder.",)),
        Part("MLM head (decoder tied to the embeddings)", _decoder(wide, wide, c.vocab_size), ("lm_head.",)),
    ]


def _distilbert(c: Any) -> list[Part]:
    head = ("vocab_transform.", "vocab_layer_norm.", "vocab_projector.")
    return [
        Part(
            "embeddings (no segments)",
            f"({c.vocab_size:,} + {c.max_position_embeddings})·{c.dim} + 2·{c.dim}",
            ("distilbert.embeddings.",),
        ),
        Part(f"{c.n_layers} layers", _times(c.n_layers, _layer(c.dim, c.hidden_dim)), ("distilbert.transformer.",)),
        Part("MLM head (decoder tied to the embeddings)", _decoder(c.dim, c.dim, c.vocab_size), head),
    ]


def _albert(c: Any) -> list[Part]:
    wide, narrow, layer = c.hidden_size, c.embedding_size, _layer(c.hidden_size, c.intermediate_size)
    encoder, groups = "albert.encoder.", c.num_hidden_groups
    return [
        _embeddings("albert", c, narrow, c.type_vocab_size),
        Part(f"map {narrow} to {wide}", f"{narrow}·{wide} + {wide}", (f"{encoder}embedding_hidden_mapping_in.",)),
        Part(
            f"one layer, used {c.num_hidden_layers} times" if groups == 1 else f"{groups} layers",
            layer if groups == 1 else _times(groups, layer),
            (f"{encoder}albert_layer_groups.",),
        ),
        Part("pooler", f"{wide}² + {wide}", ("albert.pooler.",)),
        Part("MLM head (decoder tied to the embeddings)", _decoder(wide, narrow, c.vocab_size), ("predictions.",)),
        Part("SOP head", f"2·{wide} + 2", ("sop_classifier.",)),
    ]


def _electra(c: Any) -> list[Part]:
    wide, narrow = c.hidden_size, c.embedding_size
    project = (
        []
        if wide == narrow
        else [Part(f"map {narrow} to {wide}", f"{narrow}·{wide} + {wide}", ("electra.embeddings_project.",))]
    )
    layers = _times(c.num_hidden_layers, _layer(wide, c.intermediate_size))
    return [
        _embeddings("electra", c, narrow, c.type_vocab_size),
        *project,
        Part(f"{c.num_hidden_layers} layers", layers, ("electra.encoder.",)),
    ]


def _generator(c: Any) -> list[Part]:
    head = _decoder(c.hidden_size, c.embedding_size, c.vocab_size)
    return [*_electra(c), Part("MLM head (decoder tied to the embeddings)", head, ("generator_",))]


def _discriminator(c: Any) -> list[Part]:
    wide = c.hidden_size
    return [*_electra(c), Part("RTD head", f"{wide}² + {wide} + {wide} + 1", ("discriminator_predictions.",))]


def _gpt2(c: Any) -> list[Part]:
    wide = c.n_embd
    return [
        Part(
            "embeddings (the output's too: tied)",
            f"({c.vocab_size:,} + {c.n_positions})·{wide}",
            ("transformer.wte.", "transformer.wpe."),
        ),
        Part(f"{c.n_layer} layers", _times(c.n_layer, _layer(wide, c.n_inner or 4 * wide)), ("transformer.h.",)),
        Part("last LayerNorm", f"2·{wide}", ("transformer.ln_f.",)),
    ]


def _embeddings(body: str, c: Any, wide: int, segments: int) -> Part:
    formula = f"({c.vocab_size:,} + {c.max_position_embeddings} + {segments})·{wide} + 2·{wide}"
    return Part("embeddings", formula, (f"{body}.embeddings.",))


def _times(count: int, layer: str) -> str:
    return f"{count}·{layer}"


PARTS: dict[str, Callable[[Any], list[Part]]] = {
    "BertForPreTraining": _bert,
    "RobertaForMaskedLM": _roberta,
    "DistilBertForMaskedLM": _distilbert,
    "AlbertForPreTraining": _albert,
    "ElectraForMaskedLM": _generator,
    "ElectraForPreTraining": _discriminator,
    "GPT2LMHeadModel": _gpt2,
}
"""From a class's name to its parts, given its config."""


def counted_parts(model: PreTrainedModel) -> list[Part]:
    """A model's parts, each checked against the count of its own parameters; a tied tensor counts once.

    Raises ExplorerError where a formula and a count differ, or a parameter belongs to no part.
    """
    parts = PARTS[type(model).__name__](model.config)
    left = dict(model.named_parameters())
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


def tied(model: PreTrainedModel) -> bool:
    """Whether the decoder and the word embeddings are one storage; True for a model without a decoder."""
    decoder: Any = model.get_output_embeddings()
    words: Any = model.get_input_embeddings().weight
    return decoder is None or decoder.weight.data_ptr() == words.data_ptr()
