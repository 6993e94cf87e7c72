"""The training loop: one generator for every method, which yields after each step and can be stopped and resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from explorer.errors import BadInputError
from explorer.tasks.metrics import LOSS, scores
from explorer.tasks.task import Task
from explorer.tuning.adapted import Adapted
from explorer.tuning.distilling import Teaching
from explorer.tuning.kinds import EVALUATIONS_PER_EPOCH
from explorer.tuning.reading import Reader, Scale, decide, precision
from explorer.tuning.rows import Rows, epoch_batches, never
from explorer.tuning.seeded import SeededDropout
from explorer.tuning.snapshots import Best, better, from_state
from explorer.tuning.spec import QUICK_ROWS, RunSpec

WARM_UP = 0.06
"""The share of steps of linear warm-up, before linear decay: the schedule of the LoRA paper's GLUE runs (Table 9)."""

WEIGHT_DECAY = 0.01
LARGEST_NORM = 1.0
"""BERT's values (section A.2 of its paper has 0.01), for runs this short; the LoRA paper decays by 0.1 on GLUE."""

DIVERGED = 20.0
"""A run has diverged when its loss is this many times its first (or is not a number)."""


@dataclass(frozen=True)
class Update:
    """The news of one step. seconds: spent on it. metrics: on held-out rows, at the steps where they are measured."""

    step: int
    loss: float
    rows: int
    seconds: float
    metrics: dict[str, float | None] | None = None


class Training:
    """One run's optimisation. `step` counts finished steps; iterate `updates()` to train.

    teaching: a teacher's answers to the training rows; a student's loss then replaces the task's own. reference: a
    teacher's scores, if these are only known once the run has begun (explorer.tuning.masked). best: the best evaluation
    so far, if the run keeps its best step.
    """

    def __init__(
        self,
        adapted: Adapted,
        task: Task,
        train: Rows,
        held_out: Rows,
        spec: RunSpec,
        rate: float,
        teaching: Teaching | None = None,
    ) -> None:
        self.teaching = teaching
        self.reference: Mapping[str, float] = {}
        self.best: Best | None = None
        self.adapted, self.task, self.train_rows, self.held_out, self.spec = adapted, task, train, held_out, spec
        self.device = next(iter(adapted.trainable().values())).device
        self.reader = Reader(adapted, self.device)
        self.scale = teaching.student_scale if teaching else Scale.of(train.labels, task)
        self.step = 0
        self.per_epoch = math.ceil(len(train) / spec.batch_size)
        self.steps = self.per_epoch * spec.epochs
        self.rate = rate
        # On a CPU the fused step costs a sixth; on a GPU it wants its `step` there, and load_state puts it on the CPU.
        self.optimizer = torch.optim.AdamW(self._groups(), lr=rate, fused=self.device.type == "cpu" or None)
        self.names = [name for group in self._named_groups() for name in group]
        self._dropouts = [module for module in adapted.model.modules() if isinstance(module, SeededDropout)]
        self._first_loss: float | None = None
        self._smooth = 0.0

    def _named_groups(self) -> list[dict[str, torch.nn.Parameter]]:
        named = self.adapted.trainable()
        decayed = {name: parameter for name, parameter in named.items() if parameter.ndim > 1}
        return [decayed, {name: parameter for name, parameter in named.items() if name not in decayed}]

    def _groups(self) -> list[dict[str, object]]:
        """Return the parameters in two groups: weight decay on matrices, none on biases and vectors."""
        decays = (WEIGHT_DECAY, 0.0)
        return [
            {"params": list(group.values()), "weight_decay": decay}
            for group, decay in zip(self._named_groups(), decays, strict=True)
        ]

    def _rate_at(self, step: int) -> float:
        warm = max(1, round(WARM_UP * self.steps))
        return self.rate * min((step + 1) / warm, (self.steps - step) / max(1, self.steps - warm), 1.0)

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        if self.task.is_regression:
            return mse_loss(logits[:, 0].float(), ((labels - self.scale.mean) / self.scale.spread).float())
        return cross_entropy(logits.float(), labels.long())

    def updates(self) -> Iterator[Update]:
        """Train to the end; leaving the iteration stops it. Raises BadInputError if the loss diverges."""
        for epoch in range(self.step // self.per_epoch, self.spec.epochs):
            batches = epoch_batches(self.train_rows.lengths, self.spec.batch_size, self.spec.seed, epoch)
            for batch in batches[self.step - epoch * self.per_epoch :]:  # a resumed run begins within its epoch
                yield self._one_step(batch)

    def _one_step(self, batch: list[int]) -> Update:
        began = time.perf_counter()
        self.adapted.train()
        for place, dropout in enumerate(self._dropouts):
            # Masks depend on seed, step and module alone, as a resumed run needs.
            dropout.restart(self.spec.seed, self.step, place)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate_at(self.step)
        loss = self._batch_loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(list(self.adapted.trainable().values()), LARGEST_NORM)
        value = float(loss.detach())
        # Before the optimiser's step, which would spoil the weights.
        self._watch(value if math.isfinite(float(norm)) else math.nan)
        self.optimizer.step()
        self.step += 1
        spent = time.perf_counter() - began
        return Update(self.step, value, len(batch), spent, self._evaluated() if self._is_evaluated() else None)

    def _evaluated(self) -> dict[str, float | None]:
        """Return the metrics of this step, and keep the step if it is the best one of a run that keeps it."""
        found = self.quick_scores()
        if self.spec.keep_best:
            self.best = better(self.best, self.step, found, self.task.metrics[0], self.adapted.state)
        return found

    @contextmanager
    def at_best(self) -> Iterator[None]:
        """Give the model its weights of the best step while the context is open, if they are kept; afterwards it can
        train on from its last.
        """
        if self.best is None or self.best.step == self.step:
            yield
            return
        latest = self.adapted.state()
        self.adapted.load_state(self.best.numbers)
        try:
            yield
        finally:
            self.adapted.load_state(latest)

    def _batch_loss(self, batch: list[int]) -> Tensor:
        """Return the task's loss on some training rows, or a student's loss."""
        labels = self.train_rows.labels[batch].float().to(self.device)
        quick = partial(precision, self.device, self.adapted.loaded.architecture)
        if self.teaching is None:
            with quick():
                logits = self.reader.logits(self.train_rows, batch)
            return self._loss(logits, labels)
        states = None
        with quick():
            if self.teaching.compares_states:
                logits, states = self.adapted.logits_and_states(self.train_rows.batch(batch, self.device)[0])
            else:
                logits = self.reader.logits(self.train_rows, batch)
        return self.teaching.loss(logits, states, lambda rows: self._loss(logits[rows], labels[rows]), batch)

    def _watch(self, loss: float) -> None:
        """Raise BadInputError early if the loss diverges."""
        # 0.1: a first loss near 0 would make any later one look like a divergence.
        self._first_loss = self._first_loss if self._first_loss is not None else max(loss, 0.1)
        # Smoothed over about five steps: a single bad batch is no divergence.
        self._smooth = loss if self.step == 0 else 0.8 * self._smooth + 0.2 * loss
        if not math.isfinite(loss) or self._smooth > DIVERGED * self._first_loss:
            raise self._diverged(self.step + 1, loss)

    def _diverged(self, step: int, loss: float) -> BadInputError:
        return BadInputError(
            f"The training diverged: at step {step} the loss is {loss:.3g}, and it began at {self._first_loss:.3g}. "
            f"The learning rate {self.rate:g} is too high; try {self.rate / 10:.0e} or less."
        )

    def _is_evaluated(self) -> bool:
        every = math.ceil(self.per_epoch / EVALUATIONS_PER_EPOCH)
        return self.step % every == 0 or self.step == self.steps

    def predict(self, rows: Rows, count: int | None = None, stopped: Callable[[], bool] = never) -> Tensor:
        """Return the logits of `all_logits`. Raises BadInputError if the last step has made the model diverge, which no
        later loss would show.
        """
        logits, labels = self.reader.all_logits(rows, count, stopped), rows.labels[:count]
        # The loss of logits that are all 0, as of a model that knows nothing.
        loss, ignorant = (float(self._loss(said, labels)) for said in (logits, torch.zeros_like(logits)))
        if self._first_loss is not None and not loss <= DIVERGED * max(ignorant, self._first_loss):
            raise self._diverged(self.step, loss)
        return logits

    @property
    def measured_on(self) -> int:
        """How many held-out examples there are."""
        return len(self.held_out)

    def quick_scores(self) -> dict[str, float | None]:
        """Return the task's metrics on the first held-out rows."""
        return self.held_out_scores(QUICK_ROWS)

    def held_out_scores(self, count: int | None = None, stopped: Callable[[], bool] = never) -> dict[str, float | None]:
        """Return the task's metrics on the first `count` held-out rows, all if None. Raises StoppedError."""
        return self.scored(self.held_out, self.predict(self.held_out, count, stopped))

    def scored(self, rows: Rows, logits: Tensor) -> dict[str, float | None]:
        """Return the task's metrics on the first rows, and their loss; for a student, whose loss is another, the
        agreement with its teacher.

        logits: (rows, outputs), as `predict` returns them.
        """
        labels, predicted = rows.labels[: len(logits)], decide(self.task, logits, self.scale)
        found = scores(self.task, labels.tolist(), predicted)
        if self.teaching:
            return found | dict(self.teaching.scores(rows, predicted))
        return {**found, LOSS: float(self._loss(logits, labels))}

    def state(self) -> dict[str, Tensor]:
        """Return everything that a resumed run needs: the trained weights, the optimiser's moments, the step."""
        kept = {f"model.{name}": tensor for name, tensor in self.adapted.state().items()}
        for name, parameter in zip(self.names, self._parameters(), strict=True):
            for key, value in self.optimizer.state.get(parameter, {}).items():
                kept[f"optimizer.{key}.{name}"] = value.detach().cpu().clone().contiguous()
        # -1: no loss yet, since a tensor has no None.
        watched = [self.step, -1.0 if self._first_loss is None else self._first_loss, self._smooth]
        best = self.best.state() if self.best else {}
        return kept | best | {"progress": torch.tensor(watched, dtype=torch.float64)}

    def load_state(self, kept: Mapping[str, Tensor]) -> None:
        """Go on from a result of `state`."""
        self.adapted.load_state({name[6:]: value for name, value in kept.items() if name.startswith("model.")})
        for name, parameter in zip(self.names, self._parameters(), strict=True):
            moments = {
                key: kept[f"optimizer.{key}.{name}"].to(parameter.device if key != "step" else "cpu")
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"optimizer.{key}.{name}" in kept
            }
            if moments:
                self.optimizer.state[parameter] = moments
        step, first, self._smooth = kept["progress"].tolist()
        self.step, self._first_loss = int(step), None if first < 0 else first
        self.best = from_state(kept)

    def _parameters(self) -> list[torch.nn.Parameter]:
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
