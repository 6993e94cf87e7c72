"""Context: what a word means in its sentence, layer by layer, what the head would say at each layer,
what carries it, and what a probe reads."""

from explorer.action import Action, Lab, Reads
from explorer.engine.protocol import Job
from explorer.labs.context import lens_figures, plain
from explorer.labs.context import word_figures as figures
from explorer.labs.context.lens import LensParams, require_places
from explorer.labs.context.patch import PATCH_ACTIVATIONS
from explorer.labs.context.probe import PROBE_LAYERS
from explorer.labs.context.word import ContextParams
from explorer.plain import plain_script

CONTEXTUAL_SIMILARITY = Action(
    Job("explorer.labs.context.word_jobs:contextual_similarity"),
    ContextParams,
    figures.context_table,
    plain=plain_script("contextual_similarity", plain.sentences),
)
LOGIT_LENS = Action(
    Job("explorer.labs.context.lens_jobs:logit_lens"),
    LensParams,
    lens_figures.lens_table,
    require_places,
    plain=plain.lens,
)

LAB = Lab(
    slug="context",
    title="Context",
    chapter="Look inside",
    question="When does a word get its meaning?",
    teaser="Follow one word through the layers in several sentences, and read what the model would answer at each layer.",
    needs=None,
    reads=Reads("text", "masked", "lens"),
    actions=(CONTEXTUAL_SIMILARITY, LOGIT_LENS, PATCH_ACTIVATIONS, PROBE_LAYERS),
    tab="explorer.labs.context.page:build",
)
