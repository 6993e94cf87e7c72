"""What each family of models can do, and which class of transformers carries its pretrained heads.

A lab asks for a capability, never for a model's name. A new family is one entry in ARCHITECTURES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Capability(Enum):
    """What a model's pretrained heads can do, as a sentence says it; `short` is for lists."""

    MLM = "fill masks"
    NSP = "score the next sentence"
    SOP = "tell sentence order"
    RTD = "detect replaced tokens"
    CAUSAL = "continue a text"

    @property
    def short(self) -> str:
        """One word."""
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
    """Where a family keeps the weight matrices of its layers.

    body: the attribute of every model class that holds the encoder (transformers' base_model_prefix). path: the layers
    inside the body, with * for the number. modules: for each role (query, key, value, output, ffn_in, ffn_out) the path of
    its linear map inside a layer; roles that name one path share one fused matrix.
    takes_prefix: its attention can be given keys and values that stand before the text.
    reads_last: its classifier reads the last token (its attention looks back only), not the first.
    bias_switches: config entries of which one must be on for its layers to have biases; none where they always have.
    """

    body: str
    path: str
    modules: Mapping[str, str]
    takes_prefix: bool = False
    reads_last: bool = False
    bias_switches: tuple[str, ...] = ()

    def matrices(self, roles: Iterable[str] = ()) -> dict[str, str]:
        """The matrices that carry `roles` (all roles where none is named), as {name: path inside a layer}.

        A fused matrix appears once and is named after all its roles: "query+key+value". Asking for one of them gives it.
        """
        wanted = set(roles) or set(self.modules)
        paths = dict.fromkeys(path for role, path in self.modules.items() if role in wanted)
        return {"+".join(role for role, other in self.modules.items() if other == path): path for path in paths}

    def pattern(self, paths: Iterable[str]) -> str:
        """A regular expression for the full names, in a model with a head, of these matrices in every layer."""
        inside = "|".join(re.escape(path) for path in paths)
        return rf"{re.escape(self.body)}\.{self._numbered}\.(?:{inside})"

    def locate(self, name: str) -> tuple[int, str] | None:
        """The layer and the name (as `matrices` gives it) of the matrix whose module is called `name`; None for others.

        Whatever stands before the layers' path is ignored, so names with a wrapper's prefix are understood too.
        """
        for role, path in self.matrices().items():
            found = re.search(rf"(?:^|\.){self._numbered}\.{re.escape(path)}$", name)
            if found:
                return int(found[1]), role
        return None

    def name(self, layer: int, path: str) -> str:
        """The full name of one layer's module in a model with a head."""
        return f"{self.body}.{self.path.replace('*', str(layer))}.{path}"

    def count(self, names: Iterable[str]) -> int:
        """How many layers a model has, from the names of its modules or parameters (ALBERT's shared layer counts once)."""
        found = (re.match(rf"{re.escape(self.body)}\.{self._numbered}\.", name) for name in names)
        return len({match[1] for match in found if match})

    @property
    def _numbered(self) -> str:
        return re.escape(self.path).replace(r"\*", r"(\d+)")


@dataclass(frozen=True)
class Embeddings:
    """Where a family keeps what it adds up for each token, and what it does with the sum; paths are inside the body.

    token, segment, position: the lookup tables. One that is None, or that a model's config leaves out, is not added.
    stages: what happens to the sum, in order, as (kind, path); kind is `layer_norm` or `projection` (E to H). A path
    that a model does not have is passed over.
    after_padding: positions are numbered from the row after the padding token's id, and only what is no padding is counted
    (RoBERTa, as fairseq did).
    needs_segment_ids: whether a segment is added only where the tokenizer gives segment ids.
    """

    token: str = "embeddings.word_embeddings"
    segment: str | None = "embeddings.token_type_embeddings"
    position: str | None = "embeddings.position_embeddings"
    stages: tuple[tuple[str, str], ...] = (("layer_norm", "embeddings.LayerNorm"),)
    after_padding: bool = False
    needs_segment_ids: bool = False


@dataclass(frozen=True)
class Architecture:
    """One family: `model_type` is the config's; `declared` tells apart two uses of one type by config.architectures.

    spare_positions: how many of its position embeddings never hold a token. half_precision: whether transformers' code of it
    runs where matrix products are in bfloat16.
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


def _as_bert(body: str) -> Layers:
    """BERT's layout, which RoBERTa and ELECTRA keep under a name of their own."""
    attention = {role: f"attention.self.{role}" for role in ("query", "key", "value")}
    rest = {"output": "attention.output.dense", "ffn_in": "intermediate.dense", "ffn_out": "output.dense"}
    return Layers(body, "encoder.layer.*", {**attention, **rest}, takes_prefix=True)


def _as_deberta(**attention: str) -> Layers:
    rest = {"output": "attention.output.dense", "ffn_in": "intermediate.dense", "ffn_out": "output.dense"}
    return Layers("deberta", "encoder.layer.*", {**attention, **rest})


def _fused(path: str) -> dict[str, str]:
    return dict.fromkeys(("query", "key", "value"), path)


_ELECTRA_EMBEDDINGS = Embeddings(stages=(("layer_norm", "embeddings.LayerNorm"), ("projection", "embeddings_project")))
_DEBERTA_EMBEDDINGS = Embeddings(
    stages=(("projection", "embeddings.embed_proj"), ("layer_norm", "embeddings.LayerNorm"))
)

ARCHITECTURES = (
    Architecture(
        "BERT",
        "bert",
        "BertForPreTraining",
        {
            Capability.MLM: Head(("cls.predictions",), "prediction_logits"),
            Capability.NSP: Head(
                ("cls.seq_relationship", "bert.pooler"), "seq_relationship_logits", "next_sentence_label"
            ),
        },
        _as_bert("bert"),
    ),
    Architecture(
        "RoBERTa",
        "roberta",
        "RobertaForMaskedLM",
        {Capability.MLM: Head(("lm_head",))},
        _as_bert("roberta"),
        Embeddings(after_padding=True),
        spare_positions=2,
    ),
    Architecture(
        "ALBERT",
        "albert",
        "AlbertForPreTraining",
        {
            Capability.MLM: Head(("predictions",), "prediction_logits"),
            Capability.SOP: Head(("sop_classifier", "albert.pooler"), "sop_logits", "sentence_order_label"),
        },
        Layers(
            "albert",
            "encoder.albert_layer_groups.*.albert_layers.0",
            {
                "query": "attention.query",
                "key": "attention.key",
                "value": "attention.value",
                "output": "attention.dense",
                "ffn_in": "ffn",
                "ffn_out": "ffn_output",
            },
        ),
        Embeddings(
            stages=(("layer_norm", "embeddings.LayerNorm"), ("projection", "encoder.embedding_hidden_mapping_in"))
        ),
    ),
    Architecture(
        "DistilBERT",
        "distilbert",
        "DistilBertForMaskedLM",
        {Capability.MLM: Head(("vocab_transform", "vocab_layer_norm", "vocab_projector"))},
        Layers(
            "distilbert",
            "transformer.layer.*",
            {
                "query": "attention.q_lin",
                "key": "attention.k_lin",
                "value": "attention.v_lin",
                "output": "attention.out_lin",
                "ffn_in": "ffn.lin1",
                "ffn_out": "ffn.lin2",
            },
        ),
        Embeddings(segment=None),
    ),
    Architecture(
        "ELECTRA generator",
        "electra",
        "ElectraForMaskedLM",
        {Capability.MLM: Head(("generator_predictions", "generator_lm_head"))},
        _as_bert("electra"),
        _ELECTRA_EMBEDDINGS,
        declared="ElectraForMaskedLM",
    ),
    Architecture(
        "ELECTRA discriminator",
        "electra",
        "ElectraForPreTraining",
        {Capability.RTD: Head(("discriminator_predictions",))},
        _as_bert("electra"),
        _ELECTRA_EMBEDDINGS,
    ),
    Architecture(
        "DeBERTa",
        "deberta",
        "DebertaForMaskedLM",
        {Capability.MLM: Head(("cls.predictions", "lm_predictions"))},
        _as_deberta(**_fused("attention.self.in_proj")),
        _DEBERTA_EMBEDDINGS,
        half_precision=False,  # it fills masked scores with float32's least number, whatever type they have
    ),
    Architecture(
        "DeBERTa-v2/v3",
        "deberta-v2",
        "DebertaV2ForMaskedLM",
        {Capability.MLM: Head(("cls.predictions", "lm_predictions"))},
        _as_deberta(**{role: f"attention.self.{role}_proj" for role in ("query", "key", "value")}),
        _DEBERTA_EMBEDDINGS,
    ),
    Architecture(
        "GPT-2",
        "gpt2",
        "GPT2LMHeadModel",
        {Capability.CAUSAL: Head(("transformer.wte",))},
        Layers(
            "transformer",
            "h.*",
            {**_fused("attn.c_attn"), "output": "attn.c_proj", "ffn_in": "mlp.c_fc", "ffn_out": "mlp.c_proj"},
            takes_prefix=True,
            reads_last=True,
        ),
        Embeddings(token="wte", segment="wte", position="wpe", stages=(), needs_segment_ids=True),
    ),
    Architecture(
        "ModernBERT",
        "modernbert",
        "ModernBertForMaskedLM",
        {Capability.MLM: Head(("head", "decoder"))},
        Layers(
            "model",
            "layers.*",
            {**_fused("attn.Wqkv"), "output": "attn.Wo", "ffn_in": "mlp.Wi", "ffn_out": "mlp.Wo"},
            bias_switches=("attention_bias", "mlp_bias", "norm_bias"),
        ),
        Embeddings("embeddings.tok_embeddings", None, None, (("layer_norm", "embeddings.norm"),)),
    ),
)


def find_architecture(model_type: str, declared: Sequence[str] = ()) -> Architecture | None:
    """The entry for a config's `model_type` and `architectures`; None where the family is not supported."""
    fitting = [entry for entry in ARCHITECTURES if entry.model_type == model_type]
    exact = [entry for entry in fitting if entry.declared in declared]
    return next(iter(exact or [entry for entry in fitting if entry.declared is None]), None)


def by_family(family: str) -> Architecture:
    """The entry of a family by its name; raises KeyError."""
    return {entry.family: entry for entry in ARCHITECTURES}[family]
