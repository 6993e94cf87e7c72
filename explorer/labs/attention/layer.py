"""One layer drawn: its six matrices, the two sums, the norms, and how a matrix is read as heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from explorer.action import Action
from explorer.charts.layer import layer_drawing
from explorer.charts.words import caption, prose, strong
from explorer.engine.protocol import Job
from explorer.models.layer_sizes import LayerSizes
from explorer.params import params
from explorer.tables import Table

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel


@params
class LayerParams:
    """A layer of the model; all of them have the same parts."""


@dataclass(frozen=True)
class LayerResult:
    """One layer of a model."""

    model: str
    sizes: LayerSizes


def one_layer(loaded: LoadedModel, params: LayerParams) -> LayerResult:
    """The matrices of one layer with their shapes, and the heads that its attention reads them as."""
    from explorer.models.layer_sizes import layer_sizes  # here: torch comes with it, and a page needs none

    return LayerResult(loaded.model_id, layer_sizes(loaded.model, loaded.architecture))


def layer_table(result: LayerResult) -> Table:
    """matrix (its role, or all roles with a plus between if they share one matrix), rows (numbers that come out),
    columns (numbers that go in), numbers (its weights, without biases).
    """
    return Table.each(result.sizes.matrices, matrix="name", rows="rows", columns="columns", numbers="numbers")


def layer_sentence(result: LayerResult) -> Markup:
    """Say how the query's matrix is read as heads."""
    sizes, rows = result.sizes, result.sizes.shapes["query"][0]
    start = f"In {result.model} the query's matrix "
    if sizes.heads == 1:
        return prose(start, "makes the query of the one head that there is.")
    if rows % sizes.heads:  # heads of unequal parts, so no number of rows is true of each
        return prose(start, f"serves {sizes.heads} heads.")
    return prose(start, "is read as ", strong(f"{sizes.heads} heads of {rows // sizes.heads}"), " rows each.")


def layer_notes(result: LayerResult) -> Markup:
    """State the matrix's size, what LoRA makes of it, what a token may look at, and how many such layers there are."""
    sizes, (rows, columns) = result.sizes, result.sizes.shapes["query"]
    parts = [f"The query's matrix is {rows:,} × {columns:,}."]
    if sizes.heads > 1 and rows % sizes.heads == 0:
        parts.append(f" LoRA treats {_whole(result)} as one.")
    if sizes.looks_back:
        parts.append(" A token's query meets its own key and earlier ones alone.")
    return caption(*parts, f" {_stack(result)}")


def _whole(result: LayerResult) -> str:
    """Say what LoRA adapts if it is put on the query."""
    # A fused matrix is named after its roles.
    found = next(one for one in result.sizes.matrices if "query" in one.name.split("+"))
    return f"query, key and value, {found.rows:,} × {found.columns:,}," if "+" in found.name else "the matrix"


def _stack(result: LayerResult) -> str:
    """Say how many layers the model stacks."""
    sizes = result.sizes
    if sizes.depth == 1:
        return "The model has this one layer."
    if sizes.distinct == 1:
        return f"A text goes through this one layer {sizes.depth} times."
    return f"{sizes.depth} such layers stand on each other, each with numbers of its own."


def layer_view(result: LayerResult) -> Markup:
    """Draw the layer, as SVG."""
    sizes = result.sizes
    activation = f"{sizes.activation}, gated" if sizes.gated else sizes.activation
    return layer_drawing(sizes.shapes, sizes.heads, activation, sizes.norm, sizes.norm_first)


ONE_LAYER = Action(Job("explorer.labs.attention.layer:one_layer"), LayerParams, layer_table)
