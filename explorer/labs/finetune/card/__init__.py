"""A card for each task: what it asks, where it is from, how it is judged, and its rows."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.finetune.card import figures
from explorer.labs.finetune.card.schema import CardParams

CARD = Action(
    "task_card", Job("explorer.labs.finetune.card.jobs:task_card", on="nothing"), CardParams, figures.rows_table
)
