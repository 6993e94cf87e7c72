"""The action behind the relative positions."""

from __future__ import annotations

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.inputs.relative.figures import relative_table
from explorer.labs.inputs.relative.schema import RelativeParams, require_relative
from explorer.plain import Asked, architecture_of, plain_script


def _plain(asked: Asked) -> str:
    """None for a model without relative positions."""
    known = architecture_of(asked)
    return plain_script("relative_positions")(asked) if known is not None and asked.result.rows else ""


RELATIVE_POSITIONS = Action(
    "relative_positions",
    Job("explorer.labs.inputs.relative.jobs:relative_rows"),
    RelativeParams,
    relative_table,
    require_relative,
    plain=_plain,
)
