"""What a pretrained model can do, measured on text that it never saw: what is measured follows from its heads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from explorer.errors import BadInputError
from explorer.models.architectures import Capability
from explorer.pretraining.measures.causal import measure_causal
from explorer.pretraining.measures.masks import measure_masks
from explorer.pretraining.measures.measure import Measure, Subject, open_subject
from explorer.pretraining.measures.others import measure_round_trip, measure_student
from explorer.pretraining.measures.pairs import measure_pairs
from explorer.pretraining.measures.replaced import measure_replaced

MEASURES: dict[Capability, Callable[[Subject], list[Measure]]] = {
    Capability.MLM: measure_masks,
    Capability.NSP: measure_pairs,
    Capability.SOP: measure_pairs,
    Capability.RTD: measure_replaced,
    Capability.CAUSAL: measure_causal,
}
FURTHER: tuple[Callable[[Subject], list[Measure]], ...] = (measure_round_trip, measure_student)
"""Measures that find out themselves whether they fit."""


def evaluate(folder: Path, text: Path) -> list[Measure]:
    """Everything that can be measured of a model's folder on a text file.

    Raises BadInputError where there is no such text, ModelUnavailableError where there is no such model.
    """
    if not text.is_file():
        raise BadInputError(
            f"{text} is not there: run `python -m explorer.pretraining corpus`, or name a text by --text."
        )
    return measures_of(open_subject(folder, text))


def measures_of(subject: Subject) -> list[Measure]:
    """The same of a model that is open already."""
    found = [measure for head, of in MEASURES.items() if head in subject.bundle.capabilities for measure in of(subject)]
    return found + [measure for of in FURTHER for measure in of(subject)]
