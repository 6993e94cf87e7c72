"""The work of one run that pretrains: learn a vocabulary, train, report as it goes, keep a model that transformers opens."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from explorer.errors import storage_error
from explorer.models.loaded_model import LoadedModel
from explorer.runs.record import Outcome
from explorer.runs.store import RESUME
from explorer.runs.working import TURNS, Working
from explorer.scratch.models import build, learn_vocabulary
from explorer.scratch.spec import ScratchSpec
from explorer.scratch.text import Documents
from explorer.scratch.training import ScratchTraining
from explorer.tuning.training import Update

HELD_OUT = "held-out"
FLOAT_BYTES = 4
STATE_NUMBERS = 4
"""Numbers in memory for each trained parameter: itself, its gradient, and Adam's two moments."""


@dataclass
class ScratchWorker(Working):
    """A pretraining run in progress. start: the BERT that it continues from, or None for random weights."""

    documents: Documents
    device: torch.device
    start: LoadedModel | None = None

    @property
    def spec(self) -> ScratchSpec:
        """The run's settings."""
        spec = self.record.spec
        assert isinstance(spec, ScratchSpec)
        return spec

    def _work(self) -> None:
        self._say(message="Learning the vocabulary" if self.start is None else "Reading the text", outcome=None)
        tokenizer = self._tokenizer()
        training = ScratchTraining(
            self.spec, build(self.spec, tokenizer, self.start), self.documents, tokenizer, self.device
        )
        if (self.folder / RESUME).exists():
            self._go_on(training)
        self._announce(training)
        if not self.stopping.is_set():
            self._train(training)
        self._finish(training)

    def _tokenizer(self) -> PreTrainedTokenizerBase:
        if self.start is not None:
            return self.start.tokenizer
        texts = (paragraph for document in self.documents.train for paragraph in document)
        return learn_vocabulary(texts, self.spec.vocabulary)

    def _announce(self, training: ScratchTraining) -> None:
        """Report the run's numbers once everything is loaded, and measure and sample the model before the first step."""
        parameters = sum(parameter.numel() for parameter in training.named.values())
        self._say(
            steps=training.steps,
            step=training.step,
            steps_per_epoch=max(1, training.drawn.an_epoch // self.spec.batch_size),
            examples=training.drawn.an_epoch,
            # A record may be ahead of its checkpoint, and these steps are done again.
            losses=tuple(point for point in self.record.losses if point[0] <= training.step),
            evaluations=tuple(point for point in self.record.evaluations if point[0] <= training.step),
            said=tuple(one for one in self.record.said if one.step <= training.step),
            trainable=parameters,
            parameters=parameters,
            checkpoint_bytes=FLOAT_BYTES * parameters,
            memory_estimate=FLOAT_BYTES * STATE_NUMBERS * parameters,
            seconds=self.record.seconds if training.step else 0.0,
            message="",
        )
        if not training.step:
            with TURNS:  # one run computes at a time
                first, said = training.scores(), training.said()
            self._say(evaluations=((0, first),), whole=(0,), said=said)

    def _noted(self, training: ScratchTraining, update: Update) -> dict[str, Any]:
        """Return what a step adds to the record: the model's samples when they are due; here all measurements are on
        all held-out rows.
        """
        noted: dict[str, Any] = {}
        if update.metrics is not None:
            noted["whole"] = (*self.record.whole, update.step)
        if said := training.said():
            noted["said"] = (*self.record.said, *said)
        return noted

    def _finish(self, training: ScratchTraining) -> None:
        """Measure, and keep the model as `from_pretrained` reads it: that of the best step if the run is to end with it."""
        if not training.step:
            self._nothing_trained()
            return
        with TURNS:
            # Measured before the best weights are put back, since the curve's last point is that of the last step.
            scores = training.scores()
        with training.at_best():
            self._keep(training)
        kept = training.best.step if training.best else 0
        rows = sum(len(batch.input_ids) for batch in training.measured)
        curve = {**scores, **dict(self.record.evaluations).get(training.step, {})}
        evaluations = {**dict(self.record.evaluations), training.step: curve}
        asked = {one.step for one in self.record.said}
        self._say(
            outcome=Outcome({HELD_OUT: evaluations[kept or training.step]}, {HELD_OUT: rows}),
            evaluations=tuple(evaluations.items()),
            whole=tuple(sorted({*self.record.whole, training.step})),
            said=self.record.said if training.step in asked else (*self.record.said, *training.answers()),
            kept=kept,
            **self._ended(training),
        )

    def _keep(self, training: ScratchTraining) -> None:
        """Save the model and, for ELECTRA, the generator, each in a folder with the step in its name; those of earlier
        steps are removed.

        Raises StorageError if the disk does not take them.
        """
        try:
            for name, part in training.learner.parts().items():
                kept = self.folder / f"{name}-{training.step}"
                save(part, training.tokenizer, kept)
                for older in self.folder.glob(f"{name}-*"):
                    if older != kept:
                        shutil.rmtree(older, ignore_errors=True)
        except OSError as error:
            raise storage_error("the model of this run", error) from error


def save(model: Any, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write weights as safetensors, with config and tokenizer."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
