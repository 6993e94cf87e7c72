"""The model that figures are measured of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.models.loaded_model import LoadedModel, load_bundle
from explorer.objectives.text import TextStore
from explorer.settings import Settings
from pretraining.corpus import read_documents


@dataclass(frozen=True)
class Subject:
    """A finished model, its folder and the held-out text, tokenised by it."""

    folder: Path
    text: Path
    bundle: LoadedModel
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
    """Load a model's folder; raises ModelUnavailableError if there is none or its family is not supported."""
    bundle = open_bundle(folder)
    return Subject(folder, text, bundle, TextStore.from_documents(read_documents(text), bundle.tokenizer))


def open_bundle(folder: Path) -> LoadedModel:
    """The model alone; raises ModelUnavailableError as open_subject does."""
    return load_bundle(str(folder), Settings(device="auto" if torch.cuda.is_available() else "cpu"))
