"""Tokenised text on disk: each source as one flat array of token ids with its sentences, paragraphs and documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from explorer.text import split_sentences
from pretraining.corpus import SOURCES, Document, read_documents

EVERYDAY = Path(__file__).with_name("everyday.txt")


class TextStore:
    """One source as a flat array of token ids, with the start of each sentence and the numbers of its paragraph and document.

    Paragraphs are numbered through all documents; without them a document is one.
    """

    def __init__(
        self,
        ids: NDArray[np.int32],
        sentence_starts: NDArray[np.int64],
        sentence_documents: NDArray[np.int64],
        sentence_paragraphs: NDArray[np.int64] | None = None,
    ) -> None:
        self.ids = ids
        self.starts = np.append(sentence_starts, len(ids))
        self.documents = sentence_documents
        self.paragraphs = sentence_documents if sentence_paragraphs is None else sentence_paragraphs
        self.sentences = len(sentence_starts)
        documents = len(np.unique(self.documents))
        self.has_neighbours = len(np.unique(self.paragraphs)) < self.sentences
        self.has_pairs = documents < self.sentences and documents > 1

    @classmethod
    def from_documents(cls, documents: Iterable[Document], tokenizer: PreTrainedTokenizerBase) -> TextStore:
        """Tokenise documents sentence by sentence.

        Where the tokenizer keeps spaces (a byte-level one does), every sentence but a document's first begins with one, as
        it does in the text.
        """
        sentences: list[str] = []
        owners: list[tuple[int, int]] = []
        paragraphs = 0
        for number, document in enumerate(documents):
            split = [split_sentences(paragraph) for paragraph in document]
            parts = [part for paragraph in split for part in paragraph]
            sentences += _spaced(parts) if keeps_spaces(tokenizer) else parts
            owners += [(number, paragraphs + place) for place, paragraph in enumerate(split) for _ in paragraph]
            paragraphs += len(split)
        encoded: list[list[int]] = []
        for first in range(0, len(sentences), 20_000):
            part = sentences[first : first + 20_000]
            encoded += tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]
        kept = [(ids, owner) for ids, owner in zip(encoded, owners, strict=True) if ids]
        lengths = np.array([len(ids) for ids, _ in kept], dtype=np.int64)
        flat = np.fromiter((token for ids, _ in kept for token in ids), dtype=np.int32, count=int(lengths.sum()))
        places = np.array([owner for _, owner in kept], dtype=np.int64).reshape(-1, 2)
        return cls(flat, np.cumsum(lengths) - lengths, places[:, 0], places[:, 1])

    @classmethod
    def cached(cls, path: Path, tokenizer: PreTrainedTokenizerBase, cache: Path) -> TextStore:
        """Tokenise a text file once and keep the arrays in `cache`, one file for each vocabulary and state of the text."""
        target = cache / f"{path.stem}-{path.stat().st_size}-{fingerprint(tokenizer)}-paragraphs.npz"
        if not target.exists():
            cache.mkdir(parents=True, exist_ok=True)
            store = cls.from_documents(read_documents(path), tokenizer)
            starts, documents, paragraphs = store.starts[:-1], store.documents, store.paragraphs
            np.savez(target, ids=store.ids, starts=starts, documents=documents, paragraphs=paragraphs)
        arrays = np.load(target)
        return cls(*(arrays[name] for name in ("ids", "starts", "documents", "paragraphs")))

    def sentence_at(self, rng: np.random.Generator) -> int:
        """A sentence drawn with a probability proportional to its length."""
        return int(np.searchsorted(self.starts, rng.integers(len(self.ids)), side="right")) - 1

    def paragraph_start(self, sentence: int) -> int:
        """The number of the first sentence of this one's paragraph."""
        return int(np.searchsorted(self.paragraphs, self.paragraphs[sentence], side="left"))

    def paragraph_end(self, sentence: int) -> int:
        """The number of the first sentence after this one's paragraph."""
        return int(np.searchsorted(self.paragraphs, self.paragraphs[sentence], side="right"))

    def document_end(self, sentence: int) -> int:
        """The number of the first sentence after this one's document."""
        return int(np.searchsorted(self.documents, self.documents[sentence], side="right"))

    def take(self, sentence: int, most: int) -> list[int]:
        """Up to `most` token ids from the start of a sentence on, inside its document."""
        start = self.starts[sentence]
        stop = min(start + most, self.starts[self.document_end(sentence)])
        return list(map(int, self.ids[start:stop]))

    def between(self, first: int, stop: int) -> list[int]:
        """The token ids of the sentences from `first` up to, not with, `stop`."""
        return list(map(int, self.ids[self.starts[first] : self.starts[stop]]))

    def one_sentence(self, sentence: int) -> list[int]:
        """The token ids of one sentence."""
        return self.between(sentence, sentence + 1)


def keeps_spaces(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a space before a word is part of its token, as in a byte-level vocabulary."""
    return bool(tokenizer.tokenize(" a") != tokenizer.tokenize("a"))


def _spaced(sentences: list[str]) -> list[str]:
    return [sentence if number == 0 else f" {sentence}" for number, sentence in enumerate(sentences)]


def fingerprint(tokenizer: PreTrainedTokenizerBase) -> str:
    """Eight characters that differ between vocabularies."""
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:8]


def load_stores(corpus: Path, tokenizer: PreTrainedTokenizerBase, cache: Path) -> dict[str, TextStore]:
    """Tokenise every text file of a folder but the held-out ones."""
    held_out = {source.name for source in SOURCES if source.held_out}
    return {
        path.stem: TextStore.cached(path, tokenizer, cache)
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
