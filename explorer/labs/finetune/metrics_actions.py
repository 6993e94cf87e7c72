"""The Metrics tab's two actions. They need neither a model nor a run, so they go the way that takes no job's lane."""

from explorer.action import LiveAction
from explorer.labs.finetune.metrics_figures import taken_table
from explorer.labs.finetune.metrics_schema import ConfusionParams, PointsParams

_COMPUTE = "explorer.labs.finetune.metrics_compute"

TAKE_APART = LiveAction("take_metrics_apart", f"{_COMPUTE}:follow_metrics", ConfusionParams, taken_table)
CORRELATE = LiveAction("correlate", f"{_COMPUTE}:follow_correlation", PointsParams, taken_table)
