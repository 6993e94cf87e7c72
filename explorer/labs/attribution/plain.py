"""What the script without the package is told about an attribution."""

from __future__ import annotations

from explorer.labs.attribution.schema import AttributionResult
from explorer.labs.plain import CLASSES_OF, Asked, as_read, plain_script
from explorer.text import up_to_blank

IN_THE_SCRIPT = ("integrated_gradients", "gradient_x_input", "saliency", "occlusion", "rollout")
"""Conductance, a number for each layer and token, is left out."""


def attribute(asked: Asked) -> str:
    """None for a question that the script does not put, or for conductance alone."""
    result: AttributionResult = asked.result
    fixed, parts = result.asked.fixed, result.chosen if len(result.chosen) == 1 else result.parts
    methods = tuple(part.method for part in parts if part.method in IN_THE_SCRIPT)
    if fixed.slug not in CLASSES_OF or not methods:
        return ""
    steps = next((part.steps for part in parts if part.method == "integrated_gradients" and part.steps), 50)
    values = {
        "QUESTION": fixed.slug,
        "PLACE": fixed.place,
        "TARGET": fixed.target,
        "METHODS": methods,
        "BASELINE": fixed.baseline,
        "STEPS": steps,
        "UNITS": tuple(unit.positions for unit in result.units),
        "KEPT": tuple(token.position for token in result.asked.tokens if token.kept),
    }
    if fixed.slug == "continue":
        values |= dict(zip(("TEXT", "SECOND"), up_to_blank(as_read(fixed.text), as_read(fixed.second)), strict=True))
    return plain_script("attribute", lambda _: values, "torch transformers captum")(asked)
