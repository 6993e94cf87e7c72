"""Outputs fill components: each is a function of a result, and of what the visitor chose to see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter, signature
from typing import Any

from gradio.components import Component
from markupsafe import Markup

Draw = Callable[..., Any]
Output = tuple[Component | Sequence[Component], Draw]
"""A component with the function of a result that fills it, or several with one that returns a value for each.

By the names of its parameters the function also gets what the visitor chose to see, the `seconds` since the question
was asked, and, if only the page is filled, the `owner` who asked.
"""


class Outputs:
    """Components and the functions that fill them. views: the controls, by name, that choose what is drawn and not what
    is computed.

    look: turns these choices into further values for a result, by name; it is called like the others, and its answer is
    handed to them.
    """

    def __init__(
        self,
        places: Iterable[Output],
        views: dict[str, Any] | None = None,
        look: Callable[..., dict[str, Any]] = lambda result: {},
    ) -> None:
        self._look = _by_name(look, views or {})
        self.components: list[Component] = []
        self._draws: list[tuple[Draw, bool]] = []
        for parts, draw in places:
            self.components += parts if isinstance(parts, Sequence) else [parts]
            self._draws.append((_by_name(draw, views or {}), isinstance(parts, Sequence)))

    def values(self, result: Any, **known: Any) -> list[Any]:
        """Return the components' values for a result."""
        known |= self._look(result, known)
        values: list[Any] = []
        for draw, several in self._draws:
            values += draw(result, known) if several else [draw(result, known)]
        # A plain str, as it would arrive from any other function.
        return [str(value) if isinstance(value, Markup) else value for value in values]


def _by_name(draw: Draw, views: dict[str, Any]) -> Draw:
    """Return a function of a result and of all that is known by name, which hands `draw` the names that it asks for.

    A view that nobody has chosen, as by a client, has `draw`'s own default, or the value that its control opens with.
    """
    asked = signature(draw).parameters
    opening = {
        name: control.value
        for name, control in views.items()
        if name in asked and asked[name].default is Parameter.empty
    }
    return lambda result, known: draw(result, **opening | {name: known[name] for name in known if name in asked})
