"""What the tests of this folder share: a matrix taken apart, and the values that were found."""

from __future__ import annotations

from typing import Any

from explorer.labs.finetune.metrics import ConfusionParams, Correlated, TakenApart
from explorer.labs.finetune.metrics_jobs import take_metrics_apart


def taken(matrix: Any) -> TakenApart:
    return take_metrics_apart(ConfusionParams(matrix))


def values(result: TakenApart | Correlated) -> dict[str, float | None]:
    return {metric.slug: metric.value for metric in result.metrics}
