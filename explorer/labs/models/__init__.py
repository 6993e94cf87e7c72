"""Models: the family side by side, what each member changed, how large it is, what it scores, how it was trained."""

from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.models import family_figures as figures
from explorer.labs.models import plain
from explorer.labs.models import records_figures as score_figures
from explorer.labs.models.curves import CURVES
from explorer.labs.models.movement import MOVEMENT
from explorer.labs.models.recipe import RECIPE
from explorer.labs.models.schema import CountParams, FamilyParams, ScoresParams
from explorer.labs.models.speed import SpeedParams, SpeedResult, speed_table
from explorer.labs.models.tuned import TunedParams, tuned_table
from explorer.worked import Opening

_COMPUTE = "explorer.labs.models.jobs"

FAMILY = Action(Job(f"{_COMPUTE}:family", on="nothing"), FamilyParams, figures.family_table)
HELD_OUT = Action(
    Job(f"{_COMPUTE}:held_out", on="nothing"), ScoresParams, score_figures.scores_table, called="held_out_scores"
)
TUNED = Action(Job("explorer.labs.models.tuned:tuned_scores", on="nothing", light=True), TunedParams, tuned_table)
COUNT = Action(
    Job(f"{_COMPUTE}:count_parameters", on="nothing"), CountParams, figures.count_table, plain=plain.count_parameters
)
SPEED = Action(
    Job("explorer.labs.models.speed_jobs:sharing_speed", on="resources"),
    SpeedParams,
    speed_table,
    openings=(Opening(SpeedParams(), SpeedResult),),
)

LAB = Lab(
    slug="models",
    title="Models",
    chapter="Family",
    question="What did each member of the family change?",
    teaser="BERT, RoBERTa, ALBERT, DistilBERT, ELECTRA, GPT-2 side by side: what each changed, counted and measured.",
    needs=None,
    actions=(FAMILY, TUNED, HELD_OUT, CURVES, COUNT, RECIPE, MOVEMENT, SPEED),
    tab="explorer.labs.models.page:build",
)
