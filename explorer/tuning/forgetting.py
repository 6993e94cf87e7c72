"""Measures what fine-tuning has made a model forget: its own head guesses hidden words of held-out sentences.

The head stays as pretraining left it, its map to the vocabulary included; the body is the run's, with whatever the
method has attached to it or changed in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example
from explorer.tuning.adapted import Adapted
from explorer.tuning.forks import fork_masked
from explorer.tuning.masked import MEASURED, MEASURED_KEY, Masks, read_masked, rows_of
from explorer.tuning.methods import Method
from explorer.tuning.reading import precision
from explorer.tuning.rows import Rows, ordered_batches
from explorer.tuning.spec import LONGEST_ROW
from explorer.wanted import go_on


@dataclass(frozen=True, eq=False)
class Guessed:
    """The guesses of each sentence, (rows,): how many of its hidden words are right, the sum of their −ln p, and how
    many there are.
    """

    right: Tensor
    loss: Tensor
    words: Tensor


def why_unmeasured(method: Method) -> str:
    """Return why a method's runs have no before and after; empty if they have."""
    if method.has_virtual_tokens:
        return (
            "its vectors are input and every weight of the body stays as it was: without them nothing is forgotten, and with "
            "them it is another text that is read."
        )
    if method.is_student:
        return "a student has layers of its own, which never were the model's."
    return ""


def with_own_head(adapted: Adapted) -> PreTrainedModel:
    """Return the model's own *ForMaskedLM around the run's body, in modules of the caller's own.

    Raises BadInputError for a method without such a body, MissingCapabilityError for a model that fills no masks.
    """
    if reason := why_unmeasured(adapted.method):
        raise BadInputError(f"{adapted.method.title} cannot be measured: {reason}")
    model = fork_masked(adapted.loaded)
    setattr(model, adapted.layers.body, getattr(adapted.fork, adapted.layers.body))
    return _private(model)


def untouched(loaded: LoadedModel) -> PreTrainedModel:
    """Return the same model before any fine-tuning. Raises MissingCapabilityError."""
    return _private(fork_masked(loaded))


def _private(model: PreTrainedModel) -> PreTrainedModel:
    """Return the model in modules of its own, over the same tensors."""
    # Reading at chosen positions hooks the body, which others may be reading with.
    return private_tree(model, str(model.config._attn_implementation))


def held_out_rows(loaded: LoadedModel, examples: tuple[Example, ...]) -> Rows:
    """Return sentences as the model reads them. Raises BadInputError if it knows none of their words."""
    return rows_of(loaded, examples, min(LONGEST_ROW, loaded.longest))


@torch.no_grad()
def guess(model: PreTrainedModel, adapted: Adapted, rows: Rows) -> Guessed:
    """Guess the hidden words, which are the same for every model with one vocabulary. adapted: knows what the body reads."""
    device = adapted.loaded.device
    masks, count = Masks(adapted.loaded.tokenizer), len(rows)
    right, loss, words = (torch.zeros(count, dtype=torch.float64) for _ in range(3))
    for batch in ordered_batches(rows.lengths):
        go_on()
        hidden = masks.hide(rows, batch, MEASURED, MEASURED_KEY)
        inputs = adapted.taken({name: tensor.to(device) for name, tensor in hidden.inputs.items()})
        with precision(device, adapted.loaded.architecture):
            logits = read_masked(model, inputs, hidden.chosen.to(device))[0]
        logits, of = logits.float().cpu(), hidden.chosen.sum(-1)
        found = (logits.argmax(-1) == hidden.truth).double().split(of.tolist())
        lost = cross_entropy(logits, hidden.truth, reduction="none").double().split(of.tolist())
        for place, hits, costs in zip(batch, found, lost, strict=True):
            right[place], loss[place], words[place] = hits.sum(), costs.sum(), len(hits)
    return Guessed(right, loss, words)
