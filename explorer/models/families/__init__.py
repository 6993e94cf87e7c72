"""The families of models, one file each; to add one, add its file and its names here."""

from collections.abc import Sequence

from explorer.models.families import albert, bert, deberta, distilbert, electra, gpt2, modernbert, roberta
from explorer.models.families.family import Architecture, Capability, Embeddings, FamilyNote, Head, Layers, Layout

__all__ = [
    "ARCHITECTURES",
    "NOTES",
    "Architecture",
    "Capability",
    "Embeddings",
    "FamilyNote",
    "Head",
    "Layers",
    "Layout",
    "by_family",
    "find_architecture",
]

ARCHITECTURES = (
    bert.BERT,
    roberta.ROBERTA,
    albert.ALBERT,
    distilbert.DISTILBERT,
    electra.GENERATOR,
    electra.DISCRIMINATOR,
    deberta.DEBERTA,
    deberta.DEBERTA_V2,
    gpt2.GPT2,
    modernbert.MODERNBERT,
)
NOTES = tuple(family.NOTE for family in (bert, roberta, albert, distilbert, electra, deberta, gpt2, modernbert))


def find_architecture(model_type: str, declared: Sequence[str] = ()) -> Architecture | None:
    """The entry for a config's `model_type` and `architectures`; None where the family is not supported."""
    fitting = [entry for entry in ARCHITECTURES if entry.model_type == model_type]
    exact = [entry for entry in fitting if entry.declared in declared]
    return next(iter(exact or [entry for entry in fitting if entry.declared is None]), None)


def by_family(family: str) -> Architecture:
    """The entry of a family by its name; raises KeyError."""
    return {entry.family: entry for entry in ARCHITECTURES}[family]
