"""The model that a page's question names, and what of the question that model has."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from explorer.errors import ExplorerError
from explorer.kinds import Name
from explorer.models.catalog import DEFAULT_MODEL
from explorer.runs.checks import depth_of_model, heads_of_model
from explorer.settings import settings
from explorer.text import encodable


def within_model(values: dict[str, Any], views: Container[str] = ()) -> dict[str, Any]:
    """Turn a page's question about a layer or a head that its model lacks, as after a turn to a smaller one, into one
    about the last.

    views: controls of how an answer is drawn, which are no question: there a number may count the embedding among the
    layers. What is no number, and a model that is not on this machine, are left to the action, which then refuses.
    """
    ends = {"layer": depth_of_model, "head": heads_of_model}
    asked = {
        name for name in ends if name not in views and isinstance(values.get(name), (int, float)) and values[name] > 0
    }
    if not asked:
        return values
    try:
        model = model_named(values.get("model"))
        return values | {name: min(values[name], ends[name](model, settings()) - 1) for name in asked}
    except ExplorerError:
        return values


def model_named(value: object) -> str:
    """Return the model's name that came, or the bundled model's if none did. Raises BadInputError for what is no name."""
    name = Name(optional=True).read(encodable(value), "model")
    return name.strip() or DEFAULT_MODEL
