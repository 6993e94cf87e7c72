"""Asks a model about a task's examples: builds its input and targets, and computes the loss of each example and the
metric of all.

A fine-tuned classifier is asked for the class. A pretrained model is asked what it was trained for, on the task's texts
without their labels: masked tokens, the next token, or which tokens were replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.families import Capability
from explorer.models.hiding import Masker
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example
from explorer.tuning.rows import Rows, tokenise

SEED = 0
"""The seed that chooses the hidden tokens, so that they are the same before and after pruning."""

REPLACED = CorruptionRecipe(mask_share=0.0, random_share=1.0)


@dataclass(frozen=True)
class Kind:
    """One way to ask.

    slug: as in explorer.models.questions. metric: the name of one in explorer.tasks.metrics, for questions that are not
    a task's own. asks: a phrase that describes the loss. scores: returns (rows, classes) or (rows, length, classes)
    from the model's output.
    """

    slug: str
    needs: Capability | None
    metric: str
    asks: str
    scores: Callable[[LoadedModel, Any], Tensor]


def _classes(loaded: LoadedModel, output: Any) -> Tensor:
    logits: Tensor = output.logits
    return logits


def _tokens(capability: Capability) -> Callable[[LoadedModel, Any], Tensor]:
    def scores(loaded: LoadedModel, output: Any) -> Tensor:
        return loaded.logits(capability, output)

    return scores


def _replaced(loaded: LoadedModel, output: Any) -> Tensor:
    """Return ELECTRA's single logit x as (0, x)."""
    logits = loaded.logits(Capability.RTD, output)
    return torch.stack([torch.zeros_like(logits), logits], dim=-1)


BY_CLASS = Kind("class", None, "accuracy", "the task's own loss on its labels", _classes)
KINDS = (
    Kind(
        "mask", Capability.MLM, "accuracy", "the masked language model's loss, 15% of tokens hidden", _tokens(Capability.MLM)
    ),
    Kind("continue", Capability.CAUSAL, "accuracy", "the loss of each next token", _tokens(Capability.CAUSAL)),
    Kind(
        "replaced", Capability.RTD, "matthews", "replaced-token detection, 15% of tokens replaced at random", _replaced
    ),
)  # fmt: skip


def kind_of(loaded: LoadedModel) -> Kind:
    """Return how a pretrained model is asked without labels. Raises MissingCapabilityError if it has no such head."""
    for kind in KINDS:
        if kind.needs in loaded.capabilities:
            return kind
    raise MissingCapabilityError(
        f"{loaded.model_id} has no head that can be asked without labels. Choose a fine-tuned run, or another model."
    )


@dataclass(frozen=True)
class Asked:
    """Examples as a model reads them. targets: one per token of each row, IGNORED_LABEL where nothing is asked; None
    for classes.
    """

    rows: Rows
    targets: tuple[tuple[int, ...], ...] | None

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, places: Sequence[int], device: torch.device) -> tuple[dict[str, Tensor], Tensor]:
        """Return inputs (rows, longest), and labels: (rows,), or (rows, longest) if each token has one."""
        inputs, labels = self.rows.batch(places, device)
        if self.targets is None:
            return inputs, labels
        longest = inputs["input_ids"].shape[1]
        rows = [self.targets[place] for place in places]
        padded = [[*row, *[IGNORED_LABEL] * (longest - len(row))] for row in rows]
        return inputs, torch.tensor(padded, device=device)


def ask(loaded: LoadedModel, kind: Kind, examples: Sequence[Example], longest: int) -> Asked:
    """Tokenise examples and, for a pretrained model, hide or replace the tokens that it has to guess. Raises
    BadInputError without examples.
    """
    if not examples:
        raise BadInputError("There are no examples. Take at least one.")
    rows = tokenise(loaded, examples, longest)
    if kind is BY_CLASS:
        return Asked(rows, None)
    if kind.slug == "continue":
        # Each token is asked for the one after it.
        return Asked(rows, tuple((*row["input_ids"][1:], IGNORED_LABEL) for row in rows.inputs))
    return _hidden(loaded, kind, rows)


def _hidden(loaded: LoadedModel, kind: Kind, rows: Rows) -> Asked:
    """Hide BERT's 15% with 80/10/10; for a discriminator replace all 15% at random, since its generator is not at hand."""
    masked = kind.slug == "mask"
    recipe = CorruptionRecipe() if masked else REPLACED
    masker, draw = Masker(loaded.tokenizer), torch.Generator().manual_seed(SEED)
    inputs, targets = [], []
    for row in rows.inputs:
        ids = row["input_ids"]
        done = masker.corrupt(ids, recipe, draw)
        shown = done.input_ids.tolist()
        inputs.append({**row, "input_ids": shown})
        if masked:
            targets.append(tuple(done.labels.tolist()))
        else:
            pairs = zip(ids, shown, strict=True)
            targets.append(tuple(IGNORED_LABEL if old in masker.special else int(old != new) for old, new in pairs))
    return Asked(replace(rows, inputs=tuple(inputs)), tuple(targets))


def example_losses(scores: Tensor, labels: Tensor, loss: str, mean: float = 0.0, spread: float = 1.0) -> Tensor:
    """Return each example's loss, (rows,), the mean over what is asked in it.

    scores: (rows, classes); for tokens (asked, classes), for those places of `labels`, (rows, length), that hold a
    label, row by row. loss `labels`: cross-entropy, or for a regression (one output) the squared error in units of its
    spread. `soft`: the entropy of the model's own answer, which needs no label. Raises BadInputError for a soft loss of
    a score.
    """
    scores = scores.float()
    if loss == "soft" and scores.shape[-1] == 1:
        raise BadInputError("A score has no soft output: take the loss on the labels.")
    asked = asked_of(labels)
    labels = labels if asked is None else labels[asked]
    if loss == "soft":
        # Not cross-entropy with the model's own answer: its gradient is 0 as long as nothing is removed.
        each = _entropy(scores)
    elif scores.shape[-1] == 1:
        each = mse_loss(scores[:, 0], (labels - mean) / spread, reduction="none")
    else:
        each = cross_entropy(scores, labels.long(), reduction="none")
    if asked is None:
        return each
    rows = asked.nonzero()[:, 0]
    # index_add sums the tokens of each row; a row without any has loss 0.
    return each.new_zeros(len(asked)).index_add(0, rows, each) / asked.sum(-1).clamp_min(1)


def asked_of(labels: Tensor) -> Tensor | None:
    """Return which tokens are asked, (rows, length); None if the text's class is asked."""
    return labels != IGNORED_LABEL if labels.ndim == 2 else None


def _entropy(scores: Tensor) -> Tensor:
    logs = scores.log_softmax(-1)
    return -(logs.exp() * logs).sum(-1)
