"""One word: how each tokenizer comes to its cut, step by step."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.inputs import CUT_WORD
from explorer.labs.inputs import cut_figures as figures
from explorer.labs.inputs.schema import WORDS, CutParams
from explorer.ui.components import rich_text, scripted
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
All steps come from the tokenizer's own file. **WordPiece** needs its vocabulary alone. **BPE** needs its list of merges: the
lower the rank, the earlier the pair was merged when the tokenizer was trained, since it was then the most frequent pair.
**Unigram** needs a log probability for each piece. The best cut of the first $j$ letters is found from those of all shorter
beginnings,

$$\text{best}(j) = \max_{i < j} \big[\text{best}(i) + \log p(x_{i+1 \dots j})\big]$$

which is Viterbi's algorithm. A letter that is in no piece costs 10 more than the least probable piece (SentencePiece's rule),
so it is used only where it must be. (Wu et al. 2016; Sennrich et al. 2016; Kudo 2018)
"""


def build_cut(page: Page, tab: gr.Tab, tabs: gr.Tabs, tokenizers: gr.Dropdown, pieces: gr.HTML) -> None:
    """Fill and wire the tab. pieces: pressing one opens this tab with its word."""
    with two_columns():
        with inputs_column(250):
            word = control(CutParams, "word", value=WORDS[0], elem_id="cut-word")
        with outputs_column():
            after_space = control(CutParams, "after_space", container=False)
            tries = Tries({name: name for name in WORDS[1:6]})
    said = sentence_place("cut-said")
    steps = scripted("cuts", {"blocks": []}, ("stepper",), elem_classes=["token-chips"], elem_id="cut-steps")
    notes = rich_text(elem_id="cut-notes")
    why("the three methods in steps", WHY)

    inputs = {"word": word, "models": tokenizers, "after_space": after_space}
    shown = [(said, figures.cut_sentence), (steps, figures.cut_view), (notes, figures.cut_notes)]
    connection = Connection(page, CUT_WORD, inputs, shown)
    pressed = pieces.select(_pressed, None, [word, after_space, tabs], **QUIET)
    connection.on(word.submit, after_space.input, tab.select, pressed.then, *tries.into([word]))


def _pressed(event: gr.EventData) -> list[Any]:
    """Return the word of the piece, and this tab in view."""
    return [str(event.word), bool(event.after_space), gr.Tabs(selected="cut")]
