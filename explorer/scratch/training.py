"""The steps of a pretraining run: a generator that can be stopped and resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.scratch.learning import Learner, say
from explorer.scratch.rows import Drawn
from explorer.scratch.spec import NOTHING, OBJECTIVES, TRAINING, Said, ScratchSpec
from explorer.scratch.text import Documents
from explorer.tuning.snapshots import Best, from_state
from explorer.tuning.training import Update

PEAK_RATES = {True: 4e-3, False: 2e-4}
"""The peak learning rate by whether training begins at random weights or continues from a model."""

WEIGHT_DECAY, LARGEST_NORM = 0.01, 1.0
"""BERT's weight decay (Devlin et al. 2019, A.2), and the gradient norm of its code."""
BETAS = (0.9, 0.98)
"""Adam's betas as in RoBERTa (Liu et al. 2019, section 3.1); at 0.999 a run this short ends before the second moments
have settled.
"""

MEASURED_TIMES = 40
"""How often held-out rows are measured and the model is sampled, besides the first steps, which are measured more closely."""
DIVERGED = 3.0
"""A run has diverged when its loss is this many times its first (or is not a number)."""


class ScratchTraining:
    """One run's optimisation. `step` counts finished steps; iterate `updates()` to train."""

    def __init__(
        self,
        spec: ScratchSpec,
        model: nn.Module,
        documents: Documents,
        tokenizer: PreTrainedTokenizerBase,
        device: torch.device,
    ) -> None:
        self.spec, self.tokenizer, self.device = spec, tokenizer, device
        self.learner = Learner(spec, model, device)
        self.drawn = Drawn(spec, documents, tokenizer)
        self.measured = self.drawn.measured()
        self.step, self.steps = 0, spec.steps
        self.rate = spec.learning_rate or PEAK_RATES[spec.model == NOTHING]
        self.named: dict[str, nn.Parameter] = {
            name: parameter for name, parameter in self.learner.model.named_parameters() if parameter.requires_grad
        }
        matrices = [parameter for parameter in self.named.values() if parameter.ndim > 1]
        vectors = [parameter for parameter in self.named.values() if parameter.ndim <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}],
            lr=self.rate,
            betas=BETAS,
            fused=device.type == "cpu" or None,
        )
        self._first_loss: float | None = None
        self._since: list[dict[str, float]] = []
        self.best: Best | None = None

    def _rate_at(self, step: int) -> float:
        """Return the learning rate of a step: linear warm-up, then linear decay to zero."""
        warm = max(1, round(self.spec.warmup * self.steps))
        return self.rate * min((step + 1) / warm, (self.steps - step) / max(1, self.steps - warm), 1.0)

    def updates(self) -> Iterator[Update]:
        """Train to the end; leaving the iteration stops it. Raises BadInputError if the loss diverges."""
        while self.step < self.steps:
            yield self._one_step()

    def _one_step(self) -> Update:
        began = time.perf_counter()
        self.learner.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate_at(self.step)
        batch = self.drawn.batch(self.step)
        loss = self.learner.loss(batch, self.step)
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        torch.nn.utils.clip_grad_norm_(self.named.values(), LARGEST_NORM)
        value = float(loss.total.detach())
        self._watch(value)  # before the optimiser's step, which would spoil the weights
        self.optimizer.step()
        self.step += 1
        self._since.append(loss.figures)
        spent = time.perf_counter() - began
        return Update(self.step, value, len(batch.input_ids), spent, self.scores() if self._is_due() else None)

    def _watch(self, loss: float) -> None:
        self._first_loss = loss if self._first_loss is None else self._first_loss
        if not math.isfinite(loss) or loss > DIVERGED * self._first_loss:
            raise BadInputError(
                f"The training diverged: at step {self.step + 1} the loss is {loss:.3g}, and it began at "
                f"{self._first_loss:.3g}. The peak rate {self.rate:g} is too high; try {self.rate / 10:.0e} or less."
            )

    def _is_due(self) -> bool:
        """Return whether to measure now: at each doubling of the step, then MEASURED_TIMES times at equal distances,
        and at the end.
        """
        every = max(1, self.steps // MEASURED_TIMES)
        early = self.step < every and self.step & (self.step - 1) == 0  # a power of two has one bit set
        return early or self.step % every == 0 or self.step == self.steps

    def scores(self) -> dict[str, float | None]:
        """Return each loss and accuracy on the held-out rows, and the losses' means over the training steps since the
        last call.
        """
        found: dict[str, float | None] = dict(self.learner.measure(self.measured))
        for name in [name for name in found if name.endswith("_loss")]:
            values = [figures[name] for figures in self._since if name in figures]
            if values:
                found[TRAINING + name] = sum(values) / len(values)
        self._since = []
        self._look_for_best(found)
        return found

    def _look_for_best(self, found: Mapping[str, float | None]) -> None:
        """Keep the weights with the lowest held-out loss so far, if the run keeps its best step."""
        loss = found[OBJECTIVES[self.spec.objective].losses[0]]
        if self.spec.keep_best and self.step and loss is not None and (self.best is None or loss < self.best.loss):
            numbers = {name: parameter.detach().cpu().clone() for name, parameter in self.named.items()}
            self.best = Best(self.step, -loss, loss, numbers)  # Best wants a score to maximise

    @contextmanager
    def at_best(self) -> Iterator[None]:
        """Give the model its weights of the best step while the context is open, if they are kept; afterwards it can
        train on from its last.
        """
        if self.best is None or self.best.step == self.step:
            yield
            return
        last = {name: parameter.detach().clone() for name, parameter in self.named.items()}
        self._put(self.best.numbers)
        try:
            yield
        finally:
            self._put(last)

    @torch.no_grad()
    def _put(self, numbers: Mapping[str, Tensor]) -> None:
        for name, parameter in self.named.items():
            parameter.copy_(numbers[name])

    def said(self) -> tuple[Said, ...]:
        """Return the model's answer to each probe at this step; nothing if none is due."""
        return self.answers() if self.step == 0 or self._is_due() else ()

    def answers(self) -> tuple[Said, ...]:
        """Return the model's answers now."""
        longest = self.learner.model.config.max_position_embeddings if hasattr(self.learner.model, "config") else 128
        return tuple(
            one
            for text in self.spec.questions
            for one in say(self.learner.model, self.tokenizer, text, self.step, min(longest, 128))
        )

    def state(self) -> dict[str, Tensor]:
        """Return everything that a resumed run needs: the weights, the optimiser's moments, the step."""
        kept = {f"model.{name}": parameter.detach().cpu().clone() for name, parameter in self.named.items()}
        for name, parameter in self.named.items():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                kept[f"optimizer.{key}.{name}"] = value.detach().cpu().clone()
        kept |= self.best.state() if self.best else {}
        return kept | {"progress": torch.tensor([self.step, self._first_loss or 0.0], dtype=torch.float64)}

    def load_state(self, kept: Mapping[str, Tensor]) -> None:
        """Go on from a result of `state`. Raises KeyError or RuntimeError for another run's."""
        self._put({name: kept[f"model.{name}"] for name in self.named})
        for name, parameter in self.named.items():
            moments: dict[str, Any] = {
                key: kept[f"optimizer.{key}.{name}"].to(parameter.device if key != "step" else "cpu")
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"optimizer.{key}.{name}" in kept
            }
            if moments:
                self.optimizer.state[parameter] = moments
        step, first = kept["progress"].tolist()
        self.step, self._first_loss = int(step), first or None
        self.best = from_state(kept)
