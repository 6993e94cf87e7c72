"""Attribution: how much each token counts for what a model answers."""

from explorer.action import Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.attribution import figures, plain
from explorer.labs.attribution.examples import EXAMPLES
from explorer.labs.attribution.params import OPENING, AttributeParams, AttributeRunParams
from explorer.labs.attribution.schema import AttributionResult
from explorer.models.catalog import DEFAULT_MODEL
from explorer.worked import Opening

_JOBS = "explorer.labs.attribution.jobs"

ATTRIBUTE = LiveAction(
    Job(f"{_JOBS}:attribute", on="resources"),
    AttributeParams,
    figures.attribution_table,
    plain=plain.attribute,
    openings=(Opening(AttributeParams(DEFAULT_MODEL, EXAMPLES[0].text, method=OPENING), AttributionResult),),
)
ATTRIBUTE_RUN = LiveAction(
    Job(f"{_JOBS}:attribute_run", on="resources"),
    AttributeRunParams,
    figures.attribution_table,
    plain=plain.attribute_run,
    openings=(Opening(AttributeRunParams(method=OPENING), AttributionResult),),
)

LAB = Lab(
    slug="attribution",
    title="Attribution",
    chapter="Look inside",
    question="Which words made it say that?",
    teaser="Divide a prediction among the words of the text, by several methods side by side, and see how far they agree.",
    needs=None,
    reads=Reads("text", "masked"),
    actions=(ATTRIBUTE, ATTRIBUTE_RUN),
    tab="explorer.labs.attribution.page:build",
)
