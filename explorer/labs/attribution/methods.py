"""The ways to say how much each token counts: their names, what their numbers are, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """One way.

    signed: its numbers have a sign, towards the answer or away from it. complete: they add up to f(x) − f(baseline), but for
    the delta. by_layer: it has a number for each layer and token, not for each token alone. rule: what a token's number is.
    """

    slug: str
    title: str
    rule: str
    paper: str
    signed: bool = True
    complete: bool = False
    by_layer: bool = False


METHODS = (
    Method(
        "integrated_gradients",
        "Integrated gradients",
        "the gradient, averaged on the straight way from the baseline to the text, times the difference of the two",
        "Sundararajan et al. 2017, equation 1",
        complete=True,
    ),
    Method(
        "gradient_x_input",
        "Gradient × input",
        "the gradient at the text itself, times the token's embedding",
        "Shrikumar et al. 2016",
    ),
    Method(
        "saliency",
        "Saliency",
        "how long the gradient is (its L2 norm over the embedding's dimensions)",
        "Simonyan et al. 2014, section 3",
        signed=False,
    ),
    Method(
        "occlusion",
        "Occlusion",
        "how much f falls when the token alone is replaced by the baseline",
        "Zeiler and Fergus 2014, section 4.2",
    ),
    Method(
        "conductance",
        "Layer conductance",
        "what flows through the token's hidden state of each layer on the way from the baseline to the text",
        "Dhamdhere et al. 2019",
        complete=True,
        by_layer=True,
    ),
    Method(
        "rollout",
        "Attention rollout",
        "its share in the asked position by attention weights alone; no prediction enters",
        "Abnar and Zuidema 2020, section 3",
        signed=False,
    ),
)
"""Rollout is last: it stands beside whatever else is chosen."""

BY_SLUG = {method.slug: method for method in METHODS}
COMPARED = tuple(method for method in METHODS if method.slug != "rollout")
"""What a visitor chooses from."""
