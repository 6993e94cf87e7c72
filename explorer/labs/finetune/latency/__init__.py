"""Latency: the time of a batch by every method, attached and merged, beside the plain model."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.finetune.latency import figures
from explorer.labs.finetune.latency.schema import ROUNDS, LatencyParams, LatencyResult
from explorer.models.catalog import DEFAULT_MODEL
from explorer.tuning.methods import METHODS
from explorer.worked import Opening

_OPENING = Opening(
    LatencyParams(tuple(method.slug for method in METHODS), repeats=ROUNDS), LatencyResult, model=DEFAULT_MODEL
)
LATENCY = Action(
    "latency",
    Job("explorer.labs.finetune.latency.jobs:latency"),
    LatencyParams,
    figures.latency_table,
    openings=(_OPENING,),
)
