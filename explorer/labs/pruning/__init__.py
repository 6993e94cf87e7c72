"""Pruning: what matters in a model, taking the rest away, and fewer bits for what is left."""

from explorer.action import Lab, LiveAction
from explorer.labs.pruning import importance_figures, orders_figures, plain, prune_figures, quantised_figures
from explorer.labs.pruning.live import require_done, require_metric
from explorer.labs.pruning.params import (
    ExportParams,
    HandParams,
    ImportanceParams,
    OrdersParams,
    PruneParams,
    QuantiseParams,
    StepsParams,
)
from explorer.labs.pruning.schema import Exported
from explorer.tables import Table

_LIVE = "explorer.labs.pruning.live"


def _files(exported: Exported) -> Table:
    return Table.of(("file",), [(name,) for name in exported.files])


IMPORTANCE = LiveAction(
    "importance",
    f"{_LIVE}:importance",
    ImportanceParams,
    importance_figures.importance_table,
    plain=plain.importance,
)
ORDERS = LiveAction(
    "compare_orders", f"{_LIVE}:compare_orders", OrdersParams, orders_figures.orders_table, require_metric, plain.orders
)
HEADS = LiveAction("prune_heads", f"{_LIVE}:prune_heads", HandParams, orders_figures.hand_table, plain=plain.heads)
PRUNE = LiveAction("prune", f"{_LIVE}:prune", PruneParams, prune_figures.prune_table, require_done, plain.prune)
STEPS = LiveAction("compare_steps", f"{_LIVE}:compare_steps", StepsParams, prune_figures.steps_table, plain=plain.steps)
QUANTISE = LiveAction(
    "quantise", f"{_LIVE}:quantise", QuantiseParams, quantised_figures.quantised_table, plain=plain.quantised
)
EXPORT = LiveAction("export_pruned", f"{_LIVE}:export_pruned", ExportParams, _files)

LAB = Lab(
    slug="pruning",
    title="Pruning",
    chapter="Compress",
    question="How much of the model is needed?",
    teaser="Find the heads and neurons that matter, take the others out for good, and put the rest in fewer bits.",
    needs=None,
    actions=(IMPORTANCE, ORDERS, HEADS, PRUNE, STEPS, QUANTISE, EXPORT),
    tab="explorer.labs.pruning.tab:build",
)
