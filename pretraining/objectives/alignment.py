"""Hidden states to be learned: how far a student's are from bert-mini's on the same text, at every position.

A body that has changed its shape has lost what it knew. With embeddings of 128 in place of 384, the rest as it was, bert-mini's
own head guesses 3% of the masked tokens where it guessed 40%. Taught its teacher's states (as TinyBERT is: Jiao et al. 2020,
section 3.1) it gets most of that back within minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import BertForPreTraining

from explorer.objectives.batches import Batch
from explorer.objectives.losses import encode
from pretraining.objectives.base import Place
from pretraining.starts.transplant import load


def load_teacher(place: Place, name: str = "bert-mini") -> Any:
    """A BERT to learn from; it learns nothing itself."""
    return load(name, place.models, BertForPreTraining).eval().requires_grad_(False)


def states_apart(own: Sequence[Tensor], teacher: Any, batch: Batch, matched: Sequence[int]) -> Tensor:
    """The mean squared difference of hidden states in units of the teacher's variance: a scalar.

    own: the student's states (rows, length, width), one for each of `matched`, which counts the teacher's states (0 is its
    embeddings). The mean over all of them, plus the last one once more: on that a head is put.
    """
    with torch.no_grad():
        wanted = encode(teacher.to(own[0].device), batch, output_hidden_states=True).hidden_states
    seen = batch.attention_mask.bool().to(own[0].device)
    terms = [_apart(mine[seen], wanted[number][seen]) for mine, number in zip(own, matched, strict=True)]
    return torch.stack(terms).mean() + terms[-1]


def _apart(own: Tensor, wanted: Tensor) -> Tensor:
    wanted = wanted.float()
    return (own.float() - wanted).square().mean() / wanted.var()
