"""GLUE as a whole: its eight tasks, what the visitor's runs reach on each so far, and a row of LoRA's Table 2 beside."""

from explorer.action import LiveAction
from explorer.labs.finetune.glue.figures import glue_table
from explorer.labs.finetune.glue.schema import GlueParams

GLUE = LiveAction("glue", "explorer.labs.finetune.glue.live:glue", GlueParams, glue_table)
