"""Distillation on plain text: a student learns hidden words, and its teacher's guesses of them.

The teacher is the whole model from which the student's layers are taken. Source: Sanh et al. 2019, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.maths.distillation import cosine_loss, soft_loss
from explorer.models.heads import head_at
from explorer.models.hiding import Masker
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example, Task
from explorer.tuning.adapted import Adapted
from explorer.tuning.distilling import AGREEMENT
from explorer.tuning.forks import fork_masked
from explorer.tuning.reading import precision
from explorer.tuning.rows import Rows, never, ordered_batches, tokenise, unless_stopped
from explorer.tuning.spec import RunSpec
from explorer.tuning.training import Training

ACCURACY, MASKED_LOSS = "accuracy", "masked_loss"
"""Metrics on the hidden words of held-out texts: the share that is guessed, and the mean of −ln p."""

LEARNT = CorruptionRecipe()
"""Training's recipe, BERT's own: 15% of the tokens, of which 80% become [MASK], 10% another token, and 10% stay."""

MEASURED = CorruptionRecipe(mask_share=1.0, random_share=0.0)
"""The recipe for measuring: 15% of the tokens are all shown as [MASK], always the same ones, whatever the run's seed."""

MEASURED_KEY = 2**31  # training's keys are of two numbers, a seed and an epoch, so none is equal


@dataclass(frozen=True)
class Hidden:
    """A batch with hidden words. chosen: (rows, length), True at hidden tokens. truth: (chosen,), these tokens' ids."""

    inputs: dict[str, Tensor]
    chosen: Tensor
    truth: Tensor


class Masks(Masker):
    """Hides words; which ones depends on a row's number and a key alone, so that a resumed run hides the same ones."""

    def hide(self, rows: Rows, places: Sequence[int], recipe: CorruptionRecipe, *key: int) -> Hidden:
        """Pad some rows and hide words in each."""
        inputs, _ = rows.batch(places, torch.device("cpu"))
        labels = torch.full_like(inputs["input_ids"], IGNORED_LABEL)
        for row, place in enumerate(places):
            tokens = rows.inputs[place]["input_ids"]
            seed = np.random.SeedSequence((*key, place)).generate_state(1, np.uint64)[0]
            drawn = torch.Generator().manual_seed(int(seed))
            hidden = self.corrupt(tokens, recipe, drawn)
            inputs["input_ids"][row, : len(tokens)] = hidden.input_ids
            labels[row, : len(tokens)] = hidden.labels
        chosen = labels != IGNORED_LABEL
        return Hidden(inputs, chosen, labels[chosen])


def rows_of(loaded: LoadedModel, examples: Sequence[Example], longest: int) -> Rows:
    """Return the texts' tokens, without texts in which nothing can be hidden. Raises BadInputError if none is left."""
    rows, special = tokenise(loaded, examples, longest), set(loaded.tokenizer.all_special_ids)
    kept = [place for place, row in enumerate(rows.inputs) if not special.issuperset(row["input_ids"])]
    if not kept:
        raise BadInputError(
            f"{loaded.model_id} knows none of the words of this text, so there is nothing to hide. Take another."
        )
    return replace(rows, inputs=tuple(rows.inputs[place] for place in kept), labels=rows.labels[kept])


def read_masked(model: PreTrainedModel, inputs: dict[str, Tensor], chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Return logits at the chosen positions, (chosen, vocabulary), and the last states of all, (rows, length, width)."""
    # The head's matrix is as large as the vocabulary: at other positions it would be wasted.
    with head_at(model, chosen) as seen:
        logits: Tensor = model(**inputs).logits[0]
    return logits, seen[-1]


class MaskedTraining(Training):
    """A student's optimisation on hidden words. `reference` is its teacher's scores on the same held-out words.

    Raises MissingCapabilityError for a model that fills no masks.
    """

    def __init__(self, adapted: Adapted, task: Task, train: Rows, held_out: Rows, spec: RunSpec, rate: float) -> None:
        super().__init__(adapted, task, train, held_out, spec, rate)
        self.teacher: PreTrainedModel = fork_masked(adapted.loaded)
        self.masks = Masks(adapted.loaded.tokenizer)
        self._answers: dict[int, tuple[Rows, list[Tensor]]] = {}
        self.guesses = torch.empty(0, dtype=torch.long)

    def _batch_loss(self, batch: list[int]) -> Tensor:
        """Return w_soft T² KL + w_mlm MLM + w_cos (1 - cos); a term of weight 0 is not computed, nor a teacher that no
        term needs.
        """
        spec, epoch = self.spec, self.step // self.per_epoch
        # The epoch is in the key, so other words are hidden each time (dynamic masking), and the teacher is asked at
        # each step.
        hidden = self.masks.hide(self.train_rows, batch, LEARNT, spec.seed, epoch)
        logits, states = self._read(self.adapted.fork, hidden)
        terms = []
        if spec.soft_weight or spec.cosine_weight:
            with torch.no_grad():
                wanted, theirs = self._read(self.teacher, hidden)
            if spec.soft_weight:
                soft = (
                    mse_loss(logits, wanted) if spec.soft_loss == "l2" else soft_loss(logits, wanted, spec.temperature)
                )
                terms.append(spec.soft_weight * soft)
            if spec.cosine_weight:
                words = hidden.inputs["attention_mask"].bool().to(self.device)
                terms.append(spec.cosine_weight * cosine_loss(states[words], theirs[words]))
        if spec.hard_weight:
            terms.append(spec.hard_weight * cross_entropy(logits, hidden.truth.to(self.device)))
        return torch.stack(terms).sum()

    def _read(self, model: PreTrainedModel, hidden: Hidden) -> tuple[Tensor, Tensor]:
        """Return logits and states as float32; matrix products are in bfloat16 if the processor has it."""
        inputs = self.adapted.taken({name: tensor.to(self.device) for name, tensor in hidden.inputs.items()})
        with precision(self.device, self.adapted.loaded.architecture):
            logits, states = read_masked(model, inputs, hidden.chosen.to(self.device))
        return logits.float(), states.float()

    def held_out_scores(self, count: int | None = None, stopped: Callable[[], bool] = never) -> dict[str, float | None]:
        """Return the scores of `measured`, on the first held-out rows."""
        return self.measured(self.held_out, count, stopped)[0]

    def measured(
        self, rows: Rows, count: int | None = None, stopped: Callable[[], bool] = never
    ) -> tuple[dict[str, float | None], int]:
        """Return accuracy, loss and agreement with the teacher on the hidden words of the first rows, and how many
        words these are.

        The teacher is asked once, about all rows. Raises BadInputError if the last step has made the student diverge,
        and StoppedError.
        """
        self.adapted.eval()
        if id(rows) not in self._answers:
            guesses, self.reference = self._guess(self.teacher, rows, None, stopped)
            # Rows are kept too, so that no other object can take over their id.
            self._answers[id(rows)] = (rows, guesses)
        own, scores = self._guess(self.adapted.fork, rows, count, stopped)
        if not math.isfinite(scores[MASKED_LOSS]):
            raise self._diverged(self.step, scores[MASKED_LOSS])
        self.guesses, theirs = torch.cat(own), torch.cat(self._answers[id(rows)][1][: len(own)])
        return {**scores, AGREEMENT: float((self.guesses == theirs).double().mean())}, len(self.guesses)

    def truths(self, rows: Rows) -> Tensor:
        """Return the words that are hidden for measuring, (words,), in the order of `guesses`, of the rows measured last."""
        return torch.cat([self.masks.hide(rows, [place], MEASURED, MEASURED_KEY).truth for place in range(len(rows))])

    @torch.no_grad()
    def _guess(
        self, model: PreTrainedModel, rows: Rows, count: int | None, stopped: Callable[[], bool]
    ) -> tuple[list[Tensor], dict[str, float]]:
        """Return the guesses of every hidden word, one tensor a row, with their accuracy and loss."""
        guesses = [torch.empty(0)] * len(rows.lengths[:count])
        right, loss, words = 0, 0.0, 0
        for batch in unless_stopped(ordered_batches(rows.lengths[:count]), stopped):
            hidden = self.masks.hide(rows, batch, MEASURED, MEASURED_KEY)
            logits = self._read(model, hidden)[0].cpu()
            found = logits.argmax(-1)
            right += int((found == hidden.truth).sum())
            loss += float(cross_entropy(logits, hidden.truth, reduction="sum"))
            words += len(hidden.truth)
            for place, guess in zip(batch, found.split(hidden.chosen.sum(-1).tolist()), strict=True):
                guesses[place] = guess
        return guesses, {ACCURACY: right / words, MASKED_LOSS: loss / words}
