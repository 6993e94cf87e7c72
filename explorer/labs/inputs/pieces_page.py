"""Pieces: one text by several tokenizers, beside each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.labs.inputs import TOKENIZE
from explorer.labs.inputs import pieces_figures as figures
from explorer.labs.inputs.schema import DEFAULT_TOKENIZERS, MOST_TOKENIZERS, TEXTS, TRY, TokenizeParams, TokenizeResult
from explorer.models.catalog import CATALOG, OWN_TOKENIZERS
from explorer.ui.components import plot, rich_text, scripted
from explorer.ui.controls import control
from explorer.ui.kit import (
    QUIET,
    Examples,
    Tries,
    caption,
    inputs_column,
    outputs_column,
    sentence_place,
    two_columns,
    why,
)
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.wiring import Connection


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
        info="Asked here; what is picked at the top takes the first place. Also a hub id, or a folder. "
        "byte-level-bpe and unigram are this app's own.",
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


WHY = r"""
A model has no letters: it has a list of pieces, and a vector for each. Three ways to make the list, and to cut by it:

- **WordPiece** (BERT, DistilBERT, ELECTRA): in each word the *longest match first*, from the left; `##` marks a piece that goes
  on inside a word. Where no piece fits, the whole word becomes `[UNK]`, and the model reads nothing of it. (Devlin et al. 2019,
  section 3; Wu et al. 2016, section 4.1)
- **Byte-level BPE** (GPT-2, RoBERTa, ModernBERT): the text becomes its UTF-8 *bytes*, and the pairs that stood beside each other
  most often in the training text are merged, in the order in which they were learned. Each of the 256 bytes is a piece, so
  nothing is unknown; rare scripts cost several pieces a letter. (Sennrich et al. 2016; Radford et al. 2019, section 2.2)
- **SentencePiece unigram** (ALBERT, DeBERTa-v3, T5): every piece $x$ has a probability $p(x)$, and the cut is the one that
  maximises $\prod_i p(x_i)$; a space is a letter like others, written `▁`. Letters that were too rare in the training text are
  unknown. (Kudo 2018, section 3.2; Kudo and Richardson 2018)

`byte-level-bpe` and `unigram` were trained for this app on the same English text, 16,000 pieces each, so they are small beside
published ones: what differs between them is the method.
"""


def build_pieces(page: Page) -> tuple[gr.Dropdown, gr.HTML]:
    """Fill and wire the tab. Return the choice of tokenizers, and the pieces that can be pressed."""
    opened: set[str] = set()  # by all visitors: whoever asks next need not wait
    known = dict(TEXTS)
    with two_columns():
        with inputs_column():
            text = control(TokenizeParams, "text", value=TEXTS[0][1], elem_id="pieces-text")
            button = gr.Button("Cut it in pieces", variant="primary")
            tokenizers = tokenizer_choice()
            examples = Examples(known)
            below = gr.Radio(
                [(title, name) for name, title in figures.BELOW.items()], value="id", label="Under each piece"
            )
        with outputs_column():
            said = sentence_place("pieces-said")
            pieces = scripted("pieces", {"rows": []}, elem_classes=["token-chips"], elem_id="pieces-rows")
            caption("Press a piece to see how its word is cut, step by step.")
            notes = rich_text(elem_id="pieces-notes")
            tries = Tries({name: known[name] for name in TRY})
            bars = plot("pieces-a-word", elem_id="pieces-figure")
    why("the three methods and their papers", WHY)

    def said_of(result: TokenizeResult) -> Markup:
        opened.update(done.name for done in result.tokenized)
        return figures.tokenize_sentence(result)

    shown: list[Output] = [(pieces, figures.pieces_view), (said, said_of), (bars, figures.words_figure)]
    shown.append((notes, figures.tokenize_notes))
    connection = Connection(page, TOKENIZE, {"text": text, "models": tokenizers}, shown, views={"below": below})
    connection.on(button.click, text.submit, below.input, page.opened)
    connection.on(examples.into([text]), *tries.into([text]))
    connection.on(follow(page, tokenizers, opened))
    return tokenizers, pieces
