"""What a pretrained model can do, measured on text that it never saw: what is measured follows from its heads."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from explorer.errors import BadInputError
from explorer.models.architectures import Capability
from explorer.models.records import Measure
from explorer.pretraining.measures.causal import measure_causal
from explorer.pretraining.measures.everyday import measure_everyday
from explorer.pretraining.measures.masks import measure_masks
from explorer.pretraining.measures.measure import Subject, open_subject
from explorer.pretraining.measures.others import measure_round_trip, measure_student
from explorer.pretraining.measures.pairs import measure_pairs
from explorer.pretraining.measures.replaced import measure_replaced

MEASURES: dict[Capability, Callable[[Subject], list[Measure]]] = {
    Capability.MLM: measure_masks,
    Capability.NSP: lambda subject: measure_pairs(subject) + measure_everyday(subject),
    Capability.SOP: measure_pairs,
    Capability.RTD: measure_replaced,
    Capability.CAUSAL: measure_causal,
}
FURTHER: tuple[Callable[[Subject], list[Measure]], ...] = (measure_round_trip, measure_student)
"""Measures that find out themselves whether they fit."""


def evaluate(folder: Path, text: Path, keep: bool = False) -> list[Measure]:
    """Everything that can be measured of a model's folder on a text file; keep: write it into scores.json as well.

    Raises BadInputError where there is no such text, ModelUnavailableError where there is no such model.
    """
    if not text.is_file():
        raise BadInputError(
            f"{text} is not there: run `python -m explorer.pretraining corpus`, or name a text by --text."
        )
    subject = open_subject(folder, text)
    measures = measures_of(subject)
    if keep:
        write_scores(subject, measures)
    return measures


def measures_of(subject: Subject) -> list[Measure]:
    """The same of a model that is open already."""
    found = [measure for head, of in MEASURES.items() if head in subject.bundle.capabilities for measure in of(subject)]
    return found + [measure for of in FURTHER for measure in of(subject)]


def write_scores(subject: Subject, measures: list[Measure]) -> dict[str, Any]:
    """Write scores.json into the model's folder: every figure, when it was measured and how to measure it again."""
    scores = {
        "date": datetime.date.today().isoformat(),
        "command": f"python -m explorer.pretraining evaluate assets/models/{subject.folder.name}",
        "text": subject.text.name,
        "measures": [asdict(measure) for measure in measures],
    }
    (subject.folder / "scores.json").write_text(json.dumps(scores, indent=2) + "\n")
    return scores
