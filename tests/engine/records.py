"""Records for tests that need no model."""

from __future__ import annotations

from typing import Any

from explorer.runs.record import OnRealTask, Outcome, RunRecord, RunStatus, Wrong
from explorer.runs.store import this_process
from explorer.scratch.spec import Said
from explorer.tasks.task import Judged
from explorer.tuning.spec import RunSpec


def record(run_id: str = "r0123456789ab", owner: str = "ada", **changes: Any) -> RunRecord:
    values = {
        "spec": RunSpec("bert-small"),
        "status": RunStatus.QUEUED,
        "created": 1_000.0,
        "name": "LoRA r=8 · SST-2",
        "process": this_process(),
        **changes,
    }
    return RunRecord(run_id, owner, **values)


def full_record(**changes: Any) -> RunRecord:
    """Every field at a value of its own."""
    outcome = Outcome(
        {"matched": {"accuracy": 0.75, "f1": None}, "mismatched": {"accuracy": 0.1 + 0.2}},
        {"matched": 80, "mismatched": 40},
        ((30, 10), (10, 30)),
        ((1.5, 2.25), (0.1, 5.0)),
        (Wrong("a “text” 😀\n\u2028", "second", 1.0, 0.0, 0.99), Wrong("another", None, 2.5, 4.75, None)),
        "0 1 1",
        "0 0 1",
        (Judged("asked", None, ("right", "or this"), "said", 0.5), Judged("other", "context", (), "")),
    )
    values: dict[str, Any] = {
        "spec": RunSpec("x/y", "mnli@hub", "lora", 4, 8.5, ("key", "ffn_in"), 1e-4, 7, 3, 100, 5, "dora", 0.1, 3, 9),
        "status": RunStatus.DONE,
        "task_title": "MNLI · inference",
        "labels": ("entailment", "neutral", "contradiction"),
        "metrics": ("accuracy", "f1"),
        "step": 40,
        "steps": 50,
        "steps_per_epoch": 10,
        "losses": ((1, 0.7), (2, 1 / 3)),
        "evaluations": ((0, {"accuracy": 0.5, "f1": None}), (10, {"accuracy": 0.625, "f1": 0.2})),
        "place": 2,
        "rate": 123.4,
        "seconds": 5.5,
        "seconds_left": 0.25,
        "memory_bytes": 10**10,
        "trainable": 12_345,
        "parameters": 10**8,
        "checkpoint_bytes": 99,
        "memory_estimate": 10**9,
        "snapshots": (1, 20, 40),
        "message": "said",
        "notes": ("one", "two"),
        "outcome": outcome,
        "version": 17,
        "scale": (2.5, 1.25),
        "columns": ("premise", "hypothesis"),
        "listed": False,
        "reference": {"accuracy": 0.4, "masked_loss": 2.75},
        "whole": (0, 40),
        "examples": 240,
        "held_out": 80,
        "kind": "span",
        "kept": 30,
        "saved": 35,
        "heard": 1_700_000_000.5,
        "said": (Said(4, "A [MASK].", 0, ("cat", "dog"), (0.5, 0.25), "a cat"),),
        "real": (OnRealTask("MNLI", "dev.tsv", "abc", 9, {"accuracy": 0.5, "f1": None}, "2026-01-01", "a command"),),
    }
    return record(**{**values, **changes})
