"""The tokenised text of every source, kept on disk."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from explorer.objectives.text import TextStore
from pretraining.corpus import SOURCES, read_documents

EVERYDAY = Path(__file__).with_name("everyday.txt")


def fingerprint(tokenizer: PreTrainedTokenizerBase) -> str:
    """Eight characters that differ between vocabularies."""
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:8]


def cached_store(path: Path, tokenizer: PreTrainedTokenizerBase, cache: Path) -> TextStore:
    """Tokenise a text file once and keep the arrays in `cache`, one file for each vocabulary and state of the text."""
    target = cache / f"{path.stem}-{path.stat().st_size}-{fingerprint(tokenizer)}-paragraphs.npz"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        store = TextStore.from_documents(read_documents(path), tokenizer)
        starts, documents, paragraphs = store.starts[:-1], store.documents, store.paragraphs
        np.savez(target, ids=store.ids, starts=starts, documents=documents, paragraphs=paragraphs)
    arrays = np.load(target)
    return TextStore(*(arrays[name] for name in ("ids", "starts", "documents", "paragraphs")))


def load_stores(corpus: Path, tokenizer: PreTrainedTokenizerBase, cache: Path) -> dict[str, TextStore]:
    """Tokenise every text file of a folder but the held-out ones."""
    held_out = {source.name for source in SOURCES if source.held_out}
    return {
        path.stem: cached_store(path, tokenizer, cache)
        for path in sorted(corpus.glob("*.txt"))
        if path.stem not in held_out
    }


def everyday_store(tokenizer: PreTrainedTokenizerBase) -> TextStore:
    """The short everyday texts that were written for this project, each a document."""
    return TextStore.from_documents(read_documents(EVERYDAY), tokenizer)


def unigram_counts(stores: dict[str, TextStore], vocabulary: int) -> torch.Tensor:
    """How often each token occurs: (vocabulary,), float32."""
    counts = torch.zeros(vocabulary)
    for store in stores.values():
        counts += torch.from_numpy(np.bincount(store.ids, minlength=vocabulary))
    return counts
