"""The rows of every step and the tokens hidden in them; both depend on the seed and the step alone, so a resumed run
goes on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from explorer.maths.corruption import CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.objectives.batches import Batch, collate
from explorer.objectives.rows import Row, RowMaker, row_maker
from explorer.objectives.text import TextStore
from explorer.scratch.spec import FORMATS, OBJECTIVES, ScratchSpec
from explorer.scratch.text import Document, Documents

MEASURED_ROWS = 96
MEASURED_SEED = 2**31
"""A seed for the held-out rows and what is hidden in them, which are the same for every run on a text."""
MEASURED = CorruptionRecipe()

Drawer = Callable[[RowMaker, TextStore, int, np.random.Generator], Row]

NOTHING_HIDDEN = CorruptionRecipe(rate=0.0)


def drawer_of(spec: ScratchSpec) -> Drawer:
    """Return the function that draws one row of the spec's format."""
    short = 1.0 if spec.row_format == "sentence_pair" else 0.0
    if OBJECTIVES[spec.objective].pairs == "order":
        return partial(RowMaker.order, short_share=short)
    return {
        "segment_pair": RowMaker.segment_pair,
        "sentence_pair": RowMaker.sentence_pair,
        "full_sentences": RowMaker.full,
        "doc_sentences": RowMaker.doc_sentences,
    }[FORMATS[spec.row_format].slug]


class Drawn:
    """The batches of one run. One epoch is as many rows as the text has row lengths of tokens; a copy of the text has
    the same rows whenever it is read.
    """

    def __init__(self, spec: ScratchSpec, documents: Documents, tokenizer: PreTrainedTokenizerBase) -> None:
        self.spec, self.masker = spec, Masker(tokenizer)
        self.maker, self.drawer = row_maker(tokenizer), drawer_of(spec)
        self.train = _store(documents.train, tokenizer)
        self.held_out = _store(documents.held_out, tokenizer)
        self.an_epoch = max(1, len(self.train.ids) // spec.length)
        self.judges_pairs = bool(OBJECTIVES[spec.objective].pairs)

    @property
    def recipe(self) -> CorruptionRecipe:
        """The corruption of the rows: for ELECTRA's generator every chosen token becomes a mask (Clark et al. 2020,
        section 2); other objectives have the spec's shares.
        """
        objective = OBJECTIVES[self.spec.objective]
        if not objective.masks:
            return NOTHING_HIDDEN
        if objective.slug == "rtd":
            return CorruptionRecipe(self.spec.rate, 1.0, 0.0, self.spec.scheme)
        return CorruptionRecipe(self.spec.rate, self.spec.mask_share, self.spec.random_share, self.spec.scheme)

    def batch(self, step: int) -> Batch:
        """Return the training batch of a step, counted from 0."""
        spec, length = self.spec, self.spec.length_at(step)
        first = step * spec.batch_size
        rows = [self._row(number, length) for number in range(first, first + spec.batch_size)]
        return self._collated([row for row, _ in rows], [key for _, key in rows])

    def _row(self, number: int, length: int) -> tuple[Row, tuple[int, ...]]:
        """Return the run's row of this number, and the key of its mask.

        The text is prepared `copies` times, each with other rows and masks (BERT's was ten times).
        """
        epoch, place = divmod(number, self.an_epoch)
        order = _order(self.spec.seed, epoch, self.an_epoch)
        key = (self.spec.seed, int(order[place]), epoch % self.spec.copies)
        row = self._draw(self.train, length, (*key, 2))
        # Static masks belong to the copy, and come again when it does; dynamic ones are drawn as the row is read (Liu
        # et al. 2019, section 4.1).
        return row, (*key, 3) if self.spec.masking == "static" else (*key, 4, epoch)

    def _draw(self, store: TextStore, length: int, key: tuple[int, ...]) -> Row:
        row = self.drawer(self.maker, store, length, np.random.default_rng(key))
        return row if self.judges_pairs else Row(row.input_ids, row.token_type_ids)

    def _collated(self, rows: list[Row], keys: list[tuple[int, ...]]) -> Batch:
        """Corrupt and pad rows, each by its own key, so that its mask does not depend on the batch that it stands in."""
        return collate(rows, self.recipe, self.masker, [_generator(key) for key in keys])

    def measured(self) -> list[Batch]:
        """Return the held-out rows, in batches of the run's size."""
        keys: list[tuple[int, ...]] = [(MEASURED_SEED, number) for number in range(MEASURED_ROWS)]
        rows = [self._draw(self.held_out, self.spec.length, key) for key in keys]
        size = self.spec.batch_size
        return [self._collated(rows[at : at + size], keys[at : at + size]) for at in range(0, len(rows), size)]


@lru_cache(maxsize=8)
def _order(seed: int, epoch: int, count: int) -> NDArray[np.int64]:
    """Return the order of an epoch's rows, (count,); it is asked for once a row, and drawn once an epoch."""
    return np.random.default_rng((seed, 1, epoch)).permutation(count)


def _store(documents: tuple[Document, ...], tokenizer: PreTrainedTokenizerBase) -> TextStore:
    return TextStore.from_documents([list(document) for document in documents], tokenizer)


def _generator(key: tuple[int, ...]) -> torch.Generator:
    # >> 1: manual_seed takes 63 bits.
    return torch.Generator().manual_seed(int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0]) >> 1)
