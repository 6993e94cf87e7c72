"""The families of models, one file each, with its ARCHITECTURES, and its NOTE for the page."""

from collections.abc import Sequence
from importlib import import_module

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

_FAMILIES = tuple(
    import_module(f"{__name__}.{name}")
    for name in ("bert", "roberta", "albert", "distilbert", "electra", "deberta", "gpt2", "modernbert", "eurobert")
)
"""The families in the order of the page's cards. To add one, add its file, and its name here."""

ARCHITECTURES: tuple[Architecture, ...] = tuple(entry for family in _FAMILIES for entry in family.ARCHITECTURES)
NOTES: tuple[FamilyNote, ...] = tuple(family.NOTE for family in _FAMILIES)


def find_architecture(model_type: str, declared: Sequence[str] = ()) -> Architecture | None:
    """Return the entry for a config's `model_type` and `architectures`; None if the family is not supported."""
    fitting = [entry for entry in ARCHITECTURES if entry.model_type == model_type]
    exact = [entry for entry in fitting if entry.declared in declared]
    return next(iter(exact or [entry for entry in fitting if entry.declared is None]), None)


def by_family(family: str) -> Architecture:
    """Return a family's entry by its name. Raises KeyError."""
    return {entry.family: entry for entry in ARCHITECTURES}[family]
