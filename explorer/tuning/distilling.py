"""Distillation: what a teacher answers to every row, asked once, and the loss that compares the student with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import mse_loss
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.maths.distillation import cosine_loss, soft_loss
from explorer.models.inside import depth_of
from explorer.models.shortening import layers_kept, renamed
from explorer.tasks.task import Example, Task
from explorer.tuning.adapted import Adapted
from explorer.tuning.reading import Scale, decide, precision
from explorer.tuning.rows import Rows, never, ordered_batches, tokenise, unless_stopped
from explorer.tuning.spec import LONGEST_ROW, RunSpec

AGREEMENT = "agreement"
"""The metric's name for the share of held-out examples to which the student gives its teacher's answer."""


@torch.no_grad()
def take_layers(student: Adapted, teacher: PreTrainedModel) -> None:
    """Copy a plain teacher's weights into a student: the layers that the student keeps, and everything outside the
    layers.

    Raises BadInputError for a teacher that has fewer layers, or another shape.
    """
    kept = layers_kept(depth_of(teacher), depth_of(student.fork))
    theirs = renamed(dict(teacher.named_parameters()), student.layers, depth_of(teacher), kept)
    for name, parameter in student.trainable().items():
        if name not in theirs or theirs[name].shape != parameter.shape:
            raise BadInputError(
                "The teacher's layers do not fit this student, whose model has another shape. Start it from its own "
                "pretrained layers (start = pretrained), or from random numbers."
            )
        parameter.copy_(theirs[name])


class Teaching:
    """A teacher's answers to a run's rows. `ask` fills it; `loss` and `scores` read it.

    The teacher never changes, so its logits (and states, if they are compared) are computed once and kept.

    scale: the teacher's, for a regression; student_scale: that of the run. labelled: the indices of the rows whose
    label counts, None for all.
    """

    def __init__(
        self,
        teacher: Adapted,
        task: Task,
        scale: Scale,
        student_scale: Scale,
        spec: RunSpec,
        labelled: frozenset[int] | None = None,
    ) -> None:
        self.teacher, self.task, self.spec = teacher, task, spec
        self.scale, self.student_scale = scale, student_scale
        self.labelled = labelled
        self.device = next(iter(teacher.model.parameters())).device
        self._logits = torch.empty(0)
        self._states = torch.empty(0)
        self._answers: dict[int, tuple[Rows, list[float]]] = {}

    def ask(self, examples: Sequence[Example]) -> Iterator[float]:
        """Read the training examples, in batches that depend on them alone, and yield the share that is done."""
        rows = self._rows(examples)
        logits, states, places = [], [], list[int]()
        for batch in ordered_batches(rows.lengths):
            said, state = self._read(rows, batch)
            logits.append(said)
            states.append(state)
            places += batch
            yield len(places) / len(rows)
        order = torch.argsort(torch.tensor(places))  # batches are sorted by length: this puts the rows back in order
        said = torch.cat(logits)[order]
        if self.task.is_regression:
            # From the teacher's unit over the task's own to the student's.
            said = (said * self.scale.spread + self.scale.mean - self.student_scale.mean) / self.student_scale.spread
        self._logits, self._states = said, torch.cat(states)[order]

    def judge(self, rows: Rows, examples: Sequence[Example], stopped: Callable[[], bool] = never) -> None:
        """Keep the teacher's answers to held-out examples; `rows` are the same examples as the student reads them.

        Raises StoppedError.
        """
        own = self._rows(examples)
        parts, places = [], list[int]()
        for batch in unless_stopped(ordered_batches(own.lengths), stopped):
            parts.append(self._read(own, batch)[0])
            places += batch
        logits = torch.cat(parts)[torch.argsort(torch.tensor(places))]
        # Rows are kept too, so that no other object can take over their id.
        self._answers[id(rows)] = (rows, decide(self.task, logits, self.scale))

    def _rows(self, examples: Sequence[Example]) -> Rows:
        """Return the examples as the teacher's own tokenizer reads them."""
        return tokenise(self.teacher.loaded, examples, min(LONGEST_ROW, self.teacher.longest))

    @torch.no_grad()
    def _read(self, rows: Rows, places: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits (places, outputs) and states (places, width), or (places, 0) if the loss does not compare states."""
        inputs, _ = rows.batch(places, self.device)
        with precision(self.device, self.teacher.loaded.architecture):
            if self.compares_states:
                logits, states = self.teacher.logits_and_states(inputs)
                return logits.float().cpu(), states.float().cpu()
            logits = self.teacher.logits(inputs)
        return logits.float().cpu(), torch.empty(len(places), 0)

    @property
    def compares_states(self) -> bool:
        """Whether hidden states are part of the loss."""
        return self.spec.cosine_weight > 0

    def loss(
        self, logits: Tensor, states: Tensor | None, hard: Callable[[list[int]], Tensor], places: Sequence[int]
    ) -> Tensor:
        """Return the weighted sum of the run's terms; a term of weight 0 is not computed, nor the labels' if a batch
        has none.

        logits (places, outputs) and states (places, width) are the student's; hard(rows) is the loss on the labels of
        these rows of the batch.
        """
        spec, terms = self.spec, list[Tensor]()
        known = [row for row, place in enumerate(places) if self.labelled is None or place in self.labelled]
        if spec.soft_weight:
            terms.append(spec.soft_weight * self._soft(logits.float(), self._logits[list(places)].to(logits.device)))
        if spec.hard_weight and known:
            terms.append(spec.hard_weight * hard(known))
        if spec.cosine_weight and states is not None:
            theirs = self._states[list(places)].to(states.device)
            terms.append(spec.cosine_weight * cosine_loss(states.float(), theirs))
        return torch.stack(terms).sum() if len(terms) > 1 else terms[0]

    def _soft(self, student: Tensor, teacher: Tensor) -> Tensor:
        if self.spec.soft_loss == "l2":
            return mse_loss(student, teacher)
        return soft_loss(student, teacher, self.spec.temperature)

    def scores(self, rows: Rows, predicted: Sequence[float]) -> Mapping[str, float]:
        """Return how often the student answers as its teacher does on the first rows; nothing for a regression, where
        answers are never equal.
        """
        if self.task.is_regression or id(rows) not in self._answers:
            return {}
        answers = self._answers[id(rows)][1][: len(predicted)]
        same = sum(one == other for one, other in zip(answers, predicted, strict=True))
        return {AGREEMENT: same / len(predicted)}


def check_teacher(student: Adapted, teacher: Adapted) -> None:
    """Raise BadInputError if hidden states are to be compared and have different widths."""
    widths = [one.fork.config.hidden_size for one in (student, teacher)]
    if student.spec.cosine_weight and widths[0] != widths[1]:
        raise BadInputError(
            f"Hidden states of {widths[0]} and of {widths[1]} numbers have no cosine. Set cosine_weight to 0, or take a "
            "student of the teacher's width."
        )
