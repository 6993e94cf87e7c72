"""The kind for classes and scores: a fresh classifier on top of the body (Devlin et al. 2019, section 4.1)."""

from __future__ import annotations

from explorer.models.families import Architecture
from explorer.tasks.task import CLASSES
from explorer.tuning.kinds.kind import Kind, lazily
from explorer.tuning.methods.method import Method


def _refuses(method: Method, architecture: Architecture) -> str | None:
    if method.fills_masks:
        return f"{method.title} learns from a text without labels, and not from labelled examples. Take task = text."
    return None


KIND = Kind(
    CLASSES,
    "AutoModelForSequenceClassification",
    "text-classification",
    _refuses,
    lazily("explorer.tuning.forks:fork_classifier"),
    lazily("explorer.tuning.forks:empty_classifier"),
    lazily("explorer.tuning.rows:tokenise"),
    lazily("explorer.tuning.training:Training"),
)
