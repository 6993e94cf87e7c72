"""Way up: one sentence from its words to the guess, through all layers, each of which can be opened."""

from explorer.action import Action, Lab, Reads
from explorer.engine.protocol import Job
from explorer.labs.wayup import figures
from explorer.labs.wayup.schema import PassParams

WHOLE_PASS = Action(Job("explorer.labs.wayup.jobs:whole_pass"), PassParams, figures.pass_table)

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
