"""The action behind the drawing of one layer."""

from __future__ import annotations

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.attention.layer.figures import layer_table
from explorer.labs.attention.layer.schema import LayerParams

ONE_LAYER = Action("one_layer", Job("explorer.labs.attention.layer.jobs:one_layer"), LayerParams, layer_table)
