"""Models: the family side by side, what each member changed, how large it is, what it scores, how it was trained."""

from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.models import figures, plain, score_figures
from explorer.labs.models.schema import CountParams, CurvesParams, FamilyParams, ScoresParams

_COMPUTE = "explorer.labs.models.compute"

FAMILY = Action("family", Job(f"{_COMPUTE}:family", on="nothing"), FamilyParams, figures.family_table)
HELD_OUT = Action(
    "held_out_scores", Job(f"{_COMPUTE}:held_out", on="nothing"), ScoresParams, score_figures.scores_table
)
CURVES = Action(
    "training_curves", Job(f"{_COMPUTE}:training_curves", on="nothing"), CurvesParams, score_figures.curves_table
)
COUNT = Action(
    "count_parameters",
    Job(f"{_COMPUTE}:count_parameters", on="nothing"),
    CountParams,
    figures.count_table,
    plain=plain.count_parameters,
)

LAB = Lab(
    slug="models",
    title="Family",
    chapter="Read",
    question="What did each member of the family change?",
    teaser="BERT, RoBERTa, ALBERT, DistilBERT, ELECTRA, GPT-2 side by side: what each changed, counted and measured.",
    needs=None,
    actions=(FAMILY, HELD_OUT, CURVES, COUNT),
    tab="explorer.labs.models.tab:build",
)
