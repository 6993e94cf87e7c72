"""A sentence encoder, all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020): how near two sentences are in meaning.

The weights are those that bert-mini began from (minilm.py), here with their own uncased vocabulary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize
from transformers import AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerBase

from pretraining.starts import minilm

BATCH = 64


class SentenceEncoder:
    """Embeds sentences that are given as token ids of any vocabulary; what it has embedded once is kept in a folder."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, downloads: Path, cache: Path) -> None:
        self.tokenizer, self.downloads, self.cache = tokenizer, downloads, cache

    def __call__(self, sentences: Sequence[list[int]]) -> NDArray[np.float32]:
        """The mean of the last states over each sentence's tokens, of length 1: (sentences, 384)."""
        texts = [str(self.tokenizer.decode(ids)) for ids in sentences]
        target = self.cache / f"embedded-{hashlib.sha256(chr(10).join(texts).encode()).hexdigest()[:16]}.npy"
        if not target.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            np.save(target, self._embedded(texts))
        found: NDArray[np.float32] = np.load(target)
        return found

    @torch.inference_mode()
    def _embedded(self, texts: list[str]) -> NDArray[np.float32]:
        tokenizer, model = load_encoder(self.downloads)
        embedded = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
        order = np.argsort([len(text) for text in texts], kind="stable")
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            inputs = tokenizer([texts[row] for row in rows], padding=True, return_tensors="pt")
            with torch.autocast("cpu", dtype=torch.bfloat16):
                states = model(**inputs).last_hidden_state.float()
            seen = inputs["attention_mask"][..., None].float()
            embedded[rows] = normalize((states * seen).sum(1) / seen.sum(1), dim=-1).numpy()
        return embedded


def load_encoder(downloads: Path) -> tuple[Any, Any]:
    """MiniLM's own tokenizer and its encoder."""
    folder, weights = minilm.download(downloads)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
    )
    model = BertModel(config).eval()
    model.load_state_dict({name: weights[name] for name in model.state_dict()})
    return tokenizer, model
