"""Made-up results of the distillation lab."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.labs.distillation.schema import REST, Compared, Loss, LossesResult, SoftTargetsResult, Target
from explorer.labs.distillation.train import Ablated, Distilled, Seeded, Size
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import ablated, labels_only
from tests.engine.records import record

SPEC = RunSpec("bert-small", "sst2", "distill", teacher="r-teacher", student_layers=3)
THREE = replace(SPEC, soft_weight=5.0, hard_weight=2.0, cosine_weight=1.0)


def soft(**changes: Any) -> SoftTargetsResult:
    values: dict[str, Any] = {
        "teacher": "bert-small",
        "asked": "what stands at each mask",
        "places": 1,
        "targets": (Target("Paris", 9.0, 1.0, 0.5), Target("Rome", 8.0, 0.0, 0.25), Target(REST, None, 0.0, 0.25)),
        "temperature": 2.0,
        "entropy": 1.5,
        "dark": 0.5,
        "classes": 1000,
        "curve": ((0.1, 0.0, 0.0), (2.0, 1.5, 0.5), (20.0, 6.8, 0.99)),
        "logits": "AAAAAA==",
        **changes,
    }
    return SoftTargetsResult(**values)


def losses(**changes: Any) -> LossesResult:
    slugs = {"soft": 0.4, "kl": 0.1, "l2": 0.9, "hard": 0.8, "weighted": 0.6, "cosine": 0.2}
    values: dict[str, Any] = {
        "teacher": "a teacher",
        "student": "a student",
        "asked": "which class",
        "answer": "yes",
        "temperature": 2.0,
        "alpha": 0.5,
        "classes": (Compared("yes", 2.0, 1.0, 0.75, 0.6), Compared("no", -1.0, 0.0, 0.25, 0.4)),
        "losses": tuple(Loss(slug, slug.title(), "x", value) for slug, value in slugs.items()),
        "gradients": ((1.0, 0.1, 0.1), (10.0, 0.002, 0.2), (100.0, 0.00002, 0.2)),
        "limit": 0.2,
        **changes,
    }
    return LossesResult(**values)


def teacher(**changes: Any) -> RunRecord:
    return record("r-teacher", **{**_done(0.95, None), "name": "LoRA r=8 · SST-2", **changes})


def _done(score: float, agreement: float | None) -> dict[str, Any]:
    metrics: dict[str, float | None] = {"accuracy": score}
    if agreement is not None:
        metrics["agreement"] = agreement
    return {
        "status": RunStatus.DONE,
        "metrics": ("accuracy",),
        "step": 20,
        "steps": 20,
        "losses": tuple((step, 1 / step) for step in range(1, 21)),
        "evaluations": ((0, dict.fromkeys(metrics, 0.5)), (20, metrics)),
        "outcome": Outcome({"validation": metrics}, {"validation": 160}),
        "parameters": 44_500_000,
        "seconds": 30.0,
    }


def student(score: float = 0.9, agreement: float | None = 0.92, **changes: Any) -> RunRecord:
    done = _done(score, agreement)
    return record("r-student", **{**done, "spec": SPEC, "name": "3-layer student, soft targets · SST-2", **changes})


def alone(**changes: Any) -> RunRecord:
    done = _done(0.88, 0.9)
    name = "3-layer student, labels · SST-2"
    return record("r-alone", **{**done, "spec": labels_only(SPEC), "name": name, **changes})


def distilled(**changes: Any) -> Distilled:
    sizes = (
        Size("r-teacher", 66_000_000, 264_000_000, (20.0, 200.0)),
        Size("r-student", 44_000_000, 176_000_000, (10.0, 100.0)),
        Size("r-alone", 44_000_000, 176_000_000, (10.0, 125.0)),
    )
    return Distilled(**{"teacher": teacher(), "students": (student(), alone()), "sizes": sizes, **changes})


def on_text(**changes: Any) -> Distilled:
    """Two students on plain text: the whole model is their teacher."""
    spec = replace(SPEC, task="text", method="distill_text", teacher="", hard_weight=0.5)
    records = []
    for number, (one, score) in enumerate(((spec, 0.25), (labels_only(spec), 0.2))):
        scores: dict[str, float | None] = {"accuracy": score, "masked_loss": 5.5 - score, "agreement": score + 0.1}
        done = _done(score, None) | {
            "evaluations": ((0, dict.fromkeys(scores, 0.1)), (20, scores)),
            "outcome": Outcome({"validation": scores}, {"validation": 1000}),
            "reference": {"accuracy": 0.5, "masked_loss": 4.0},
        }
        name = f"3-layer student, {('soft targets + hidden words', 'hidden words')[number]} · Masked words"
        records.append(record(f"r-text-{number}", **{**done, "spec": one, "name": name}))
    sizes = (Size("", 66_000_000, 264_000_000, (20.0, 200.0)), *distilled().sizes[1:])
    return Distilled(**{"teacher": None, "students": tuple(records), "sizes": sizes, **changes})


def seeded(with_teacher: tuple[float, ...], without: tuple[float, ...], labelled: int = 32, **changes: Any) -> Seeded:
    """A pair for each two scores."""
    pairs = []
    for seed, scores in enumerate(zip(with_teacher, without, strict=True)):
        spec = replace(SPEC, labelled=labelled, seed=seed, soft_weight=0.5, hard_weight=0.5)
        specs = (spec, labels_only(spec))
        pairs.append(
            tuple(
                replace(student(score, spec=one, examples=480), run_id=f"r-{seed}-{place}")
                for place, (one, score) in enumerate(zip(specs, scores, strict=True))
            )
        )
    return Seeded(**{"teacher": teacher(), "pairs": tuple(pairs), **changes})


def ablation(**changes: Any) -> Ablated:
    scores = (0.95, 0.9, 0.94, 0.93, 0.7)
    records = tuple(
        student(score, score - 0.01, spec=line.spec, name=f"line {line.slug}")
        for line, score in zip(ablated(THREE), scores, strict=True)
    )
    return Ablated(**{"teacher": teacher(), "records": records, **changes})
