"""Whose figure it is: the page's figures say which model they were drawn from."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from explorer.errors import ExplorerError
from explorer.runs.record import RunRecord
from explorer.ui.page import Page

OF_RUN = "of-run"
"""The class of an input that holds a run: while it does, assets/page.js names no model as the one that computes."""


def as_named(model: str) -> str:
    """Return a model as a visitor reads it: a folder of this machine by its last part."""
    return Path(model).name if Path(model).is_absolute() else model


def model_of(record: RunRecord) -> str:
    """Return the model that a run adapted, as figures name it; "" for one that began from nothing."""
    return "" if record.from_nothing else as_named(record.spec.model)


def whose(page: Page, model: str, params: Any, result: Any, drawn: str = "") -> str:
    """Return the model that a figure is of, as figures name it: its run's, if one is asked; "" if there is none.

    model: the one that the job runs on; "" where it is one of the parameters. drawn: the one that was chosen to be drawn, of
    several that were asked.
    """
    asked = drawn or model or getattr(params, "model", None) or ""
    run = getattr(params, "run", None)
    only_beside = asked and getattr(result, "model", "") == asked  # as on Memory, where the model is what is asked
    if run and not only_beside:
        with suppress(ExplorerError):  # deleted since
            return model_of(page.engine.runs.get(run))
        return ""
    return as_named(asked)


def signed(components: Iterable[Any], values: Iterable[Any], model: str) -> list[Any]:
    """Return the components' values; a figure's also says whose it is, which assets/page.js shows above it."""
    return [
        value | {"of": model} if model and _is_picture(component, value) else value
        for component, value in zip(components, values, strict=True)
    ]


def _is_picture(component: Any, value: Any) -> bool:
    """Return whether a value is a figure, and not an update of one."""
    figure = "figure" in (component.elem_classes or ())
    return figure and isinstance(value, dict) and bool(value) and "__type__" not in value
