"""A tiny model and a tiny corpus, so that the training code runs in seconds and without downloads."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerBase

WORDS = ("river", "bridge", "stone", "garden", "winter", "summer", "market", "farmer", "village", "church", "captain")


def tiny_model(vocabulary: int, seed: int = 0) -> BertForPreTraining:
    """Two layers of 32; the same numbers for the same seed."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        num_hidden_layers=2,
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
