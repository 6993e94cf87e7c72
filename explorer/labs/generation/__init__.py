"""Generation: how a model writes, and how what it writes is judged against several references."""

from markupsafe import Markup

from explorer.action import Action, Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.generation import continued_figures as figures
from explorer.labs.generation import next_figures
from explorer.labs.generation.adapt import ADAPT
from explorer.labs.generation.apart import SCORE_PARTS
from explorer.labs.generation.continued import ContinueParams, ContinueResult, NextParams
from explorer.labs.generation.meaning import GENERATE
from explorer.labs.generation.scores import SCORE_TEXTS
from explorer.models.families import Capability
from explorer.plain import plain_script
from explorer.worked import Opening

_JOBS = "explorer.labs.generation.continued_jobs"

CONTINUE_TEXT = LiveAction(
    Job(f"{_JOBS}:continue_text", on="resources"),
    ContinueParams,
    figures.continue_table,
    plain=plain_script("continue_text"),
    openings=(Opening(ContinueParams(), ContinueResult),),
)
NEXT_TOKEN = Action(
    Job(f"{_JOBS}:next_token", on="resources"), NextParams, next_figures.next_table, plain=plain_script("next_token")
)

LAB = Lab(
    slug="generation",
    title="Generation",
    chapter="Adapt",
    question="How does a model write, and how is it judged?",
    teaser="A text continued token by token by five decodings side by side; meanings put into words by a GPT-2 adapted here; and "
    "texts judged by BLEU, NIST, METEOR, ROUGE-L and CIDEr, each taken apart on one sentence.",
    needs=Capability.CAUSAL,
    reads=Reads("text", "prefix"),
    actions=(CONTINUE_TEXT, NEXT_TOKEN, GENERATE, ADAPT, SCORE_TEXTS, SCORE_PARTS),
    tab="explorer.labs.generation.page:build",
    without_head={
        "": Markup(
            "<p>Most models of the family fill blanks and have both sides in view, so nothing in their training asked for the "
            "token that comes next; GPT-2 learned nothing else (Radford et al. 2019).</p>"
        )
    },
)
