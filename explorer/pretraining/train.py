"""The training loop: both BERT losses, a schedule over the steps, checkpoints to resume from."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import BertForPreTraining, BertTokenizer, PreTrainedTokenizerBase

from explorer.pretraining import minilm, warm_start
from explorer.pretraining.batches import Batch, Row, RowMaker, TextStore, collate
from explorer.pretraining.corpus import SOURCES
from explorer.pretraining.recipes import Stage, TrainingRecipe

CHECKPOINT_SECONDS = 300
LOG_STEPS = 20
EVERYDAY_SHARE = 0.6
"""Of the rows of one sentence, how many come from collections of single sentences; the rest from running text."""


def load_stores(corpus: Path, tokenizer: PreTrainedTokenizerBase, cache: Path) -> dict[str, TextStore]:
    """Tokenise every text file of a folder but the held-out ones."""
    held_out = {source.name for source in SOURCES if source.held_out}
    return {
        path.stem: TextStore.cached(path, tokenizer, cache)
        for path in sorted(corpus.glob("*.txt"))
        if path.stem not in held_out
    }


def unigram_counts(stores: dict[str, TextStore], vocabulary: int) -> torch.Tensor:
    """How often each token occurs: (vocabulary,), float32."""
    counts = torch.zeros(vocabulary)
    for store in stores.values():
        counts += torch.from_numpy(np.bincount(store.ids, minlength=vocabulary))
    return counts


def starting_model(
    recipe: TrainingRecipe, work: Path, tokenizer: PreTrainedTokenizerBase, counts: torch.Tensor
) -> BertForPreTraining:
    """The recipe's model before training, from the encoder that it starts with."""
    if recipe.start == "minilm":
        return minilm.bert_mini(work, tokenizer, counts)
    return warm_start.bert_small(work, counts)


class BatchStream:
    """Draws the batch of any step; the draw depends on seed and step alone, so a resumed run goes on unchanged."""

    def __init__(
        self, recipe: TrainingRecipe, stores: dict[str, TextStore], tokenizer: PreTrainedTokenizerBase
    ) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer
        self.maker = RowMaker(int(tokenizer.cls_token_id), int(tokenizer.sep_token_id))
        single = {name: store.sentences < 2 * (store.documents[-1] + 1) for name, store in stores.items()}
        self.short = [store for name, store in stores.items() if single[name]] or list(stores.values())
        self.long = [store for name, store in stores.items() if not single[name]] or self.short
        names = [name for name, store in stores.items() if store in self.long]
        weights = np.array([recipe.source_weights.get(name, len(stores[name].ids) / 1e8) for name in names])
        self.weights = weights / weights.sum()
        special = set(tokenizer.all_special_ids)
        self.replacements = torch.tensor([i for i in range(len(tokenizer)) if i not in special])

    def draw(self, step: int, stage: Stage) -> Batch:
        """The batch of one step."""
        rng = np.random.default_rng((self.recipe.seed, step))
        kind = rng.choice(["text", "sentence", "pair"], p=[stage.text, stage.sentence, stage.pair])
        length = self.recipe.sentence_length if kind == "sentence" else stage.length
        rows = [self._row(kind, length, rng) for _ in range(self.recipe.tokens_per_step // length)]
        generator = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + step)
        return collate(rows, self.recipe.corruption, self.tokenizer, self.replacements, generator)

    def _row(self, kind: str, length: int, rng: np.random.Generator) -> Row:
        if kind == "sentence" and rng.random() < EVERYDAY_SHARE:
            return self.maker.sentence(self.short[int(rng.integers(len(self.short)))], length, rng)
        store = self.long[int(rng.choice(len(self.long), p=self.weights))]
        if kind == "sentence":
            return self.maker.sentence(store, length, rng)
        return self.maker.text(store, length, rng) if kind == "text" else self.maker.pair(store, length, rng)


def losses(model: BertForPreTraining, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """MLM and NSP loss of one batch; only the chosen positions go through the MLM head. NSP is 0 without pairs."""
    device = model.device
    padded = bool((batch.attention_mask == 0).any())
    states = model.bert(
        batch.input_ids.to(device),
        attention_mask=batch.attention_mask.to(device) if padded else None,
        token_type_ids=batch.token_type_ids.to(device),
    )
    chosen = batch.labels >= 0
    logits = model.cls.predictions(states.last_hidden_state[chosen.to(device)])
    mlm = cross_entropy(logits.float(), batch.labels[chosen].to(device))
    if not bool((batch.pair_labels >= 0).any()):
        return mlm, torch.zeros((), device=device)
    pair_logits = model.cls.seq_relationship(states.pooler_output)
    return mlm, cross_entropy(pair_logits.float(), batch.pair_labels.to(device))


def stage_at(recipe: TrainingRecipe, progress: float) -> Stage:
    """The stage that holds at a share of the steps in [0, 1]."""
    passed = 0.0
    for stage in recipe.stages:
        passed += stage.share
        if progress < passed:
            return stage
    return recipe.stages[-1]


def rate_factor(recipe: TrainingRecipe, progress: float) -> float:
    """Linear warm-up, then linear decay to zero at progress 1."""
    return min(progress / recipe.warmup_share, (1.0 - progress) / (1.0 - recipe.warmup_share))


def peak_rate(recipe: TrainingRecipe, parameter: str) -> float:
    """The highest learning rate of a parameter, by its name: parts that are new learn faster than the encoder."""
    if parameter == "bert.embeddings.word_embeddings.weight":
        return recipe.embedding_learning_rate
    new = parameter.startswith(("cls.", "bert.pooler.", "bert.embeddings.token_type_embeddings."))
    return recipe.head_learning_rate if new else recipe.learning_rate


class Trainer:
    """One run of a recipe in a work folder, which holds the tokenised text, the checkpoint and the log."""

    def __init__(self, recipe: TrainingRecipe, corpus: Path, work: Path) -> None:
        self.recipe, self.work = recipe, work
        work.mkdir(parents=True, exist_ok=True)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = warm_start.load_tokenizer(work)
        stores = load_stores(corpus, self.tokenizer, work / "tokens")
        self.model = starting_model(recipe, work, self.tokenizer, unigram_counts(stores, len(self.tokenizer)))
        self.model.to(device)  # type: ignore[arg-type]
        if device == "cpu":
            # On short rows torch's fused attention is slower there: 3,650 tokens/s of bert-mini against 4,720.
            self.model.set_attn_implementation("eager")
        self.stream = BatchStream(recipe, stores, self.tokenizer)
        self.model.bert.embeddings.word_embeddings.weight.requires_grad_(recipe.embedding_learning_rate > 0)
        self._without_dropout()
        self.optimizer = self._optimizer()
        self.step, self.seconds, self.tokens = 0, 0.0, 0

    def _without_dropout(self) -> None:
        """A run this short never sees a text often enough to need dropout."""
        for module in self.model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0

    def _optimizer(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        groups: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                groups.setdefault((peak_rate(recipe, name), parameter.ndim > 1), []).append(parameter)
        return torch.optim.AdamW(
            [
                {"params": parameters, "peak": peak, "weight_decay": recipe.weight_decay if is_matrix else 0.0}
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
        batch = self.stream.draw(self.step, stage_at(self.recipe, self.progress))
        factor = rate_factor(self.recipe, self.progress)
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * max(factor, 1e-3)
        with torch.autocast(self.model.device.type, dtype=torch.bfloat16):
            mlm, pair = losses(self.model, batch)
        (mlm + pair).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.tokens += int(batch.attention_mask.sum())
        return {"mlm_loss": float(mlm.detach()), "pair_loss": float(pair.detach())}

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
        state = torch.load(path, weights_only=True, map_location=self.model.device)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds, self.tokens = state["counters"]
        return True


def train(recipe: TrainingRecipe, corpus: Path, work: Path, output: Path) -> None:
    """Train (or resume) a recipe and export the model; progress on the terminal, figures in `work`/log.jsonl."""
    trainer = Trainer(recipe, corpus, work)
    if trainer.resume():
        print(f"resumed at step {trainer.step} of {recipe.steps}")
    shown = {"mlm_loss": 0.0, "pair_loss": 0.0}
    with (
        (work / "log.jsonl").open("a") as log,
        tqdm(total=recipe.steps, initial=trainer.step, unit="step", mininterval=5.0) as bar,
    ):
        for figures in trainer.run():
            for name in shown:
                shown[name] += figures[name] / LOG_STEPS
            bar.update()
            if figures["step"] % LOG_STEPS == 0:
                log.write(json.dumps(figures | shown) + "\n")
                log.flush()
                bar.set_postfix(**{name: f"{value:.3f}" for name, value in shown.items()})
                shown = dict.fromkeys(shown, 0.0)
    export(trainer.model, trainer.tokenizer, output)
    (output / "training.json").write_text(
        json.dumps(dataclasses.asdict(recipe) | {"steps": trainer.step, "tokens_seen": trainer.tokens}, indent=2) + "\n"
    )


def export(model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, output: Path) -> None:
    """Save model and tokenizer as plain `from_pretrained` reads them: fp16 safetensors in shards under 95 MB.

    The config asks for float32, so that a plain load computes in it: fp16 is how the weights travel, not how they run.
    """
    half = BertForPreTraining(model.config).half()
    half.load_state_dict(model.state_dict())
    half.tie_weights()
    half.save_pretrained(output, max_shard_size="90MB")
    config = json.loads((output / "config.json").read_text())
    (output / "config.json").write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n")
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    BertTokenizer(tokenizer_object=backend, do_lower_case=False, model_max_length=512).save_pretrained(output)
    for file in output.iterdir():
        file.chmod(0o644)
