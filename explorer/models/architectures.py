"""What each family of models can do, and which class of transformers carries its pretrained heads.

A lab asks for a capability, never for a model's name. A new family is one entry in ARCHITECTURES.
"""

from __future__ import annotations

from collections.abc import Sequence
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
class Architecture:
    """One family: `model_type` is the config's; `declared` tells apart two uses of one type by config.architectures.

    spare_positions: how many of its position embeddings never hold a token.
    """

    family: str
    model_type: str
    model_class: str
    heads: dict[Capability, Head]
    declared: str | None = None
    spare_positions: int = 0


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
    ),
    Architecture("RoBERTa", "roberta", "RobertaForMaskedLM", {Capability.MLM: Head(("lm_head",))}, spare_positions=2),
    Architecture(
        "ALBERT",
        "albert",
        "AlbertForPreTraining",
        {
            Capability.MLM: Head(("predictions",), "prediction_logits"),
            Capability.SOP: Head(("sop_classifier", "albert.pooler"), "sop_logits", "sentence_order_label"),
        },
    ),
    Architecture(
        "DistilBERT",
        "distilbert",
        "DistilBertForMaskedLM",
        {Capability.MLM: Head(("vocab_transform", "vocab_layer_norm", "vocab_projector"))},
    ),
    Architecture(
        "ELECTRA generator",
        "electra",
        "ElectraForMaskedLM",
        {Capability.MLM: Head(("generator_predictions", "generator_lm_head"))},
        declared="ElectraForMaskedLM",
    ),
    Architecture(
        "ELECTRA discriminator",
        "electra",
        "ElectraForPreTraining",
        {Capability.RTD: Head(("discriminator_predictions",))},
    ),
    Architecture(
        "DeBERTa", "deberta", "DebertaForMaskedLM", {Capability.MLM: Head(("cls.predictions", "lm_predictions"))}
    ),
    Architecture(
        "DeBERTa-v2/v3",
        "deberta-v2",
        "DebertaV2ForMaskedLM",
        {Capability.MLM: Head(("cls.predictions", "lm_predictions"))},
    ),
    Architecture("GPT-2", "gpt2", "GPT2LMHeadModel", {Capability.CAUSAL: Head(("transformer.wte",))}),
    Architecture("ModernBERT", "modernbert", "ModernBertForMaskedLM", {Capability.MLM: Head(("head", "decoder"))}),
)


def find_architecture(model_type: str, declared: Sequence[str] = ()) -> Architecture | None:
    """The entry for a config's `model_type` and `architectures`; None where the family is not supported."""
    fitting = [entry for entry in ARCHITECTURES if entry.model_type == model_type]
    exact = [entry for entry in fitting if entry.declared in declared]
    return next(iter(exact or [entry for entry in fitting if entry.declared is None]), None)


def by_family(family: str) -> Architecture:
    """The entry of a family by its name; raises KeyError."""
    return {entry.family: entry for entry in ARCHITECTURES}[family]
