"""The parts of a model as formulas in its sizes, and their values."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


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
    """Evaluate a sum, product or power of whole numbers. Raises ValueError for anything else."""
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


def layer(wide: int, inner: int) -> str:
    """Return the formula of one Transformer layer: four square maps, two of the feed-forward net, two LayerNorms, with
    their biases.
    """
    return f"(4·({wide}² + {wide}) + 2·{wide}·{inner} + {inner} + {wide} + 4·{wide})"


def decoder(wide: int, narrow: int, vocabulary: int) -> str:
    """Return the formula of an MLM head whose decoder is tied to the embeddings: a dense layer, a LayerNorm, the
    decoder's bias.
    """
    square = f"{wide}² + {wide}" if wide == narrow else f"{wide}·{narrow} + {narrow}"
    return f"{square} + 2·{narrow} + {vocabulary:,}"


def embeddings(body: str, c: Any, wide: int, segments: int) -> Part:
    """Return the embeddings of words, positions and segments of one width, and their LayerNorm."""
    formula = f"({c.vocab_size:,} + {c.max_position_embeddings} + {segments})·{wide} + 2·{wide}"
    return Part("embeddings", formula, (f"{body}.embeddings.",))


def times(count: int, layer: str) -> str:
    """Return the formula of `count` equal layers."""
    return f"{count}·{layer}"
