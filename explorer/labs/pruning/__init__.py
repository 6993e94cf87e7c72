"""Pruning: what matters in a model, taking the rest away, and fewer bits for what is left."""

from dataclasses import replace
from typing import Any

from explorer.action import Lab, LiveAction
from explorer.engine.protocol import Job
from explorer.labs.pruning import importance_figures, orders_figures, plain, quantised_figures
from explorer.labs.pruning import remove_figures as prune_figures
from explorer.labs.pruning.params import (
    JUDGED,
    MANY_STEPS,
    READ,
    SHARE_IN_STEPS,
    ExportParams,
    HandParams,
    ImportanceParams,
    OrdersParams,
    PruneParams,
    QuantiseParams,
    StepsParams,
)
from explorer.labs.pruning.schema import (
    Exported,
    HandResult,
    ImportanceResult,
    OrdersResult,
    PruneResult,
    QuantiseResult,
    StepsResult,
    require_done,
    require_metric,
)
from explorer.runs.examples import FIRST
from explorer.tables import Table
from explorer.worked import Opening

_JOBS, _STEPS = "explorer.labs.pruning.jobs", "explorer.labs.pruning.steps"


def _job(function: str) -> Job:
    return Job(function, on="resources")


_ASKED: dict[str, Any] = {"run": FIRST, "examples": READ, "held_out": JUDGED}


def _without_key(result: PruneResult) -> PruneResult:
    """Drop the key: the model that went home with it is not kept."""
    return replace(result, key="")


def _files(exported: Exported) -> Table:
    """file: each that the zip holds."""
    return Table.of(("file",), [(name,) for name in exported.files])


IMPORTANCE = LiveAction(
    _job(f"{_JOBS}:importance"),
    ImportanceParams,
    importance_figures.importance_table,
    plain=plain.importance,
    openings=(Opening(ImportanceParams(**_ASKED), ImportanceResult),),
)
ORDERS = LiveAction(
    _job(f"{_JOBS}:compare_orders"),
    OrdersParams,
    orders_figures.orders_table,
    require_metric,
    plain.orders,
    openings=(Opening(OrdersParams(**_ASKED), OrdersResult),),
)
HEADS = LiveAction(
    _job(f"{_JOBS}:prune_heads"),
    HandParams,
    orders_figures.hand_table,
    plain=plain.heads,
    openings=(Opening(HandParams(**_ASKED), HandResult),),
)
PRUNE = LiveAction(
    _job(f"{_STEPS}:prune"),
    PruneParams,
    prune_figures.prune_table,
    require_done,
    plain.prune,
    (Opening(PruneParams(**_ASKED), PruneResult, kept=_without_key),),
)
STEPS = LiveAction(
    _job(f"{_STEPS}:compare_steps"),
    StepsParams,
    prune_figures.steps_table,
    plain=plain.steps,
    openings=(Opening(StepsParams(**_ASKED, share=SHARE_IN_STEPS, steps=MANY_STEPS, train_between=0), StepsResult),),
)
QUANTISE = LiveAction(
    _job(f"{_JOBS}:quantise"),
    QuantiseParams,
    quantised_figures.quantised_table,
    plain=plain.quantised,
    openings=(Opening(QuantiseParams(**_ASKED), QuantiseResult),),
)
EXPORT = LiveAction(_job(f"{_JOBS}:export_pruned"), ExportParams, _files)

LAB = Lab(
    slug="pruning",
    title="Pruning",
    chapter="Compress",
    question="How much of the model is needed?",
    teaser="Find the heads and neurons that matter, take the others out for good, and put the rest in fewer bits.",
    needs=None,
    actions=(IMPORTANCE, ORDERS, HEADS, PRUNE, STEPS, QUANTISE, EXPORT),
    tab="explorer.labs.pruning.page:build",
)
