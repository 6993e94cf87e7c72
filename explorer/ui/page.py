"""What a lab's tab receives: the chosen model, the engine, the place for messages, and when to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.action import Lab
from explorer.engine.protocol import Engine
from explorer.errors import ExplorerError, MissingCapabilityError
from explorer.models.catalog import bundled_with
from explorer.models.families import Capability


@dataclass
class Page:
    """One page while it is built.

    opened fires once, when the page's model and what its address says are in place; changed are the triggers that fire
    when another model is in place.
    """

    engine: Engine
    lab: Lab
    model: gr.Dropdown
    notice: gr.HTML
    opened: Callable[..., Any]
    changed: tuple[Callable[..., Any], ...]
    bindings: list[Any] = field(default_factory=list)
    """All that the page asks: every EventBinding enters itself, so that the address knows the controls."""
    also: list[tuple[str, Any]] = field(default_factory=list)
    """Controls that no action takes as they are, by the names that they have in the address; what is no control is left out."""

    @property
    def ready(self) -> tuple[Callable[..., Any], ...]:
        """All triggers after which what is in view must be computed."""
        return (self.opened, *self.changed)

    def explain(self, error: ExplorerError) -> str:
        """Return the notice for an error; if the model lacks a head, also why, and a button for a bundled one that has it."""
        text = Markup("<p>{}</p>").format(str(error))
        if isinstance(error, MissingCapabilityError) and self.lab.needs is not None:
            if error.capability not in (None, self.lab.needs.name):  # a part of the page with a model of its own
                able = ", ".join(bundled_with(Capability[str(error.capability)]))
                return str(Markup('<div class="notice" role="alert">{}<p>{} can.</p></div>').format(text, able))
            offers = [
                Markup('<button type="button" class="offer" data-model="{0}">{0}</button>').format(able)
                for able in bundled_with(self.lab.needs)
            ]
            text += Markup("<p>Switch to: {}</p>").format(Markup(" ").join(offers))
            reasons = self.lab.without_head
            text += reasons.get(error.model_type) or reasons.get("", Markup(""))
        return str(Markup('<div class="notice" role="alert">{}</div>').format(text))
