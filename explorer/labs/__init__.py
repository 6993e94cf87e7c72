"""The labs, in the order of the navigation. A new lab is one folder and one name here."""

from explorer.labs.delta import LAB as DELTA
from explorer.labs.finetune import LAB as FINETUNE
from explorer.labs.lab import CHAPTERS, Action, Lab, LiveAction
from explorer.labs.masking import LAB as MASKING
from explorer.labs.pairs import LAB as PAIRS

LABS: tuple[Lab, ...] = (MASKING, PAIRS, FINETUNE, DELTA)

__all__ = ["CHAPTERS", "LABS", "Action", "Lab", "LiveAction"]
