"""Which pairs of a method and a family are tried each time, and which only by `make check`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from explorer.models.families import ARCHITECTURES, Architecture

T = TypeVar("T")

ALL_PAIRS = bool(os.environ.get("EXPLORER_ALL_PAIRS"))

DIFFERENT = ("BERT", "GPT-2", "ALBERT", "DeBERTa")
"""Families that differ where methods take hold: plain; one matrix for query, key and value; shared layers; relative positions."""


def covering(methods: Sequence[T], everything: bool = ALL_PAIRS) -> list[tuple[T, Architecture]]:
    """Each method on the families that differ, and each family by two methods at least; everything: all pairs."""
    pairs = []
    for number, architecture in enumerate(ARCHITECTURES):
        own = {number % len(methods), (number + len(methods) // 2) % len(methods)}
        for place, method in enumerate(methods):
            if everything or architecture.family in DIFFERENT or place in own:
                pairs.append((method, architecture))
    return pairs


def by_pairs(name: str, methods: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrises a test by `name`, a method, and by `architecture`."""
    return pytest.mark.parametrize(
        (name, "architecture"),
        covering(methods),
        ids=lambda one: getattr(one, "slug", getattr(one, "family", str(one))),
    )
