"""Latency: the time of a batch by every method, attached and merged, beside the plain model."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.finetune.latency import figures
from explorer.labs.finetune.latency.schema import LatencyParams

LATENCY = Action("latency", Job("explorer.labs.finetune.latency.jobs:latency"), LatencyParams, figures.latency_table)
