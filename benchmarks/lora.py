"""A LoRA run here against what a user would write instead: HF Trainer and peft.

Once with the settings of HF's GLUE example, training alone timed; and once at its best: batches padded to their own longest row,
bfloat16 where the processor has it, and measured on held-out sentences as often as a run here, all of it timed on either side.
Same model, same examples, same batch size, epochs, rank, alpha and learning rate.
"""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import time
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, TaskType, get_peft_model
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

from explorer.models.loaded_model import load_model
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.worker import MOST_HELD_OUT, Worker
from explorer.settings import BUNDLED_MODELS, ROOT, Settings
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.sources import load
from explorer.tasks.task import TaskData
from explorer.tuning.kinds import EVALUATIONS_PER_EPOCH
from explorer.tuning.reading import has_bfloat16
from explorer.tuning.spec import QUICK_ROWS, RunSpec

MODEL = "bert-small"
GLUE = ROOT.parent / "shared" / "data" / "glue" / "SST-2"
EXAMPLES = 480
SPEC = RunSpec(MODEL, "sst2", "lora", learning_rate=1e-3, epochs=3, batch_size=16, seed=0)
PADDED = 128
"""run_glue.py's max_seq_length with pad_to_max_length, both as they are by default."""


def examples() -> tuple[str, TaskData]:
    """GLUE's own SST-2 where it lies beside the project, else the bundled one."""
    if not GLUE.exists():
        return "bundled SST-2", load("sst2", Settings())
    train, dev = (read_glue(GLUE / name) for name in ("train.tsv", "dev.tsv"))
    chosen = np.random.default_rng(0).permutation(len(train.examples))[:EXAMPLES]
    data = load("sst2", Settings())
    rows = tuple(train.examples[place] for place in chosen)
    return "GLUE's SST-2", TaskData(data.task, "sst2", rows, {"validation": dev.examples})


def by_explorer(data: TaskData) -> tuple[float, float]:
    """(seconds of training, held-out accuracy) of a run, its evaluations during training included."""
    record = RunRecord("benchmark", "benchmark", SPEC, RunStatus.RUNNING, time.time(), "LoRA", metrics=("accuracy",))
    loaded = load_model(MODEL, Settings(device="cpu"))
    records = [record]
    with tempfile.TemporaryDirectory() as folder:
        Worker(record, Path(folder), records.append, Event(), data, loaded).work()
    score = records[-1].score
    assert score is not None
    return records[-1].seconds, score


class _Rows(torch.utils.data.Dataset[dict[str, Any]]):
    """Examples tokenised once; every row padded to PADDED, or none."""

    def __init__(self, tokenizer: Any, rows: Any, padded: bool) -> None:
        padding = "max_length" if padded else False
        self.encoded = tokenizer([row.text for row in rows], padding=padding, max_length=PADDED, truncation=True)
        self.labels = [int(row.label) for row in rows]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return {name: values[place] for name, values in self.encoded.items()} | {"labels": self.labels[place]}


def by_trainer(data: TaskData, best: bool) -> tuple[float, float]:
    """The same by HF Trainer and peft; at its best with what it measures in between, else training alone is timed."""
    torch.manual_seed(SPEC.seed)
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / MODEL)
    base = AutoModelForSequenceClassification.from_pretrained(BUNDLED_MODELS / MODEL, num_labels=2, dtype=torch.float32)
    config = LoraConfig(
        task_type=TaskType.SEQ_CLS, r=SPEC.rank, lora_alpha=SPEC.alpha, target_modules=list(SPEC.targets)
    )
    held_out = data.validation["validation"][:MOST_HELD_OUT]
    train, whole, first = (_Rows(tokenizer, rows, not best) for rows in (data.train, held_out, held_out[:QUICK_ROWS]))
    between = {
        "bf16": has_bfloat16(torch.device("cpu")),
        "eval_strategy": "steps",
        "eval_steps": math.ceil(math.ceil(len(train) / SPEC.batch_size) / EVALUATIONS_PER_EPOCH),
    }
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        arguments = TrainingArguments(
            folder,
            learning_rate=SPEC.learning_rate or 1e-3,
            num_train_epochs=SPEC.epochs,
            per_device_train_batch_size=SPEC.batch_size,
            per_device_eval_batch_size=SPEC.batch_size,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            **(between if best else {}),
        )
        collator = DataCollatorWithPadding(tokenizer) if best else None
        trainer = Trainer(get_peft_model(base, config), arguments, collator, train, first)
        began = time.perf_counter()
        if best:
            trainer.predict(whole)
        trainer.train()
        trained = time.perf_counter() - began
        found = trainer.predict(whole)
        spent = time.perf_counter() - began if best else trained
    return spent, float((found.predictions.argmax(-1) == found.label_ids).mean())


def measure() -> str:
    """One line: examples a second by both, their ratio, and both accuracies."""
    name, data = examples()
    rows = len(data.train) * SPEC.epochs
    ours, ours_score = by_explorer(data)
    told = [
        f"LoRA on {name} ({len(data.train)} examples, {SPEC.epochs} epochs): here {rows / ours:.0f} examples/s with all that is "
        f"measured, {100 * ours_score:.1f}%"
    ]
    for how, best, wanted in (
        (f"padded to {PADDED}, measuring nothing", False, 2),
        ("at its best, measuring as often", True, 1.2),
    ):
        theirs, score = by_trainer(data, best)
        told.append(
            f"HF Trainer + peft {how} {rows / theirs:.0f} examples/s, {100 * score:.1f}%: ratio {theirs / ours:.2f} (wanted: at "
            f"least {wanted})"
        )
    return "; ".join(told)
