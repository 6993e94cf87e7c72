"""Reads the signature of each kind of component once, where Gradio reads it anew for each component that it makes."""

from __future__ import annotations

import inspect
from functools import cache
from types import SimpleNamespace

from gradio import component_meta


def install() -> None:
    """Give Gradio's `component_meta` an `inspect` that remembers. Called more than once it changes nothing more."""
    if component_meta.inspect is inspect:  # type: ignore[attr-defined]
        known = {**vars(inspect), "getfullargspec": cache(inspect.getfullargspec)}
        component_meta.inspect = SimpleNamespace(**known)  # type: ignore[assignment, attr-defined]
