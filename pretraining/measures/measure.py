"""The model that figures are measured of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.models.loaded_model import LoadedModel, load_model
from explorer.objectives.text import TextStore
from explorer.settings import Settings
from pretraining.corpus import read_documents


@dataclass(frozen=True)
class Subject:
    """A finished model, its folder and the held-out text, tokenised by it."""

    folder: Path
    text: Path
    loaded: LoadedModel
    store: TextStore

    @property
    def model(self) -> Any:
        """The model, in float32, ready to measure."""
        return self.loaded.model

    @property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return self.loaded.tokenizer


def open_subject(folder: Path, text: Path) -> Subject:
    """Load a model's folder; raises ModelUnavailableError if there is none or its family is not supported."""
    loaded = open_loaded(folder)
    return Subject(folder, text, loaded, TextStore.from_documents(read_documents(text), loaded.tokenizer))


def open_loaded(folder: Path) -> LoadedModel:
    """The model alone; raises ModelUnavailableError as open_subject does."""
    return load_model(str(folder), Settings(device="auto" if torch.cuda.is_available() else "cpu"))
