"""What agrees: published figures beside the same figures computed now."""

from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.agrees import figures
from explorer.labs.agrees.schema import PublishedParams

PUBLISHED_FIGURES = Action(
    Job("explorer.labs.agrees.jobs:published_figures", on="nothing"), PublishedParams, figures.published_table
)

LAB = Lab(
    slug="agrees",
    title="What agrees",
    chapter="Family",
    question="Do the papers' figures come out when they are computed again?",
    teaser="A hundred published figures, sizes to averages, each computed again here: which agree, which don't, and why.",
    needs=None,
    actions=(PUBLISHED_FIGURES,),
    tab="explorer.labs.agrees.page:build",
)
