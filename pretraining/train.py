"""The training loop: any objective's loss, a schedule over the steps, checkpoints to resume from."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.models.records import FURTHER, read_further
from explorer.tuning.reading import has_bfloat16, precision
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.base import Place
from pretraining.recipes import TrainingRecipe
from pretraining.schedule import rate_factor, stage_at

CHECKPOINT_SECONDS = 300
LOG_STEPS = 20


def work_folder(work: Path, name: str, times: int) -> Path:
    """Return the folder of a training's checkpoint and log. times: how often the model has gone on, this time included."""
    return work / (name + "-further" * (times > 0) + f"-{times}" * (times > 1))


class Trainer:
    """One run of a recipe; its checkpoint and its log are in a folder of its name below the place's work folder."""

    def __init__(self, recipe: TrainingRecipe, place: Place) -> None:
        self.recipe, self.work = recipe, work_folder(place.work, recipe.name, len(recipe.further))
        self.work.mkdir(parents=True, exist_ok=True)
        self.pretrainer = PRETRAINERS[recipe.objective](recipe, place)
        self.model: Any = self.pretrainer.model
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(self.device)
        if self.device.type == "cpu":
            # On short rows torch's fused attention is slower there: 3,650 tokens/s of bert-mini against 4,720.
            for module in self.model.modules():
                if isinstance(module, PreTrainedModel):
                    module.set_attn_implementation("eager")
        for name, parameter in self.model.named_parameters():
            if name == self.pretrainer.word_embeddings:
                parameter.requires_grad_(recipe.embedding_learning_rate > 0)
        self._without_dropout()
        self.optimizer = self._optimizer()
        self.step, self.seconds, self.tokens = 0, 0.0, 0

    def _without_dropout(self) -> None:
        """A run this short never sees a text often enough to need dropout."""
        for module in self.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0

    def _optimizer(self) -> torch.optim.Optimizer:
        groups: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((self.pretrainer.peak_rate(name), parameter.ndim > 1), []).append(parameter)
        decay = self.recipe.weight_decay
        return torch.optim.AdamW(
            [
                {"params": parameters, "peak": peak, "weight_decay": decay if is_matrix else 0.0}
                for (peak, is_matrix), parameters in groups.items()
            ],
            betas=(0.9, 0.98),
            fused=True,
        )

    @property
    def progress(self) -> float:
        """The share of the recipe's steps that is done, in [0, 1]."""
        return min(1.0, self.step / self.recipe.steps)

    def run(self) -> Iterator[dict[str, Any]]:
        """Train to the recipe's last step, one dict of figures a step."""
        self.model.train()
        saved = time.monotonic()
        while self.progress < 1.0:
            began = time.monotonic()
            figures = self._one_step()
            self.seconds += time.monotonic() - began
            self.step += 1
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                self.save_checkpoint()
                saved = time.monotonic()
            yield figures | {"step": self.step, "seconds": self.seconds, "tokens": self.tokens}
        self.save_checkpoint()

    def _one_step(self) -> dict[str, Any]:
        batch = self.pretrainer.draw(self.step, stage_at(self.recipe, self.progress))
        factor = rate_factor(self.recipe, self.progress)
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * max(factor, 1e-3)
        with precision(self.device):
            loss = self.pretrainer.loss(batch, self.step)
        loss.total.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.tokens += int(batch.attention_mask.sum())
        return dict(loss.figures)

    def save_checkpoint(self) -> None:
        """Write weights, optimizer state and counters; the file is replaced only once it is complete."""
        partial = self.work / "checkpoint.partial"
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "counters": (self.step, self.seconds, self.tokens),
        }
        torch.save(state, partial)
        partial.rename(self.work / "checkpoint.pt")

    def resume(self) -> bool:
        """Go on from the work folder's checkpoint; False where there is none."""
        path = self.work / "checkpoint.pt"
        if not path.exists():
            return False
        state = torch.load(path, weights_only=True, map_location=self.device)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds, self.tokens = state["counters"]
        return True


class Means:
    """The means of figures over some steps; a figure counts on the steps that have it (not every row is a pair)."""

    def __init__(self) -> None:
        self.sums: dict[str, tuple[float, int]] = {}

    def add(self, figures: Mapping[str, float]) -> None:
        """Take in one step's losses and accuracies."""
        for name, value in figures.items():
            total, count = self.sums.get(name, (0.0, 0))
            self.sums[name] = total + value, count + 1

    def take(self) -> dict[str, float]:
        """The means so far; the next ones begin anew."""
        means = {name: total / count for name, (total, count) in self.sums.items()}
        self.sums = {}
        return means


COUNTERS = ("step", "seconds", "tokens")


def train(recipe: TrainingRecipe, place: Place) -> list[Path]:
    """Train (or resume) a recipe and export what it makes; progress on the terminal, figures in the run's log.jsonl.

    Returns the folders of the finished models, each with the recipe in a record (training.json, or one more entry of
    further.json) beside the weights. Raises BadInputError if the model has not gone on before as the recipe says.
    """
    before = _times_before(recipe, place)
    trainer = Trainer(recipe, place)
    if trainer.resume():
        print(f"resumed at step {trainer.step} of {recipe.steps}")
    means, path = Means(), trainer.work / "log.jsonl"
    _forget_later(path, trainer.step)
    with (
        path.open("a") as log,
        tqdm(total=recipe.steps, initial=trainer.step, unit="step", mininterval=5.0) as bar,
    ):
        tokens, seconds = trainer.tokens, trainer.seconds
        for figures in trainer.run():
            counters = {name: figures.pop(name) for name in COUNTERS}
            means.add(figures)
            bar.update()
            if counters["step"] % LOG_STEPS == 0:
                pace = (counters["tokens"] - tokens) / max(counters["seconds"] - seconds, 1e-9)
                tokens, seconds = counters["tokens"], counters["seconds"]
                left = seconds / counters["step"] * (recipe.steps - counters["step"])
                shown = means.take()
                entry = counters | {"tokens_per_second": round(pace), "seconds_left": round(left)} | shown
                log.write(json.dumps(entry) + "\n")
                log.flush()
                bar.set_postfix(tokens_s=round(pace), **{name: f"{value:.3f}" for name, value in shown.items()})
    about = dataclasses.asdict(recipe) | {"steps": trainer.step, "tokens_seen": trainer.tokens}
    about |= {"seconds": round(trainer.seconds), "bfloat16": has_bfloat16(trainer.device)}
    outputs = trainer.pretrainer.export(place.models)
    record = FURTHER if recipe.further else trainer.pretrainer.record
    for output in outputs:
        (output / record).write_text(json.dumps([*before, about] if recipe.further else about, indent=2) + "\n")
    return outputs


def _times_before(recipe: TrainingRecipe, place: Place) -> list[dict[str, Any]]:
    found, wanted = read_further(place.models / recipe.name), list(recipe.further[:-1])
    steps = [one["steps"] for one in found]
    if steps[: len(wanted)] != wanted:
        asked, told = (" and ".join(f"{count:,}" for count in counts) or "no" for counts in (wanted, steps))
        raise BadInputError(
            f"{recipe.name} was to have gone on for {asked} steps before, and its {FURTHER} tells of {told}: run those first."
        )
    return found[: len(wanted)]


def _forget_later(log: Path, step: int) -> None:
    """Drop the entries after a checkpoint's step: the run will write them again."""
    if log.exists():
        lines = log.read_text().splitlines()
        kept = [line for line in lines if json.loads(line)["step"] <= step]
        log.write_text("".join(f"{line}\n" for line in kept))
