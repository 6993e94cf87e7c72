"""What fine-tuning costs of what the model knew: hidden words of held-out sentences, before and after."""

from explorer.action import LiveAction
from explorer.engine.protocol import Job
from explorer.labs.delta.forgetting.figures import forgetting_table
from explorer.labs.delta.forgetting.schema import ForgettingParams, ForgettingResult, require_a_run
from explorer.worked import Opening

FORGETTING = LiveAction(
    "forgetting",
    Job("explorer.labs.delta.forgetting.jobs:forgetting", on="resources"),
    ForgettingParams,
    forgetting_table,
    require_a_run,
    openings=(Opening(ForgettingParams(), ForgettingResult),),
)
