"""Metrics, taken apart: a confusion matrix and points of true against predicted score, to change."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.finetune.metrics.figures import taken_table
from explorer.labs.finetune.metrics.schema import ConfusionParams, PointsParams
from explorer.plain import WITHOUT_MODEL, plain_script

_JOBS = "explorer.labs.finetune.metrics.jobs"

TAKE_APART = Action(
    "take_metrics_apart",
    Job(f"{_JOBS}:take_metrics_apart", on="nothing", light=True),
    ConfusionParams,
    taken_table,
    plain=plain_script("take_metrics_apart", needs="scikit-learn", header=WITHOUT_MODEL),
)
CORRELATE = Action(
    "correlate",
    Job(f"{_JOBS}:correlate", on="nothing", light=True),
    PointsParams,
    taken_table,
    plain=plain_script("correlate", needs="scipy", header=WITHOUT_MODEL),
)
