"""The choice of tokenizers, which two tabs of the inputs page go by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.labs.inputs.schema import DEFAULT_TOKENIZERS, MOST_TOKENIZERS
from explorer.models.catalog import CATALOG, OWN_TOKENIZERS
from explorer.ui.kit import QUIET
from explorer.ui.page import Page


def tokenizer_choice() -> gr.Dropdown:
    """Return a choice of up to four tokenizers, of the catalog or typed."""
    names = [*OWN_TOKENIZERS, *(card.model_id for card in CATALOG)]
    return gr.Dropdown(
        sorted(names, key=lambda name: name not in DEFAULT_TOKENIZERS),  # the default ones stand first
        value=list(DEFAULT_TOKENIZERS),
        multiselect=True,
        allow_custom_value=True,
        max_choices=MOST_TOKENIZERS,
        label=f"Tokenizers, up to {MOST_TOKENIZERS}",
        info="Of the list, a hub id, or a folder. byte-level-bpe and unigram are this app's own.",
    )


def follow(page: Page, tokenizers: gr.Dropdown, opened: set[str]) -> Callable[..., Any]:
    """Say what is being fetched when the choice changes; return the trigger after which to ask again.

    A model that is picked above takes the first place. opened: names that have answered, for which nobody has to wait.
    """

    def note(names: list[str] | None) -> str:
        away = [name for name in names or () if name not in opened and name not in OWN_TOKENIZERS]
        away = [name for name in away if not page.engine.status(name).on_this_machine]
        says = Markup('<div class="notice" role="status"><p>Fetching the tokenizer of {} …</p></div>')
        return str(says.format(" and ".join(away))) if away else ""

    def with_model(model: str, names: list[str] | None) -> list[str]:
        return [model, *(name for name in (names or [])[1:] if name != model)]

    for change in page.changed:
        change(with_model, [page.model, tokenizers], [tokenizers], **QUIET)
    then: Callable[..., Any] = tokenizers.change(note, [tokenizers], [page.notice], **QUIET).then
    return then
