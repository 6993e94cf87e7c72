"""Scores: the five metrics of the E2E challenge for a visitor's texts."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.generation.scores.figures import scores_table
from explorer.labs.generation.scores.schema import ScoreParams

SCORE_TEXTS = Action(
    "score_texts",
    Job("explorer.labs.generation.scores.jobs:score_texts", on="nothing", light=True),
    ScoreParams,
    scores_table,
)
