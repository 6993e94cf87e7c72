"""Two losses against the training step: a table, a sentence and a picture, from plain results."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Picture, axis, chart, line
from explorer.charts.words import prose, strong
from explorer.labs.directions.schema import ProofResult
from explorer.tables import Table

READ_OFF = 0.1
"""Nats below which a model does not guess the next token but knows it: 90% on average."""

TITLES = {"none": "no mask: the answer is in view", "causal": "causal mask: the left alone"}
COLOURS = {"none": "@first", "causal": "@second"}


def proof_table(result: ProofResult) -> Table:
    """mask, step, loss (of the next token on held-out text, in nats), accuracy."""
    found = [(curve.mask, step, loss, accuracy) for curve in result.curves for step, loss, accuracy in curve.points]
    return Table.of(("mask", "step", "loss", "accuracy"), found)


def proof_sentence(result: ProofResult) -> Markup:
    """Say where the two losses end, and what the first has learned if its loss is near zero."""
    free, causal = (curve.points[-1][1] for curve in result.curves)
    reads = ": it reads each answer off the next place and learns nothing else" if free < READ_OFF else ""
    return prose(
        "The proof: trained to say the next word of new text without a mask, a model's loss ends at ",
        strong(f"{free:.2f}"),
        f"{reads}. Under a causal mask it ends at ",
        strong(f"{causal:.2f}"),
        ".",
    )


def proof_figure(result: ProofResult) -> Picture:
    """Draw a line for each model, on text that it has not read."""
    drawn = [
        line(
            [step for step, _, _ in curve.points],
            [loss for _, loss, _ in curve.points],
            COLOURS[curve.mask],
            TITLES[curve.mask],
            size=7,
            hover="step %{x}: %{y:.3f}",
            aside=TITLES[curve.mask],
        )
        for curve in result.curves
    ]
    across, up = axis("training step"), axis("−ln p of the next token, held out", zero=True)
    return chart(proof_sentence(result), drawn, across, up, height=300, legend=True)
