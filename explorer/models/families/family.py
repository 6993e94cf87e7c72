"""Describes a family of models: its heads, where its weights are, its parts counted, and what a page says of it.

A lab asks for a capability, never for a model's name. Nothing here imports torch, so that a page can list families.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
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


class Capability(Enum):
    """The uses of a model's pretrained heads, in the words of a sentence; `short` is for lists."""

    MLM = "fill masks"
    NSP = "score the next sentence"
    SOP = "tell sentence order"
    RTD = "detect replaced tokens"
    CAUSAL = "continue a text"

    @property
    def short(self) -> str:
        """The capability in one word."""
        return {"MLM": "masks", "NSP": "pairs", "SOP": "order", "RTD": "replaced", "CAUSAL": "continues"}[self.name]


@dataclass(frozen=True)
class Head:
    """One pretrained head.

    weights: beginnings of its parameters' names; a checkpoint that lacks one of them does not have the head.

    logits: the attribute of the model's output that holds its scores. labels: the keyword that takes its true classes.
    """

    weights: tuple[str, ...]
    logits: str = "logits"
    labels: str = "labels"


@dataclass(frozen=True)
class Layers:
    """The places of a family's weight matrices.

    body: the attribute of every model class that holds the encoder (transformers' base_model_prefix). path: the layers
    inside the body, with * for the number. modules: for each role (query, key, value, output, ffn_in, ffn_out) the path
    of its linear map inside a layer; roles with the same path share one fused matrix.

    takes_prefix: whether its attention accepts keys and values that stand before the text.

    reads_last: whether its classifier reads the last token (its attention looks back only), not the first.

    transposed: whether its weights are stored as (inputs, outputs).

    bias_switches: config entries of which one must be on for its layers to have biases; none if they always have.
    """

    body: str
    path: str
    modules: Mapping[str, str]
    takes_prefix: bool = False
    reads_last: bool = False
    transposed: bool = False
    bias_switches: tuple[str, ...] = ()

    def matrices(self, roles: Iterable[str] = ()) -> dict[str, str]:
        """Return the matrices of these roles (of all roles if none is named), as {name: path inside a layer}.

        A fused matrix appears once and is named after all its roles: "query+key+value". Asking for one of the roles
        returns it.
        """
        wanted = set(roles) or set(self.modules)
        paths = dict.fromkeys(path for role, path in self.modules.items() if role in wanted)
        return {"+".join(role for role, other in self.modules.items() if other == path): path for path in paths}

    def pattern(self, paths: Iterable[str], numbers: Iterable[int] = ()) -> str:
        """Return a regular expression for the full names, in a model with a head, of these matrices in every layer, or
        in the layers `numbers`.
        """
        inside, some = "|".join(re.escape(path) for path in paths), "|".join(map(str, numbers))
        numbered = self._numbered.replace(r"(\d+)", f"({some})") if some else self._numbered
        return rf"{re.escape(self.body)}\.{numbered}\.(?:{inside})"

    def layer_of(self, name: str) -> int | None:
        """Return the layer of a parameter or module of this name, whatever stands before the layers' path; None outside
        the layers.
        """
        found = re.search(rf"(?:^|\.){self._numbered}\.", name)
        return int(found[1]) if found else None

    def locate(self, name: str) -> tuple[int, str] | None:
        """Return the layer and the name (as in `matrices`) of the matrix whose module is called `name`; None for
        others.

        Whatever stands before the layers' path is ignored, so names with a wrapper's prefix are understood too.
        """
        for role, path in self.matrices().items():
            found = re.search(rf"(?:^|\.){self._numbered}\.{re.escape(path)}$", name)
            if found:
                return int(found[1]), role
        return None

    def name(self, layer: int, path: str) -> str:
        """Return the full name of one layer's module in a model with a head."""
        return f"{self.body}.{self.path.replace('*', str(layer))}.{path}"

    def count(self, names: Iterable[str]) -> int:
        """Return how many layers a model has, from the names of its modules or parameters (ALBERT's shared layer counts
        once).
        """
        found = (re.match(rf"{re.escape(self.body)}\.{self._numbered}\.", name) for name in names)
        return len({match[1] for match in found if match})

    @property
    def _numbered(self) -> str:
        return re.escape(self.path).replace(r"\*", r"(\d+)")


@dataclass(frozen=True)
class Embeddings:
    """The places of a family's embeddings, and what it does with their sum; paths are inside the body.

    token, segment, position: the lookup tables. One that is None, or that a model's config leaves out, is not added.

    stages: what happens to the sum, in order, as (kind, path); kind is `layer_norm` or `projection` (E to H). A path
    that a model does not have is skipped.

    after_padding: whether positions are numbered from the row after the padding token's id, and padding is not counted
    (RoBERTa, as in fairseq).

    needs_segment_ids: whether a segment is added only if the tokenizer gives segment ids.
    """

    token: str = "embeddings.word_embeddings"
    segment: str | None = "embeddings.token_type_embeddings"
    position: str | None = "embeddings.position_embeddings"
    stages: tuple[tuple[str, str], ...] = (("layer_norm", "embeddings.LayerNorm"),)
    after_padding: bool = False
    needs_segment_ids: bool = False


@dataclass(frozen=True)
class Layout:
    """The places of a family's heads in its weights, beyond what Layers has.

    by_head: a fused projection holds q, k and v side by side for each head, rather than all heads' q, then k, then v.

    beside: parameters or modules of a layer that have rows for each head besides the roles of the architecture's table.

    keeps_one: its code cannot run a layer that has no head or no neuron left, so one stays, with weights of 0.

    beside_neurons: modules of a layer that have a row for each neuron besides ffn_in's (a gate that is no part of it).

    mixes_heads: an entry of the config which, when on, mixes heads with each other, so that none can be taken out.
    """

    by_head: bool = False
    beside: tuple[str, ...] = ()
    keeps_one: bool = False
    beside_neurons: tuple[str, ...] = ()
    mixes_heads: str | None = None


@dataclass(frozen=True)
class Architecture:
    """One family. model_type: the config's. declared: tells apart two uses of one type by config.architectures.

    spare_positions: how many of its position embeddings never hold a token. half_precision: whether transformers' code
    of it runs with matrix products in bfloat16. parts: returns its parts with their formulas, from a config; None if
    none are written down. inner: its config's name for the width inside the feed-forward block. disentangled: whether
    its attention has scores of content and of position, in code of its own. ends_texts: whether it continues texts with
    an encoder's tokenizer, which ends every text with a token; a text that is to be continued is read without it.
    """

    family: str
    model_type: str
    model_class: str
    heads: dict[Capability, Head]
    layers: Layers
    embeddings: Embeddings = Embeddings()
    declared: str | None = None
    spare_positions: int = 0
    half_precision: bool = True
    finds_answers: bool = True
    """Whether transformers has its *ForQuestionAnswering."""
    layout: Layout = Layout()
    parts: Callable[[Any], list[Part]] | None = None
    inner: str = "intermediate_size"
    disentangled: bool = False
    ends_texts: bool = False
    fills_no_masks: str = ""
    """Why no model of the family can fill masks, and what to ask it instead; empty if some may have the head."""
    norm: str = "LayerNorm"
    """The normalisation of a layer's states."""
    norm_first: bool = False
    """Whether the norm stands before attention and feed-forward net, on the way in, and not behind each sum."""
    gated: bool = False
    """Whether the feed-forward net multiplies two maps of the state, of which one goes through the activation."""

    @property
    def has_plain_heads(self) -> bool:
        """Whether its heads are rows of three maps and columns of one, and nothing besides."""
        return len(self.layers.matrices(("query", "key", "value"))) == 3 and not self.layout.beside


@dataclass(frozen=True)
class FamilyNote:
    """What a page says of a family. changed: in a few words. objective: what it learns by, as a formula or a few words.

    families: its members, by their names in the catalog.
    """

    families: tuple[str, ...]
    paper: str
    changed: str
    objective: str
    pieces: str

    @property
    def name(self) -> str:
        """The family's name on the page."""
        return self.families[0].split(" ")[0].split("-v2")[0] if len(self.families) > 1 else self.families[0]


def as_bert(body: str) -> Layers:
    """Return BERT's layout, which RoBERTa and ELECTRA keep under a name of their own."""
    attention = {role: f"attention.self.{role}" for role in ("query", "key", "value")}
    rest = {"output": "attention.output.dense", "ffn_in": "intermediate.dense", "ffn_out": "output.dense"}
    return Layers(body, "encoder.layer.*", {**attention, **rest}, takes_prefix=True)


def fused(path: str) -> dict[str, str]:
    """Return the roles of one matrix for query, key and value."""
    return dict.fromkeys(("query", "key", "value"), path)
