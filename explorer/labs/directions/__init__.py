"""Directions: the same blank filled from the left, from the right and from both sides, and why that takes masks."""

from explorer.action import Action, Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.directions import answer_figures, examples, fifty_figures
from explorer.labs.directions import answer_figures as proof_figures
from explorer.labs.directions import blank_figures as figures
from explorer.labs.directions.schema import (
    DECODER,
    ENCODER,
    DirectionsParams,
    FiftyParams,
    FiftyResult,
    ProofParams,
    SightParams,
)
from explorer.plain import Asked, plain_script
from explorer.worked import Opening

_JOBS = "explorer.labs.directions.jobs"


def _position(asked: Asked) -> dict[str, object]:
    """Return the position of the word's first piece, for the script."""
    return {"POSITION": asked.result.position}


def _sentences(asked: Asked) -> dict[str, object]:
    return {"SENTENCES": tuple((blank.kind, blank.text, blank.word, blank.start) for blank in examples.FIFTY)}


DIRECTIONS = Action(
    Job(f"{_JOBS}:directions", on="resources"),
    DirectionsParams,
    figures.directions_table,
    plain=plain_script("directions", _position),
)
SIGHT = Action(
    Job(f"{_JOBS}:attention_of_directions", on="resources"),
    SightParams,
    figures.sight_table,
    plain=plain_script("attention_of_directions", _position),
)
FIFTY = LiveAction(
    Job(f"{_JOBS}:directions_of_fifty", on="resources"),
    FiftyParams,
    fifty_figures.fifty_table,
    plain=plain_script("directions_of_fifty", _sentences),
    openings=(Opening(FiftyParams(), FiftyResult, reads=(ENCODER, DECODER)),),
)
ANSWER = Action(
    Job(f"{_JOBS}:answer_in_view", on="resources"),
    DirectionsParams,
    answer_figures.answer_table,
    plain=plain_script("answer_in_view", _position),
)
PROOF = Action(Job(f"{_JOBS}:next_token_proof", on="nothing"), ProofParams, proof_figures.proof_table)

LAB = Lab(
    slug="directions",
    title="Directions",
    chapter="Read",
    question="What do both sides tell that one side doesn't?",
    teaser="Fill one blank from its left, from its right and from both sides, and see why two directions need masks.",
    needs=None,
    reads=Reads("text", "whole"),
    actions=(DIRECTIONS, SIGHT, FIFTY, ANSWER, PROOF),
    tab="explorer.labs.directions.page:build",
)
