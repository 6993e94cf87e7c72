"""Masks each token of a sentence in turn, and so makes the rows by which a masked language model scores the sentence.

Sources: pseudo-log-likelihood, the sum of ln p(token | all other tokens) (Salazar et al. 2020, section 2); the
correction for words of several pieces, left to right within the word (Kauf and Ivanova 2023, PLL-word-l2r).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def masked_in_turn(
    input_ids: Tensor, word_ids: Sequence[int | None], mask_id: int, rest_of_word: bool
) -> tuple[Tensor, list[int]]:
    """Return one row for each token that belongs to a word, with that token masked: (rows, length), and the rows'
    positions.

    input_ids: (length,). word_ids: the word of each position, None for special tokens. rest_of_word: the pieces after
    the token in its own word are masked with it, so that they cannot give it away.
    """
    positions = [position for position, word in enumerate(word_ids) if word is not None]
    rows = input_ids.repeat(len(positions), 1)
    for row, position in zip(rows, positions, strict=True):
        row[position] = mask_id
        if rest_of_word:
            rest = [other for other in positions if other > position and word_ids[other] == word_ids[position]]
            row[rest] = mask_id
    return rows, positions


def log_probability_of(log_probabilities: Tensor, token_ids: Tensor) -> Tensor:
    """Return ln p of one token in each row: (rows,) from (rows, vocabulary) and (rows,)."""
    return torch.gather(log_probabilities, -1, token_ids[:, None])[:, 0]
