"""Replaced tokens: ELECTRA's pretraining task, with its generator and its discriminator at work."""

from markupsafe import Markup

from explorer.action import Action, Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.replaced import draws_figures, figures
from explorer.labs.replaced.schema import DrawsParams, HandParams, ReplacedParams
from explorer.models.families import Capability
from explorer.plain import Asked, place_of, plain_script

_JOBS = "explorer.labs.replaced.jobs"


def _generator(asked: Asked) -> dict[str, object]:
    """Return where the script finds the discriminator's generator."""
    return {"GENERATOR": place_of(asked.result.generator)}


REPLACED_TOKENS = Action(
    Job(f"{_JOBS}:replaced_tokens", Capability.RTD, on="resources"),
    ReplacedParams,
    figures.draw_table,
    plain=plain_script("replaced_tokens", _generator),
)
REPLACED_BY_HAND = Action(
    Job(f"{_JOBS}:replaced_by_hand", Capability.RTD),
    HandParams,
    figures.hand_table,
    plain=plain_script("replaced_by_hand"),
)
REPLACED_DRAWS = LiveAction(
    Job(f"{_JOBS}:replaced_draws", Capability.RTD, on="resources"),
    DrawsParams,
    draws_figures.draws_table,
    plain=plain_script("replaced_draws", _generator),
)

LAB = Lab(
    slug="replaced",
    title="Replaced",
    chapter="Family",
    question="Which words were replaced?",
    teaser="ELECTRA's way: a small generator puts likely words in the blanks, and a discriminator says of every token whether it "
    "was replaced.",
    needs=Capability.RTD,
    reads=Reads("text", "whole"),
    actions=(REPLACED_TOKENS, REPLACED_BY_HAND, REPLACED_DRAWS),
    tab="explorer.labs.replaced.page:build",
    without_head={
        "": Markup(
            "<p>Most models of the family learned to fill masks and were never asked whether a token was replaced; ELECTRA's "
            "discriminator learned nothing else (Clark et al. 2020).</p>"
        )
    },
)
