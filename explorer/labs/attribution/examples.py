"""Worked examples of the attribution lab, for every kind of answer that a model may give."""

from __future__ import annotations

from typing import NamedTuple

from explorer.models.families import Capability
from explorer.runs.examples import PRAISE


class Example(NamedTuple):
    """A question to a model. needs: the head that answers it. target: empty for the model's own answer."""

    text: str
    needs: Capability
    second: str = ""
    target: str = ""

    @property
    def title(self) -> str:
        """The example as a list names it."""
        return f"{self.text} | {self.second}" if self.second else self.text


EXAMPLES = (
    Example("The keys to the cabinet [MASK] on the table.", Capability.MLM),
    Example("Mount Everest is the highest [MASK] in the world.", Capability.MLM),
    Example("The pianist sat down and played the [MASK].", Capability.MLM),
    Example("The bird built a [MASK] in the old apple tree.", Capability.MLM),
    Example("The farmer milked the [MASK] before breakfast.", Capability.MLM),
    Example("The old man who lost his keys said that [MASK] was tired.", Capability.MLM),
    Example(
        "The band released its first album in 1994.", Capability.NSP, "Penguins cannot fly, but they swim very well."
    ),
    Example(
        "The hikers reached the top of the mountain just before noon.",
        Capability.NSP,
        "From there they could see the whole valley and the lake below.",
    ),
    Example("It sold two million copies.", Capability.SOP, "The band released its first album in 1994."),
    Example("The farmer milked the piano before breakfast.", Capability.RTD),
    Example("The keys to the cabinet are on the", Capability.CAUSAL),
)

TRY = (
    ("What speaks for “is”?", EXAMPLES[0]._replace(target="is"), ("integrated_gradients", "gradient_x_input")),
    ("Three methods", EXAMPLES[0], ("integrated_gradients", "saliency", "occlusion")),
    ("Layer by layer", EXAMPLES[1], ("integrated_gradients", "conductance")),
    ("Two texts", EXAMPLES[6], ("integrated_gradients", "occlusion")),
)
"""One-click experiments: name, example, methods."""

RUN_TRY = {
    "praise": (PRAISE, ""),
    "a pan": ("The plot is dull and the acting is worse; what a waste of an evening.", ""),
    "in between": ("It is not a bad film, but I would not call it good either.", ""),
}


def fitting(example_text: str, can: tuple[Capability, ...]) -> Example | None:
    """Return another example if the model cannot answer the one that stands there; None for a text of the visitor's
    own.
    """
    standing = next((example for example in EXAMPLES if example.text == example_text), None)
    if standing is None or standing.needs in can:
        return None
    return next((example for example in EXAMPLES if example.needs in can), None)
