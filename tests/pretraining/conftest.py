"""A tiny model and a tiny corpus, so that the training code runs in seconds and without downloads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerBase

from pretraining.export import export_model
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.base import Place
from pretraining.starts import granite
from pretraining.starts.sentences import SentenceEncoder
from tests.models.tiny import byte_level
from tests.pretraining.objectives.tiny import RECIPES

WORDS = ("river", "bridge", "stone", "garden", "winter", "summer", "market", "farmer", "village", "church", "captain")


def tiny_model(vocabulary: int, seed: int = 0, layers: int = 2) -> BertForPreTraining:
    """Layers of 32; the same numbers for the same seed."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    return BertForPreTraining(config)


@pytest.fixture
def model(tokenizer: PreTrainedTokenizerBase) -> BertForPreTraining:
    """A tiny random model over the bundled vocabulary, free to be changed."""
    return tiny_model(len(tokenizer))


@pytest.fixture(scope="session")
def models(tokenizer: PreTrainedTokenizerBase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of finished models with a tiny bert-mini in it, four layers of it."""
    folder = tmp_path_factory.mktemp("models")
    export_model(tiny_model(len(tokenizer), layers=4), tokenizer, folder / "bert-mini")
    return folder


@pytest.fixture
def place(corpus: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: Path) -> Place:
    """Where a tiny training runs; the byte-level vocabulary and the sentence encoder are tiny ones, nothing is fetched."""
    monkeypatch.setattr(granite, "read_pack", lambda _: ({}, tiny_pack()))
    monkeypatch.setattr(SentenceEncoder, "_embedded", by_chance)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "tokens").symlink_to(tokens)
    for model in models.iterdir():
        (tmp_path / "models").mkdir(exist_ok=True)
        (tmp_path / "models" / model.name).symlink_to(model)
    return Place(corpus, tmp_path / "work", tmp_path / "models")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `with_exports` keeps a file's exports."""
    return tmp_path_factory.mktemp("exports") / "models"


def with_exports(place: Place, kept: Path, *objectives: str) -> Place:
    """A place with what these objectives export, one after the other; made for the first test, a copy for the others."""
    if kept.exists():
        shutil.rmtree(place.models)
        shutil.copytree(kept, place.models, symlinks=True)
        return place
    for objective in objectives:
        PRETRAINERS[objective](RECIPES[objective], place).export(place.models)
    shutil.copytree(place.models, kept, symlinks=True)
    return place


def by_chance(encoder: SentenceEncoder, texts: list[str]) -> NDArray[np.float32]:
    """Embeddings of two dimensions, so that many sentences are related."""
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, len(texts))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture(scope="session")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of tokenised texts, shared by all tests."""
    return tmp_path_factory.mktemp("tokens")


def tiny_pack() -> dict[str, Any]:
    """A tokenizer.json as the pack of granite carries it, of a few merges and RoBERTa's special tokens."""
    return json.loads(byte_level().backend_tokenizer.to_str())


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sources of running text, one of single sentences, and a held-out one."""
    folder = tmp_path_factory.mktemp("corpus")
    for source, documents in (("wikitext", 8), ("books", 4), ("wikitext-valid", 3)):
        (folder / f"{source}.txt").write_text("\n".join(map(story, range(documents))), encoding="utf-8")
    singles = (f"The {word} is by the {other}.\n\n" for word in WORDS for other in WORDS[:4])
    (folder / "tatoeba.txt").write_text("".join(singles), encoding="utf-8")
    return folder


def story(number: int) -> str:
    """A document of six sentences about three words."""
    first, second, third = (WORDS[(number + step) % len(WORDS)] for step in (0, 1, 2))
    lines = (f"The {first} stood near the {second}. A {third} was seen there." for _ in range(3))
    return "\n".join(lines) + "\n"
