"""Stores in which each token id tells its own place, so that a row can be read backwards."""

from __future__ import annotations

import numpy as np

from explorer.objectives.rows import RowMaker
from explorer.objectives.text import TextStore

FALSE_ALARM = 1e-6
"""How often a right implementation would fail a statistical test here, were the seed not fixed."""

CLS, SEP = 101, 102
FIRST_ID = 1000


def store_of(*documents: list[int], paragraphs: list[int] | None = None) -> TextStore:
    """Documents as lists of sentence lengths; the ids count up from FIRST_ID. paragraphs: how many sentences each has."""
    lengths = np.array([length for document in documents for length in document], dtype=np.int64)
    owners = np.array([number for number, document in enumerate(documents) for _ in document], dtype=np.int64)
    ids = np.arange(FIRST_ID, FIRST_ID + lengths.sum(), dtype=np.int32)
    numbers = None if paragraphs is None else np.repeat(np.arange(len(paragraphs)), paragraphs)
    return TextStore(ids, np.cumsum(lengths) - lengths, owners, numbers)


STORE = store_of([5, 9, 3, 12, 7], [4], [8, 8, 8, 30], [6, 2, 40, 1], [15, 20])
MAKER = RowMaker(CLS, SEP)


def sentence_of(token_id: int, store: TextStore = STORE) -> int:
    return int(np.searchsorted(store.starts, token_id - FIRST_ID, side="right")) - 1


def document_of(token_id: int) -> int:
    return int(STORE.documents[sentence_of(token_id)])
