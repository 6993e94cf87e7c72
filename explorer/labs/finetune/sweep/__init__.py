"""Sweep: one setting at several values, each with several seeds."""

from explorer.action import LiveAction
from explorer.labs.finetune.sweep import figures
from explorer.labs.finetune.sweep.schema import SweepParams

SWEEP = LiveAction("sweep", "explorer.labs.finetune.sweep.live:sweep", SweepParams, figures.sweep_table)
