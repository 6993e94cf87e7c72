"""The action behind the meaning's texts."""

from __future__ import annotations

from explorer.action import LiveAction
from explorer.engine.protocol import Job
from explorer.labs.generation.meaning import figures
from explorer.labs.generation.meaning.schema import GenerateParams
from explorer.labs.generation.plain import generate

GENERATE = LiveAction(
    "generate",
    Job("explorer.labs.generation.meaning.jobs:generate", on="resources"),
    GenerateParams,
    figures.generate_table,
    plain=generate,
)
