"""The labs, in the order of the navigation. A new lab is one folder and one name here."""

from explorer.action import CHAPTERS, Action, Lab, LiveAction
from explorer.labs.attention import LAB as ATTENTION
from explorer.labs.attribution import LAB as ATTRIBUTION
from explorer.labs.context import LAB as CONTEXT
from explorer.labs.delta import LAB as DELTA
from explorer.labs.distillation import LAB as DISTILLATION
from explorer.labs.finetune import LAB as FINETUNE
from explorer.labs.inputs import LAB as INPUTS
from explorer.labs.masking import LAB as MASKING
from explorer.labs.models import LAB as MODELS
from explorer.labs.pairs import LAB as PAIRS
from explorer.labs.pruning import LAB as PRUNING

LABS: tuple[Lab, ...] = (
    MODELS,
    INPUTS,
    MASKING,
    PAIRS,
    CONTEXT,
    ATTENTION,
    ATTRIBUTION,
    FINETUNE,
    DELTA,
    DISTILLATION,
    PRUNING,
)

__all__ = ["CHAPTERS", "LABS", "Action", "Lab", "LiveAction"]
