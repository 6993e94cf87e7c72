"""The events that every page with pressable tokens needs: what stays hidden when the text, the model or a control changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import gradio as gr

from explorer.charts.chips import TokenView, hidden_for
from explorer.ui.page import Page
from explorer.ui.wiring import Connection


class _Hiding(Protocol):
    @property
    def tokens(self) -> tuple[TokenView, ...]: ...


def hidden_now(result: _Hiding) -> str:
    """Return the positions that are hidden."""
    return ", ".join(str(token.position) for token in result.tokens if token.state == "masked")


def pressed_positions(event: gr.EventData) -> dict[str, Any]:
    """Return the tokens that are pressed now, as the chips report them."""
    return {"also_mask": list(event.positions)}


def keep_hidden(connection: Connection, chips: gr.HTML, *triggers: Any) -> None:
    """Run on triggers that may have changed text or model, with what still holds of the hidden tokens."""
    connection.on(*triggers, extra={"chips": chips}, adapt=still_hidden)


def still_hidden(values: dict[str, Any]) -> dict[str, Any]:
    """Return a new request's parameters with what still holds of the hidden tokens. values: with the last answer's `chips`."""
    chips = values.pop("chips") or {}
    return values | hidden_for(chips, str(values["model"]), str(values["text"]), str(values["also_mask"] or ""))


def open_with(page: Page, example: str, word: str, text: gr.Textbox, hidden: gr.Textbox) -> list[Callable[..., Any]]:
    """Hide a word of the worked example when the page opens; whatever a visitor has typed stays. Return the next triggers."""

    def fresh(current: str, already: str) -> str:
        return word if current == example and not already else already

    return [ready(fresh, [text, hidden], [hidden], api_visibility="private", queue=False).then for ready in page.ready]
