"""What a pretrained model can do, measured on text that it never saw: what is measured follows from its heads."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.errors import BadInputError
from explorer.models.families import Capability
from explorer.models.records import Measure
from pretraining.measures.causal import measure_causal
from pretraining.measures.everyday import measure_everyday
from pretraining.measures.masks import measure_masks
from pretraining.measures.measure import Subject, open_loaded, open_subject
from pretraining.measures.others import measure_round_trip, measure_student
from pretraining.measures.pairs import measure_pairs
from pretraining.measures.replaced import measure_replaced

MEASURES: dict[Capability, Callable[[Subject], list[Measure]]] = {
    Capability.MLM: measure_masks,
    Capability.NSP: lambda subject: measure_pairs(subject) + measure_everyday(subject.loaded),
    Capability.SOP: measure_pairs,
    Capability.RTD: measure_replaced,
    Capability.CAUSAL: measure_causal,
}
FURTHER: tuple[Callable[[Subject], list[Measure]], ...] = (measure_round_trip, measure_student)
"""Measures that find out themselves whether they fit."""


def evaluate(folder: Path, text: Path, keep: bool = False) -> list[Measure]:
    """Everything that can be measured of a model's folder on a text file; keep: write it into scores.json as well.

    Raises BadInputError if there is no such text, ModelUnavailableError if there is no such model.
    """
    if not text.is_file():
        raise BadInputError(f"{text} is not there: run `python -m pretraining corpus`, or name a text by --text.")
    subject = open_subject(folder, text)
    measures = measures_of(subject)
    if keep:
        write_scores(subject, measures)
    return measures


def evaluate_everyday(folder: Path, keep: bool = False) -> list[Measure]:
    """NSP on the everyday pairs alone, which need no text; keep: with their date beside the other figures of scores.json.

    Raises BadInputError for a model without an NSP head and, where they are to be kept, for one that was not measured yet.
    """
    loaded = open_loaded(folder)
    if Capability.NSP not in loaded.capabilities:
        raise BadInputError(f"{folder.name} has no NSP head: take one that has, such as bert-small.")
    found = measure_everyday(loaded)
    if keep:
        path = folder / "scores.json"
        if not path.is_file():
            raise BadInputError(f"{path} is not there: measure everything first, without --everyday.")
        scores = json.loads(path.read_text())
        today = datetime.date.today().isoformat()
        dated = [dataclasses.replace(measure, date="" if today == scores["date"] else today) for measure in found]
        names = {measure.name for measure in found}
        others = [measure for measure in scores["measures"] if measure["name"] not in names]
        path.write_text(json.dumps(scores | {"measures": [*others, *map(_plain, dated)]}, indent=2) + "\n")
    return found


def measures_of(subject: Subject) -> list[Measure]:
    """The same of a model that is open already."""
    found = [measure for head, of in MEASURES.items() if head in subject.loaded.capabilities for measure in of(subject)]
    return found + [measure for of in FURTHER for measure in of(subject)]


def write_scores(subject: Subject, measures: list[Measure]) -> dict[str, Any]:
    """Write scores.json into the model's folder: every figure, when it was measured and how to measure it again."""
    scores = {
        "date": datetime.date.today().isoformat(),
        "command": f"python -m pretraining evaluate assets/models/{subject.folder.name}",
        "text": subject.text.name,
        "measures": [_plain(measure) for measure in measures],
    }
    (subject.folder / "scores.json").write_text(json.dumps(scores, indent=2) + "\n")
    return scores


def _plain(measure: Measure) -> dict[str, Any]:
    """A measure as scores.json has it: without a date of its own where it has none."""
    return {name: value for name, value in dataclasses.asdict(measure).items() if name != "date" or value}
