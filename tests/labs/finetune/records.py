"""Runs as the figures meet them, made up for the purpose."""

from __future__ import annotations

from typing import Any

from explorer.runs.record import Outcome, RunRecord, RunStatus, Wrong
from explorer.tuning.spec import RunSpec

OUTCOME = Outcome(
    {"validation": {"accuracy": 0.8}},
    {"validation": 10},
    ((4, 1), (1, 4)),
    wrong=(Wrong("a dull film", None, 0, 1, 0.97), Wrong("a fine film", None, 1, 0, 0.61)),
)


def record(**changes: Any) -> RunRecord:
    """A finished LoRA run of ten steps."""
    values: dict[str, Any] = {
        "run_id": "r0123456789",
        "owner": "someone",
        "spec": RunSpec("bert-small"),
        "status": RunStatus.DONE,
        "created": 1.0,
        "name": "LoRA r=8 · SST-2",
        "task_title": "SST-2 · sentiment",
        "labels": ("negative", "positive"),
        "metrics": ("accuracy",),
        "columns": ("sentence",),
        "step": 10,
        "steps": 10,
        "losses": tuple((step, 1.0 / step) for step in range(1, 11)),
        "evaluations": ((0, {"accuracy": 0.5}), (5, {"accuracy": 0.7}), (10, {"accuracy": 0.8})),
        "seconds": 12.0,
        "trainable": 147_456,
        "parameters": 66_000_000,
        "checkpoint_bytes": 589_824,
        "memory_estimate": 400_000_000,
        "outcome": OUTCOME,
    }
    return RunRecord(**{**values, **changes})


def regression(**changes: Any) -> RunRecord:
    """A finished run on scores."""
    outcome = Outcome(
        {"validation": {"pearson": 0.9, "spearman": None}},
        {"validation": 3},
        points=((0.0, 0.5), (2.5, 2.0), (5.0, 4.0)),
        wrong=(Wrong("a", "b", 5.0, 4.0, None),),
    )
    evaluations = ((0, {"pearson": -0.3, "spearman": None}), (10, {"pearson": 0.9, "spearman": None}))
    values = {"labels": (), "metrics": ("pearson", "spearman"), "outcome": outcome, "evaluations": evaluations}
    return record(**{**values, **changes})
