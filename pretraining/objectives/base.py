"""What one objective gives to the training loop: a model to begin with, batches, a loss, and what it leaves behind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss
from explorer.objectives.rows import USUAL_ROWS, Drawer
from explorer.objectives.text import TextStore
from pretraining.export import export_model
from pretraining.recipes import Stage, TrainingRecipe
from pretraining.starts.transplant import load, load_tokenizer
from pretraining.store import load_stores, unigram_counts
from pretraining.stream import BatchStream

RecipeT = TypeVar("RecipeT", bound=TrainingRecipe)


@dataclass(frozen=True)
class Place:
    """The folders of a run: the text, the work folder of all runs (downloads, token caches), and the finished models."""

    corpus: Path
    work: Path
    models: Path

    @property
    def downloads(self) -> Path:
        """Packages fetched from the registries."""
        return self.work / "downloads"


class Pretrainer(ABC, Generic[RecipeT]):
    """One objective, set up for a recipe in a place. `model` holds everything that learns."""

    model_class: type[PreTrainedModel]
    """What a checkpoint to go on from is loaded as."""
    starts: Mapping[str, Callable[[Any], nn.Module]] = {}
    """The objective's own starts by name, each a function of the pretrainer; any other start is a model to go on from."""
    drawers: Mapping[str, Drawer] = USUAL_ROWS
    new_parts: tuple[str, ...] = ()
    """Beginnings of the names of parameters that start from nothing and learn at `head_learning_rate`."""
    record: str = "training.json"
    """The file beside the weights that tells how they were trained."""
    word_embeddings: str
    """The name of the word embeddings, which have a rate of their own."""

    def __init__(self, recipe: RecipeT, place: Place) -> None:
        self.recipe, self.place = recipe, place
        for folder in (place.work, place.downloads):
            folder.mkdir(parents=True, exist_ok=True)
        own = self.starts.get(recipe.start)
        self.tokenizer = self.own_tokenizer() if own else load_tokenizer(recipe.start, place.models)
        self.stores: dict[str, TextStore] = load_stores(place.corpus, self.tokenizer, place.work / "tokens")
        torch.manual_seed(recipe.seed)
        self.model: Any = own(self) if own else self.go_on()
        self.stream = BatchStream(recipe, self.stores, self.tokenizer, self.row_drawers())

    @cached_property
    def counts(self) -> Tensor:
        """How often each token occurs in the text: (vocabulary,)."""
        return unigram_counts(self.stores, len(self.tokenizer))

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """The vocabulary that the objective's own starts are trained with."""
        raise NotImplementedError(type(self).__name__)

    def go_on(self) -> nn.Module:
        """The model of the recipe's start, to be trained further as it is."""
        model: nn.Module = load(self.recipe.start, self.place.models, self.model_class)
        return model

    def row_drawers(self) -> Mapping[str, Drawer]:
        """How the rows of each kind are drawn, once the text is read."""
        return self.drawers

    @abstractmethod
    def loss(self, batch: Batch, step: int) -> Loss:
        """The loss of one batch; whatever is drawn at random depends on seed and step alone."""

    def draw(self, step: int, stage: Stage) -> Batch:
        """The batch of one step."""
        return self.stream.draw(step, stage)

    def peak_rate(self, parameter: str) -> float:
        """The highest learning rate of a parameter, by its name: parts that are new learn faster than the encoder."""
        if parameter == self.word_embeddings:
            return self.recipe.embedding_learning_rate
        new = parameter.startswith(self.new_parts)
        return self.recipe.head_learning_rate if new else self.recipe.learning_rate

    def models(self) -> dict[str, PreTrainedModel]:
        """What is exported: each model by its name."""
        assert isinstance(self.model, PreTrainedModel)
        return {self.recipe.name: self.model}

    def export(self, folders: Path) -> list[Path]:
        """Write each model into a folder of its name, as plain `from_pretrained` reads it; the folders."""
        for name, model in self.models().items():
            export_model(model, self.tokenizer, folders / name)
        return [folders / name for name in self.models()]
