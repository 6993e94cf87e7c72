"""One measured figure, and the model that figures are measured of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.models.bundle import Bundle, load_bundle
from explorer.pretraining.corpus import read_documents
from explorer.pretraining.store import TextStore
from explorer.settings import Settings

FORMATS = {
    "share": "{:.2%}",
    "nats": "{:.3f} nats",
    "bits": "{:.3f} bits",
    "plain": "{:.3f}",
    "count": "{:,.0f}",
    "times": "{:.2f} times",
}
"""How a figure of each unit is written."""


@dataclass(frozen=True)
class Measure:
    """A figure with its name (a key), what it says, its unit (a key of FORMATS) and over what it was measured."""

    name: str
    what: str
    value: float
    unit: str
    over: str

    @property
    def shown(self) -> str:
        """The figure as it is written."""
        return FORMATS[self.unit].format(self.value)

    def __str__(self) -> str:
        return f"{self.what}: {self.shown} ({self.over})"


@dataclass(frozen=True)
class Subject:
    """A finished model, its folder and the held-out text, tokenised by it."""

    folder: Path
    text: Path
    bundle: Bundle
    store: TextStore

    @property
    def model(self) -> Any:
        """The model, in float32, ready to measure."""
        return self.bundle.model

    @property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return self.bundle.tokenizer


def open_subject(folder: Path, text: Path) -> Subject:
    """Load a model's folder; raises ModelUnavailableError where there is none or its family is not supported."""
    bundle = load_bundle(str(folder), Settings(device="auto" if torch.cuda.is_available() else "cpu"))
    return Subject(folder, text, bundle, TextStore.from_documents(read_documents(text), bundle.tokenizer))
