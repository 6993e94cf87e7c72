"""One sentence: every metric taken apart."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.generation.apart.figures import parts_table
from explorer.labs.generation.apart.schema import PartsParams

SCORE_PARTS = Action(
    "score_parts",
    Job("explorer.labs.generation.apart.jobs:score_parts", on="nothing", light=True),
    PartsParams,
    parts_table,
)
