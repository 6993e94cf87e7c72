"""The actions behind the continuations."""

from __future__ import annotations

from explorer.action import Action, LiveAction
from explorer.engine.protocol import Job
from explorer.labs.generation.continued import figures, next_figures
from explorer.labs.generation.continued.schema import ContinueParams, NextParams
from explorer.plain import plain_script

_JOBS = "explorer.labs.generation.continued.jobs"

CONTINUE_TEXT = LiveAction(
    "continue_text",
    Job(f"{_JOBS}:continue_text", on="resources"),
    ContinueParams,
    figures.continue_table,
    plain=plain_script("continue_text"),
)
NEXT_TOKEN = Action(
    "next_token",
    Job(f"{_JOBS}:next_token", on="resources"),
    NextParams,
    next_figures.next_table,
    plain=plain_script("next_token"),
)
