"""W's whole spectrum beside ΔW's: which of the two is of low rank."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.delta import plain
from explorer.labs.delta.params import OPENING_LAYER, PlacementParams
from explorer.labs.delta.weight.figures import whole_table
from explorer.labs.delta.weight.schema import WholeSpectra
from explorer.worked import Opening

WEIGHT_SPECTRUM = Action(
    "weight_spectrum",
    Job("explorer.labs.delta.weight.jobs:weight_spectrum", on="runs"),
    PlacementParams,
    whole_table,
    plain=plain.weight_spectrum,
    openings=(Opening(PlacementParams(layer=OPENING_LAYER), WholeSpectra),),
)
