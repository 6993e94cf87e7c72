"""What the tests of this folder share: a matrix taken apart, and the values that were found."""

from __future__ import annotations

from typing import Any

from explorer.labs.finetune.metrics.jobs import take_metrics_apart
from explorer.labs.finetune.metrics.schema import ConfusionParams, Correlated, TakenApart


def taken(matrix: Any) -> TakenApart:
    return take_metrics_apart(ConfusionParams(matrix))


def values(result: TakenApart | Correlated) -> dict[str, float | None]:
    return {metric.slug: metric.value for metric in result.metrics}
