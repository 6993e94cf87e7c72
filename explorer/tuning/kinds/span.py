"""The kind for an answer in a text: a fresh head of a start and an end score for each token (Devlin et al. 2019,
sections 4.2 and 4.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture
from explorer.tasks.task import SPAN
from explorer.tuning.kinds.kind import Kind, lazily
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from torch import Tensor

LONGEST = 384
"""Tokens of a question with its text; a longer text is read in windows. This and the next two are those of BERT's SQuAD
recipe.
"""

STRIDE = 128
"""Tokens that a window of a long text shares with the one before it."""

LONGEST_ANSWER = 30
"""Tokens that an answer may have."""

EVALUATIONS = 6
"""Evaluations in a run: reading all held-out questions takes a good part of an epoch's time."""


def _refuses(method: Method, architecture: Architecture) -> str | None:
    if architecture.layers.reads_last:
        return (
            f"{architecture.family} reads from left to right, so no token knows what follows it, and the first one, which stands "
            "for no answer, has read nothing. Choose a model that reads both sides, such as bert-small."
        )
    if not architecture.finds_answers:
        return (
            f"transformers has no head for {architecture.family} that finds answers in a text. Choose another model, such as "
            "bert-small."
        )
    if method.is_student or method.fills_masks:
        return "a student learns classes, scores or hidden words here, and no answers in a text. Choose another method."
    return None


def _scores(output: Any) -> Tensor:
    """Return start and end scores, (rows, tokens, 2)."""
    import torch

    return torch.stack([output.start_logits, output.end_logits], dim=-1)


KIND = Kind(
    SPAN,
    "AutoModelForQuestionAnswering",
    "question-answering",
    _refuses,
    lazily("explorer.tuning.forks:fork_span"),
    lazily("explorer.tuning.forks:empty_span"),
    lazily("explorer.tuning.qa_head:rows_of"),
    lazily("explorer.tuning.qa_head:SpanTraining"),
    scores=_scores,
    evaluations=EVALUATIONS,
    each_epoch=False,
    unit="held-out questions",
    template="train_span",
    constants={"STRIDE": repr(STRIDE), "LONGEST_ANSWER": repr(LONGEST_ANSWER)},
    judges_texts=True,
    rates={"full": 1e-4, "lora": 3e-3, "houlsby": 3e-3, "pfeiffer": 3e-3, "bitfit": 5e-3, "ia3": 2e-2},
    longest=LONGEST,
)
