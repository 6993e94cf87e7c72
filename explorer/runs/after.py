"""Runs that start where an earlier one ended, as the papers' MRPC, RTE and STS-B started from MNLI.

RoBERTa's single-task results on these (Liu et al. 2019, section 5.1) and LoRA's (Hu et al. 2021, section 5.2; the runs marked †
there start from the pretrained weights).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.errors import BadInputError
from explorer.models.trained import trained_id
from explorer.runs.record import RunRecord
from explorer.tuning.methods import find_method
from explorer.tuning.spec import RunSpec


def model_of(record: RunRecord) -> str:
    """The name of the model that a fine-tuned run has made."""
    return trained_id(record.run_id, record.kept or record.step)


def why_no_model(record: RunRecord) -> str:
    """Why a run has made no model that another could start from; empty if it has."""
    method = find_method(record.spec.method)
    if not record.status.has_weights:
        return f"{record.name} is {record.status}. Wait until it is done, or choose another run."
    if method.unmergeable:
        return f"{record.name} cannot be merged into the model's weights: {method.unmergeable}"
    if method.is_student:
        return f"{record.name} is a student with layers of its own. Choose a run of the whole model."
    return ""


def begun_from(spec: RunSpec, facts: dict[str, Any], first: RunRecord) -> tuple[RunSpec, dict[str, Any]]:
    """A run's settings and described facts, once it starts from an earlier run's weights. Raises BadInputError if it can't."""
    own = model_of(first)
    if first.from_nothing:
        raise BadInputError(f"{first.name} has made a model of its own: choose {own} as the model instead.")
    if reason := why_no_model(first):
        raise BadInputError(reason)
    if spec.model not in (first.spec.model, own):
        raise BadInputError(
            f"{first.name} is of {first.spec.model} and not of {spec.model}. Choose its model, or another run."
        )
    if find_method(spec.method).is_student:
        raise BadInputError(
            "A student starts from its teacher, so it has no other run to start from. Leave after empty."
        )
    what, _, task = facts["name"].partition(" · ")
    name = f"{what}, after {first.task_title.split(' · ')[0].split(',')[0]} · {task}"
    return replace(spec, model=own), {**facts, "name": name}
