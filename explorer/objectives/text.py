"""Tokenised text: one flat array of token ids with its sentences, paragraphs and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from explorer.text import split_sentences

Document = list[str]
"""A document's paragraphs."""


def documents_in(lines: Iterable[str]) -> Iterator[Document]:
    """Yield the documents of a plain text: one paragraph a line, an empty line between documents."""
    document: Document = []
    for line in lines:
        if line.strip():
            document.append(line.strip())
        elif document:
            yield document
            document = []
    if document:
        yield document


class TextStore:
    """One source as a flat array of token ids, with the start of each sentence and the numbers of its paragraph and
    document.

    Paragraphs are numbered through all documents; without them a document counts as one.
    """

    def __init__(
        self,
        ids: NDArray[np.int32],
        sentence_starts: NDArray[np.int64],
        sentence_documents: NDArray[np.int64],
        sentence_paragraphs: NDArray[np.int64] | None = None,
    ) -> None:
        self.ids = ids
        self.starts = np.append(sentence_starts, len(ids))  # the end of the last sentence too
        self.documents = sentence_documents
        self.paragraphs = sentence_documents if sentence_paragraphs is None else sentence_paragraphs
        self.sentences = len(sentence_starts)
        documents = len(np.unique(self.documents))
        self.has_neighbours = len(np.unique(self.paragraphs)) < self.sentences
        self.has_pairs = documents < self.sentences and documents > 1

    @classmethod
    def from_documents(cls, documents: Iterable[Document], tokenizer: PreTrainedTokenizerBase) -> TextStore:
        """Tokenise documents sentence by sentence."""
        sentences: list[str] = []
        owners: list[tuple[int, int]] = []
        paragraphs = 0
        for number, document in enumerate(documents):
            split = [split_sentences(paragraph) for paragraph in document]
            parts = [part for paragraph in split for part in paragraph]
            # A tokenizer that keeps spaces (a byte-level one does) must see the one before each sentence, as in the
            # text; a document's first has none.
            sentences += _spaced(parts) if keeps_spaces(tokenizer) else parts
            owners += [(number, paragraphs + place) for place, paragraph in enumerate(split) for _ in paragraph]
            paragraphs += len(split)
        encoded: list[list[int]] = []
        # In parts, so that the encodings of a large corpus are not held all at once.
        for first in range(0, len(sentences), 20_000):
            part = sentences[first : first + 20_000]
            encoded += tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]
        kept = [(ids, owner) for ids, owner in zip(encoded, owners, strict=True) if ids]  # a sentence may have no token
        lengths = np.array([len(ids) for ids, _ in kept], dtype=np.int64)
        flat = np.fromiter((token for ids, _ in kept for token in ids), dtype=np.int32, count=int(lengths.sum()))
        places = np.array([owner for _, owner in kept], dtype=np.int64).reshape(-1, 2)
        return cls(flat, np.cumsum(lengths) - lengths, places[:, 0], places[:, 1])

    def sentence_at(self, rng: np.random.Generator) -> int:
        """Draw a sentence with a probability proportional to its length."""
        return self.sentence_of(int(rng.integers(len(self.ids))))

    def paragraph_start(self, sentence: int) -> int:
        """Return the number of the first sentence of this one's paragraph."""
        return int(np.searchsorted(self.paragraphs, self.paragraphs[sentence], side="left"))

    def paragraph_end(self, sentence: int) -> int:
        """Return the number of the first sentence after this one's paragraph."""
        return int(np.searchsorted(self.paragraphs, self.paragraphs[sentence], side="right"))

    def document_end(self, sentence: int) -> int:
        """Return the number of the first sentence after this one's document."""
        return int(np.searchsorted(self.documents, self.documents[sentence], side="right"))

    def take(self, sentence: int, most: int) -> list[int]:
        """Return up to `most` token ids from the start of a sentence on, inside its document."""
        start = self.starts[sentence]
        stop = min(start + most, self.starts[self.document_end(sentence)])
        return self.tokens(int(start), int(stop))

    def between(self, first: int, stop: int) -> list[int]:
        """Return the token ids of the sentences from `first` up to, but not including, `stop`."""
        return self.tokens(int(self.starts[first]), int(self.starts[stop]))

    def tokens(self, start: int, stop: int) -> list[int]:
        """Return the token ids at the positions from `start` up to, but not including, `stop`."""
        return list(map(int, self.ids[start:stop]))

    def sentence_of(self, place: int) -> int:
        """Return the number of the sentence that the token at a position belongs to."""
        return int(np.searchsorted(self.starts, place, side="right")) - 1

    def one_sentence(self, sentence: int) -> list[int]:
        """Return the token ids of one sentence."""
        return self.between(sentence, sentence + 1)


def keeps_spaces(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Return whether a space before a word is part of its token, as in a byte-level vocabulary."""
    return bool(tokenizer.tokenize(" a") != tokenizer.tokenize("a"))


def _spaced(sentences: list[str]) -> list[str]:
    return [sentence if number == 0 else f" {sentence}" for number, sentence in enumerate(sentences)]
