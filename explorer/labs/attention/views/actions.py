"""The actions behind bertviz's views and the neuron view."""

from __future__ import annotations

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.attention import plain
from explorer.labs.attention.neuron_figures import query_key_table
from explorer.labs.attention.views.figures import view_table
from explorer.labs.attention.views.schema import AttentionViewParams, QueryKeyParams

_COMPUTE = "explorer.labs.attention.views.jobs"

ATTENTION_VIEW = Action(
    "attention_view",
    Job(f"{_COMPUTE}:attention_view", together=f"{_COMPUTE}:attention_views_together"),
    AttentionViewParams,
    view_table,
    plain=plain.attention_view,
)
QUERY_KEY = Action("query_key", Job(f"{_COMPUTE}:query_key"), QueryKeyParams, query_key_table, plain=plain.query_key)
