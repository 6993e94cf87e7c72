"""What the script without the package is told about an attribution."""

from __future__ import annotations

from typing import Any

from explorer.labs.attribution.schema import AttributionResult
from explorer.plain import CLASSES_OF, Asked, architecture_of, as_read, plain_script, run_values
from explorer.text import up_to_blank

IN_THE_SCRIPT = ("integrated_gradients", "gradient_x_input", "saliency", "occlusion", "rollout")
"""Conductance, a number for each layer and token, is left out."""


_NEEDS = "torch transformers captum"


def attribute(asked: Asked) -> str:
    """Make the script; "" for a question that it does not put, or for conductance alone."""
    result: AttributionResult = asked.result
    fixed, values = result.asked.fixed, _values(result)
    if fixed.slug not in CLASSES_OF or not values["METHODS"]:
        return ""
    if fixed.slug == "continue":
        values |= dict(zip(("TEXT", "SECOND"), up_to_blank(as_read(fixed.text), as_read(fixed.second)), strict=True))
    return plain_script("attribute", lambda _: {**values, "QUESTION": fixed.slug}, _NEEDS)(asked)


def attribute_run(asked: Asked) -> str:
    """Make the script for a fine-tuned classifier.

    Return "" if it reads the last token, or is of a method that the script cannot put together.
    """
    record, values = asked.engine.runs.get(asked.params.run), _values(asked.result)
    run = run_values(asked, record)
    family = architecture_of(asked, record.spec.model)
    if not run or not values["METHODS"] or family is None or family.layers.reads_last:
        return ""
    second = asked.params.sentence_b if len(record.columns) == 2 else ""
    return plain_script("attribute_run", lambda _: {**run, **values, "SENTENCE_B": second}, f"{_NEEDS} peft")(asked)


def _values(result: AttributionResult) -> dict[str, Any]:
    """Return what is asked, and those of the chosen methods that the scripts have."""
    fixed, parts = result.asked.fixed, result.chosen if len(result.chosen) == 1 else result.parts
    return {
        "PLACE": fixed.place,
        "TARGET": fixed.target,
        "METHODS": tuple(part.method for part in parts if part.method in IN_THE_SCRIPT),
        "BASELINE": fixed.baseline,
        # 50: for a script in which no method takes steps.
        "STEPS": next((part.steps for part in parts if part.method == "integrated_gradients" and part.steps), 50),
        "UNITS": tuple(unit.positions for unit in result.units),
        "KEPT": tuple(token.position for token in result.asked.tokens if token.kept),
    }
