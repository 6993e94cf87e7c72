"""Way up: one sentence from its words to the guess, through all layers, each of which can be opened."""

from explorer.action import Action, Lab, Reads
from explorer.engine.protocol import Job
from explorer.labs.wayup import figures
from explorer.labs.wayup.schema import PassParams, PassResult
from explorer.plain import Asked, as_read, plain_script
from explorer.text import up_to_blank


def _plain(asked: Asked) -> str:
    """Return the script for the task of the model's head; "" for one that detects replaced tokens."""
    result: PassResult = asked.result
    if result.asked == "replaced":
        return ""
    if result.asked == "continue":
        before, _ = up_to_blank(as_read(asked.params.text))
        return plain_script("whole_pass_causal", lambda asked: {"TEXT": before, "POSITION": result.position})(asked)
    hidden = tuple(place for place, token in enumerate(result.tokens) if token.state == "masked")
    return plain_script("whole_pass", lambda asked: {"HIDE": hidden, "POSITION": result.position})(asked)


WHOLE_PASS = Action(Job("explorer.labs.wayup.jobs:whole_pass"), PassParams, figures.pass_table, plain=_plain)

LAB = Lab(
    slug="wayup",
    title="Way up",
    chapter="Look inside",
    question="How does a sentence become a guess?",
    teaser="One sentence from its words through every layer to the head, with all numbers, in nine steps.",
    needs=None,
    reads=Reads("text", "hidden"),
    actions=(WHOLE_PASS,),
    tab="explorer.labs.wayup.page:build",
)
