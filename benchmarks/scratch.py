"""Training from nothing here against what a user would write: HF Trainer and its collator, on the same model, text and rows.

Neither measures anything in between; the Trainer pads each batch to its longest row and has bfloat16 where the processor does.

And how far the held-out loss has fallen after thirty seconds, alone and while a visitor asks.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from transformers import BertForMaskedLM, DataCollatorForLanguageModeling, Trainer, TrainingArguments

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.labs.masking.schema import FillParams
from explorer.models.families import Capability
from explorer.scratch.models import build, learn_vocabulary
from explorer.scratch.rows import Drawn
from explorer.scratch.spec import ScratchSpec
from explorer.scratch.text import read_documents
from explorer.scratch.training import ScratchTraining
from explorer.settings import Settings
from explorer.tuning.reading import has_bfloat16

SECONDS = 30
STEPS = 120
SPEC = ScratchSpec(objective="mlm", row_format="doc_sentences", steps=STEPS)
FILL = Job("explorer.labs.masking.jobs:fill_masks", Capability.MLM)


def fallen(asking: bool) -> tuple[float, int]:
    """Nats that the held-out loss of the page's default has fallen by after thirty seconds; how many questions were answered."""
    with tempfile.TemporaryDirectory() as folder:
        engine = LocalEngine(Settings(data_folder=Path(folder), device="cpu"))
        engine.store.get("bert-small")
        began, answered = time.monotonic(), 0
        run_id = engine.runs.start(ScratchSpec(), "benchmark")
        while time.monotonic() - began < SECONDS:
            if asking:
                text = f"Number {answered} is [MASK]."
                engine.follow(FILL, FillParams(text), "bert-small").last.result()
                answered += 1
            else:
                time.sleep(0.2)
        losses = [values["masked_loss"] for _, values in engine.runs.get(run_id).evaluations]
        engine.runs.stop(run_id, "benchmark")
        engine.runs.wait(run_id, 60)
    assert losses[0] is not None
    assert losses[-1] is not None
    return losses[0] - losses[-1], answered


def steps_a_second() -> tuple[float, float]:
    """(here, HF Trainer) on the same model, batches of the same rows, masks drawn by each one's own collator."""
    documents = read_documents(SPEC.task, Settings())
    tokenizer = learn_vocabulary((one for document in documents.train for one in document), SPEC.vocabulary)
    training = ScratchTraining(SPEC, build(SPEC, tokenizer, None), documents, tokenizer, torch.device("cpu"))
    training.measured = training.measured[:1]
    began = time.perf_counter()
    for _ in training.updates():
        pass
    ours = STEPS / (time.perf_counter() - began)
    drawn = Drawn(SPEC, documents, tokenizer)
    rows = [
        {"input_ids": ids[mask.bool()].tolist()}
        for step in range(STEPS)
        for ids, mask in zip(drawn.batch(step).original_ids, drawn.batch(step).attention_mask, strict=True)
    ]
    return ours, STEPS / _by_trainer(rows, tokenizer)


def _by_trainer(rows: list[dict[str, Any]], tokenizer: Any) -> float:
    model = BertForMaskedLM(build(SPEC, tokenizer, None).config)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        arguments = TrainingArguments(
            folder,
            per_device_train_batch_size=SPEC.batch_size,
            max_steps=STEPS,
            learning_rate=4e-3,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            bf16=has_bfloat16(torch.device("cpu")),
        )
        collator = DataCollatorForLanguageModeling(tokenizer)
        began = time.perf_counter()
        Trainer(model, arguments, data_collator=collator, train_dataset=rows).train()  # type: ignore[arg-type]
        return time.perf_counter() - began


def measure() -> str:
    """One line a comparison."""
    alone, _ = fallen(asking=False)
    beside, answered = fallen(asking=True)
    ours, theirs = steps_a_second()
    return (
        f"from nothing: {alone:.2f} nats in {SECONDS} s, {beside:.2f} while {answered} questions were answered; "
        f"{ours / theirs:.2f} times HF Trainer's steps a second ({ours:.1f} against {theirs:.1f})"
    )


if __name__ == "__main__":
    print(measure())
