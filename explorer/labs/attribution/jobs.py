"""The attribution lab's jobs: a model's answer, or a fine-tuned run's class, shared out among the tokens of a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.attribution.params import AttributeParams, AttributeRunParams
from explorer.labs.attribution.plan import Results, attributed
from explorer.labs.attribution.schema import AskParams
from explorer.models.loaded_model import LoadedModel
from explorer.runs.record import RunRecord
from explorer.tuning.classifier import as_loaded


def attribute(resources: Resources, params: AttributeParams) -> Results:
    """Attribute a model's answer to the tokens of a text; each result has more in it, and the last has all."""
    asked = AskParams(params.text, params.second, params.target, params.baseline, params.position)
    yield from _attributed(resources, resources.model(params.model), asked, params)


def attribute_run(resources: Resources, params: AttributeRunParams) -> Results:
    """Attribute a fine-tuned classifier's class to the tokens of a text, method after method.

    Raises BadInputError for a run that has no classes or no weights.
    """
    run = resources.open_run(params.run)
    run.require_weights()
    record = run.record
    if not record.labels:
        raise BadInputError(
            f"{record.name} predicts no class (it gives a score or fills masks), so there are no log-odds to share out. "
            "Choose a run of a classification task."
        )
    with torch.inference_mode(False):  # no gradient passes weights that are loaded in inference mode
        opened = as_loaded(run.restore(), record.name)
    second = _second_of(record, params.sentence_b)
    asked = AskParams(params.sentence_a, second, params.target, params.baseline, classes=record.labels)
    yield from _attributed(resources, opened, asked, params)


def _attributed(resources: Resources, loaded: LoadedModel, asked: AskParams, params: Any) -> Results:
    """Attribute in remembered blocks, so that another choice of methods finds those of the methods that stay."""

    def block(function: Callable[[LoadedModel, Any], Any], given: Any) -> Any:
        return resources.once((function.__name__, given), lambda: function(loaded, given))

    yield from attributed(block, asked, params.method, params.by, params.steps)


def _second_of(record: RunRecord, second: str) -> str:
    """Return the second text, if the run's task reads one. Raises BadInputError if it is missing."""
    if len(record.columns) == 2 and not second:
        raise BadInputError(f"{record.task_title} reads two texts; type the second one as well.")
    return "" if len(record.columns) == 1 else second  # what another run left in the box is not read
