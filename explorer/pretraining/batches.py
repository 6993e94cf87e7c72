"""Tokenised text on disk, and the rows that a training step draws from it.

Three kinds of row: `text` ([CLS] running text [SEP]), `sentence` (one short sentence, as visitors type them) and `pair`
([CLS] A [SEP] B [SEP] with segment ids; half the time B follows A, else it comes from another document: BERT, appendix A.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe, corrupt
from explorer.pretraining.corpus import Document, read_documents
from explorer.text import split_sentences

IS_NEXT, NOT_NEXT = 0, 1
"""BertForPreTraining's classes of `next_sentence_label`."""

SHORT_PAIR_SHARE = 0.3
"""Pairs made of one sentence each rather than of as much text as fits: visitors type single sentences."""


@dataclass(frozen=True)
class Row:
    """Token ids with special tokens, the segment of each, and the pair's class (IGNORED_LABEL without a pair)."""

    input_ids: list[int]
    token_type_ids: list[int]
    pair_label: int = IGNORED_LABEL


@dataclass(frozen=True)
class Batch:
    """Tensors of shape (rows, length), but for `pair_labels` (rows,)."""

    input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor
    labels: Tensor
    pair_labels: Tensor


class TextStore:
    """One source as a flat array of token ids with the starts of its sentences and documents."""

    def __init__(
        self, ids: NDArray[np.int32], sentence_starts: NDArray[np.int64], sentence_documents: NDArray[np.int64]
    ) -> None:
        self.ids = ids
        self.starts = np.append(sentence_starts, len(ids))
        self.documents = sentence_documents
        self.sentences = len(sentence_starts)
        documents = len(np.unique(sentence_documents))
        self.has_pairs = 1 < documents < self.sentences

    @classmethod
    def from_documents(cls, documents: Iterable[Document], tokenizer: PreTrainedTokenizerBase) -> TextStore:
        """Tokenise documents sentence by sentence."""
        sentences: list[str] = []
        owners: list[int] = []
        for number, document in enumerate(documents):
            for paragraph in document:
                parts = split_sentences(paragraph)
                sentences += parts
                owners += [number] * len(parts)
        encoded: list[list[int]] = []
        for first in range(0, len(sentences), 20_000):
            part = sentences[first : first + 20_000]
            encoded += tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]
        kept = [(ids, owner) for ids, owner in zip(encoded, owners, strict=True) if ids]
        lengths = np.array([len(ids) for ids, _ in kept], dtype=np.int64)
        flat = np.fromiter((token for ids, _ in kept for token in ids), dtype=np.int32, count=int(lengths.sum()))
        return cls(flat, np.cumsum(lengths) - lengths, np.array([owner for _, owner in kept], dtype=np.int64))

    @classmethod
    def cached(cls, path: Path, tokenizer: PreTrainedTokenizerBase, cache: Path) -> TextStore:
        """Tokenise a text file once and keep the arrays in `cache`."""
        target = cache / f"{path.stem}.npz"
        if not target.exists():
            cache.mkdir(parents=True, exist_ok=True)
            store = cls.from_documents(read_documents(path), tokenizer)
            np.savez(target, ids=store.ids, starts=store.starts[:-1], documents=store.documents)
        arrays = np.load(target)
        return cls(arrays["ids"], arrays["starts"], arrays["documents"])

    def sentence_at(self, rng: np.random.Generator) -> int:
        """A sentence drawn with a probability proportional to its length."""
        return int(np.searchsorted(self.starts, rng.integers(len(self.ids)), side="right")) - 1

    def document_end(self, sentence: int) -> int:
        """The number of the first sentence after this one's document."""
        return int(np.searchsorted(self.documents, self.documents[sentence], side="right"))

    def take(self, sentence: int, most: int) -> list[int]:
        """Up to `most` token ids from the start of a sentence on, inside its document."""
        start = self.starts[sentence]
        stop = min(start + most, self.starts[self.document_end(sentence)])
        return list(map(int, self.ids[start:stop]))

    def one_sentence(self, sentence: int) -> list[int]:
        """The token ids of one sentence."""
        return list(map(int, self.ids[self.starts[sentence] : self.starts[sentence + 1]]))


class RowMaker:
    """Draws rows from a store, with the special tokens of one tokenizer."""

    def __init__(self, cls_id: int, sep_id: int) -> None:
        self.cls_id, self.sep_id = cls_id, sep_id

    def text(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """[CLS] running text [SEP]."""
        ids = [self.cls_id, *store.take(store.sentence_at(rng), length - 2), self.sep_id]
        return Row(ids, [0] * len(ids))

    def sentence(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """[CLS] one sentence [SEP]."""
        ids = store.one_sentence(int(rng.integers(store.sentences)))[: length - 2]
        return Row([self.cls_id, *ids, self.sep_id], [0] * (len(ids) + 2))

    def pair(
        self, store: TextStore, length: int, rng: np.random.Generator, short_share: float = SHORT_PAIR_SHARE
    ) -> Row:
        """[CLS] A [SEP] B [SEP]; B follows A in half of the draws.

        short_share: how many of the pairs are single sentences; the others are segments that fill the row, as in BERT.
        Raises BadInputError where the text has no two sentences that follow each other, or no other document.
        """
        if not store.has_pairs:
            raise BadInputError(
                "Sentence pairs need a text of two documents or more, separated by an empty line, one of them with two "
                "sentences."
            )
        while True:
            first = store.sentence_at(rng)
            if first + 1 < store.document_end(first):
                break
        budget = length - 3
        if rng.random() < short_share:
            sentences_a, room_b = 1, 1
        else:
            sentences_a, room_b = self._fill_segment_a(store, first, int(rng.integers(4, max(5, budget - 3)))), 0
        segment_a = [token for index in range(first, first + sentences_a) for token in store.one_sentence(index)]
        second, label = first + sentences_a, IS_NEXT
        if rng.random() < 0.5:
            label = NOT_NEXT
            while store.documents[second := store.sentence_at(rng)] == store.documents[first]:
                pass
        segment_b = store.one_sentence(second) if room_b else store.take(second, budget)
        self._truncate(segment_a, segment_b, budget, rng)
        ids = [self.cls_id, *segment_a, self.sep_id, *segment_b, self.sep_id]
        return Row(ids, [0] * (len(segment_a) + 2) + [1] * (len(segment_b) + 1), label)

    @staticmethod
    def _fill_segment_a(store: TextStore, first: int, target: int) -> int:
        """How many sentences A takes to reach `target` tokens, leaving at least one of the document to B."""
        end = store.document_end(first)
        count = 1
        while first + count + 1 < end and store.starts[first + count] - store.starts[first] < target:
            count += 1
        return count

    @staticmethod
    def _truncate(segment_a: list[int], segment_b: list[int], budget: int, rng: np.random.Generator) -> None:
        """Shorten the longer segment, in place, from either end at random (BERT's own code does the same)."""
        while len(segment_a) + len(segment_b) > budget:
            longer = segment_a if len(segment_a) > len(segment_b) else segment_b
            longer.pop(0 if longer is segment_a and rng.random() < 0.5 else -1)


def collate(
    rows: list[Row],
    recipe: CorruptionRecipe,
    tokenizer: PreTrainedTokenizerBase,
    replacement_ids: Tensor,
    generator: torch.Generator,
) -> Batch:
    """Pad rows to the longest of them and corrupt each by `recipe`; words are grouped by WordPiece's `##`."""
    length = max(len(row.input_ids) for row in rows)
    special = set(tokenizer.all_special_ids)
    shape = (len(rows), length)
    input_ids = torch.full(shape, int(tokenizer.pad_token_id))
    token_type_ids = torch.zeros(shape, dtype=torch.long)
    attention_mask = torch.zeros(shape, dtype=torch.long)
    labels = torch.full(shape, IGNORED_LABEL)
    for number, row in enumerate(rows):
        size = len(row.input_ids)
        corruption = corrupt(
            torch.tensor(row.input_ids),
            _words(row.input_ids, tokenizer, special),
            recipe,
            int(tokenizer.mask_token_id),
            replacement_ids,
            generator,
        )
        input_ids[number, :size] = corruption.input_ids
        labels[number, :size] = corruption.labels
        token_type_ids[number, :size] = torch.tensor(row.token_type_ids)
        attention_mask[number, :size] = 1
    pair_labels = torch.tensor([row.pair_label for row in rows])
    return Batch(input_ids, token_type_ids, attention_mask, labels, pair_labels)


def _words(ids: list[int], tokenizer: PreTrainedTokenizerBase, special: set[int]) -> list[int | None]:
    """The word of each token, None for special tokens."""
    words: list[int | None] = []
    word = -1
    for token_id, name in zip(ids, tokenizer.convert_ids_to_tokens(ids), strict=True):
        word += not name.startswith("##")
        words.append(None if token_id in special else word)
    return words
