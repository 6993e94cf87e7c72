"""Generation: how a model writes."""

from markupsafe import Markup

from explorer.action import Lab
from explorer.labs.generation.continued.actions import CONTINUE_TEXT, NEXT_TOKEN
from explorer.models.families import Capability

LAB = Lab(
    slug="generation",
    title="Writing",
    chapter="Adapt",
    question="How does a model write, and how is it judged?",
    teaser="A text continued token by token, by five decodings side by side; press a token to see what else it could have been.",
    needs=Capability.CAUSAL,
    actions=(CONTINUE_TEXT, NEXT_TOKEN),
    tab="explorer.labs.generation.page:build",
    without_head=Markup(
        "<p>Most models of the family fill blanks and have both sides in view, so nothing in their training asked for the token "
        "that comes next; GPT-2 learned nothing else (Radford et al. 2019).</p>"
    ),
)
