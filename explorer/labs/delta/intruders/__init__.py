"""Which of W + ΔW's strongest directions are intruders: directions that W did not have."""

from explorer.action import LiveAction
from explorer.engine.protocol import Job
from explorer.labs.delta import plain
from explorer.labs.delta.intruders.figures import intruders_table, trained_table
from explorer.labs.delta.intruders.schema import IntruderParams, IntruderResult, TrainIntrudersParams
from explorer.labs.delta.params import OPENING_LAYER
from explorer.worked import Opening

_FOLDER = "explorer.labs.delta.intruders"

INTRUDERS = LiveAction(
    "intruder_dimensions",
    Job(f"{_FOLDER}.jobs:intruder_dimensions", on="resources"),
    IntruderParams,
    intruders_table,
    plain=plain.intruders,
    openings=(Opening(IntruderParams(layer=OPENING_LAYER), IntruderResult),),
)
TRAIN_INTRUDERS = LiveAction("train_intruders", f"{_FOLDER}.live:train_intruders", TrainIntrudersParams, trained_table)
