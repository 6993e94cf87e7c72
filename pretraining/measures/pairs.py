"""Pairs of sentences: true against random (NSP) and in order against swapped (SOP), for a head of either kind.

A head is measured on both kinds, as in ALBERT's Table 5: its first class is the true pair in both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.maths.corruption import CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.models.records import Measure
from explorer.objectives.batches import collate
from explorer.objectives.losses import encode, pair_logits
from explorer.objectives.rows import Row, RowMaker, row_maker
from explorer.objectives.text import TextStore
from pretraining.measures.masks import LENGTH, ROWS_PER_BATCH
from pretraining.measures.measure import Subject

PairDrawer = Callable[[RowMaker, TextStore, int, np.random.Generator, float], Row]
"""How a pair is drawn: its last argument is the share of pairs of single sentences."""

PAIRS = 2000
KINDS: dict[str, tuple[str, PairDrawer]] = {
    "nsp": ("true against random", RowMaker.pair),
    "sop": ("in order against swapped", RowMaker.order),
}
LENGTHS = {"segments": (f"segments that fill {LENGTH} tokens", 0.0), "sentences": ("single sentences", 1.0)}


def measure_pairs(subject: Subject) -> list[Measure]:
    """The accuracy on 2,000 balanced pairs of each kind and length."""
    return [
        Measure(
            f"{kind}_{size}",
            f"{kind.upper()}, {told}, {length}",
            pair_accuracy(subject.model, subject.tokenizer, subject.store, drawer, share),
            "share",
            f"{PAIRS:,} pairs, half of each class",
        )
        for kind, (told, drawer) in KINDS.items()
        for size, (length, share) in LENGTHS.items()
    ]


@torch.inference_mode()
def pair_accuracy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    store: TextStore,
    drawer: PairDrawer,
    short_share: float,
    pairs: int = PAIRS,
    length: int = LENGTH,
) -> float:
    """The share of pairs whose class leads; a fixed seed draws them. short_share: as for the drawer.

    Raises BadInputError if the text has no such pairs.
    """
    rng, maker = np.random.default_rng(0), row_maker(tokenizer)
    rows = [drawer(maker, store, length, rng, short_share) for _ in range(pairs)]
    untouched, masker, generator = CorruptionRecipe(rate=0.0), Masker(tokenizer), torch.Generator()
    right = 0
    for first in range(0, pairs, ROWS_PER_BATCH):
        part = rows[first : first + ROWS_PER_BATCH]
        batch = collate(part, untouched, masker, generator)
        guesses = pair_logits(model, encode(model, batch).pooler_output).argmax(-1).cpu()
        right += int((guesses == batch.pair_labels).sum())
    return right / pairs
