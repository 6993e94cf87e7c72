"""A text continued: a row a decoding, and below it what else could have stood at the token that was pressed."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.generation import CONTINUE_TEXT, NEXT_TOKEN, next_figures
from explorer.labs.generation import continued_figures as figures
from explorer.labs.generation.continued import TRY, WRITER, ContinueParams, ContinueResult, NextParams
from explorer.models.families import Capability
from explorer.ui.components import rich_text, scripted, token_chips, while_in_view
from explorer.ui.controls import control
from explorer.ui.folds import Panel, page_frame
from explorer.ui.kit import (
    QUIET,
    Tries,
    View,
    inputs_column,
    outputs_column,
    sentence_place,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.outputs import Draw, Output
from explorer.ui.page import Page
from explorer.ui.streams import Stream
from explorer.ui.used_model import USED, filled_with, has
from explorer.ui.wiring import Connection, folds

PARAMETERS = ("k", "p", "temperature", "beams")


def writer_box(page: Page) -> tuple[gr.Textbox, gr.HTML, list[Any]]:
    """Lay out which model writes: one that can, if the visitor comes with another.

    Returns the box with its name, a line that names it in that case, to be rendered where there is room, and the
    triggers after which both are known.
    """
    box = gr.Textbox(WRITER, label="model", visible="hidden", elem_classes=[USED])
    line = rich_text(render=False)
    return box, line, filled_with(page, box, has(page, Capability.CAUSAL), WRITER, line, at_first=True)


class Asked:
    """The controls of the tab."""

    def __init__(self, page: Page) -> None:
        self.model, self._line, self.able = writer_box(page)
        self.branch = gr.Textbox("", label="branch", visible="hidden")
        self.inputs: dict[str, Any] = {"model": self.model}

    def lay_out(self) -> tuple[gr.Button, gr.Button]:
        """Lay out text, Continue and Stop, decodings, and their settings, one below the other; return the two buttons."""
        self.inputs["text"] = control(ContinueParams, "text", elem_id="continue-text")
        buttons = start_stop("Continue", "continue-start")
        self.inputs["decoding"] = control(ContinueParams, "decoding", elem_id="continue-decodings")
        with gr.Column(elem_id="continue-settings"):
            for pair in (("k", "p"), ("temperature", "beams"), ("tokens", "seed")):
                with gr.Row():
                    for name in pair:
                        bounds = {"minimum": 0, "maximum": LARGEST_SEED} if name == "seed" else {}
                        self.inputs[name] = control(ContinueParams, name, min_width=125, **bounds)
        self._line.render()  # type: ignore[no-untyped-call]
        self.inputs["branch"] = self.branch
        return buttons

    def afresh(self, trigger: Any) -> Any:
        """Return the trigger after which the branch is cleared: its tokens belong to the text, and to the model,
        before.
        """
        cleared = trigger(
            fn=None, js="() => ''", inputs=None, outputs=[self.branch], queue=False, api_visibility="private"
        )
        return cleared.then


WHY = r"""
A causal model gives every next token a probability, $p(x_t \mid x_1 \dots x_{t-1})$, from one score $z$ a token; how one of them
is chosen is no part of the model. All rows here come from the same model, the same text, and the same random numbers.

* **Greedy** takes the likeliest token each time, which doesn't make the likeliest text.
* **Beam search** keeps the $B$ best beginnings by $\sum_t \ln p(x_t \mid x_{<t})$ and goes on from each. Here nothing is added
  for length, so a longer text never scores better than its own beginning.
* **Temperature** draws from $p_i \propto \exp(z_i / T)$: below 1 the likely become likelier still, above 1 the tail comes up, and
  towards 0 it is greedy.
* **Top-k** draws from the $k$ likeliest, whatever they hold (Fan, Lewis and Dauphin 2018).
* **Top-p**, the nucleus, draws from the fewest likeliest tokens that hold the share $p$ together: one token where the model is
  sure, hundreds where it isn't (Holtzman et al. 2020).

**Why greedy loops.** What has just been written makes itself likelier: a sentence that occurred once is likely to occur again,
more so after each time, and a decoding that always takes the likeliest seldom leaves the circle. People's own words aren't the
likeliest: their probabilities go up and down, where those of beam search stay high (Holtzman et al. 2020). Drawing from the
whole vocabulary errs to the other side: each tail token is rare, but together they hold so much that one is soon drawn, and
the rest of the text builds on it. Top-k and top-p cut the tail off.

Keys and values of the tokens that were read are kept (the **KV cache**), so each new token costs one position and not the whole
text anew. All rows are one batch.
"""


def build_continued(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: rows come by a stream, the distribution of a pressed token by an action of its own."""
    asked = Asked(page)
    with two_columns():
        with inputs_column(290):
            start, stop = asked.lay_out()
        with outputs_column():
            said = sentence_place("continue-said")
            rows = scripted("writing", {"rows": []}, elem_id="continue-rows", elem_classes=["writing-rows"])
            gr.HTML(str(figures.legend()))
            bar, branched = rich_text(elem_id="continue-bar"), rich_text(elem_id="continue-branch")
            notes = rich_text(elem_id="continue-notes")
            tries = Tries(TRY)
    gr.Markdown("## The choice at one token")
    view = View(
        *("next-token", "next", next_figures.next_sentence, next_figures.next_figure), notes=next_figures.next_notes
    )
    gr.HTML('<p class="caption">Press a token to go on with it from here: all rows are continued anew.</p>')
    others = token_chips(elem_id="next-others")

    place: list[Output] = [*view, (others, next_figures.alternatives)]
    why("how a token is chosen", WHY)
    folded, at_one = folds(CONTINUE_TEXT, "the rows"), folds(NEXT_TOKEN, "one token")
    shown = [
        (said, figures.continue_sentence),
        (rows, figures.rows_view),
        (bar, figures.progress_line),
        (branched, figures.branch_view),
        (notes, figures.continue_notes),
        *((component, _of_next(draw)) for component, draw in place),
    ]

    def buttons(result: ContinueResult) -> list[Any]:
        return start_or_stop(not result.done)

    steered: list[Output] = [
        ([start, stop], buttons),
        (at_one.table, _of_next(lambda found: page_frame(next_figures.next_table(found)))),
    ]
    stream = Stream(page, CONTINUE_TEXT, asked.inputs, shown, folded, steered=steered)
    wanted = _wanted(asked, start, tries, others)
    opened = map(asked.afresh, [while_in_view("#continue-rows", *asked.able), tab.select])
    stream.opens(*opened, note=bar, start=str(start.value), asked=wanted)
    stream.on(*wanted)

    stream.stops(start, stop)
    _at_a_token(page, asked, rows, place, at_one)


def _of_next(draw: Draw) -> Draw:
    return lambda result: draw(result.next)


def _wanted(asked: Asked, start: Any, tries: Tries, others: gr.HTML) -> list[Any]:
    """Return what sets the rows going: from the text anew, or from a branch."""
    inputs = asked.inputs
    moved = tries.into({name: inputs[name] for name in inputs if name not in ("model", "branch", "seed", "beams")})
    anew = [start.click, inputs["text"].submit, *moved]
    # On release: each value on the way would be a question.
    sliders = [inputs[name].release for name in (*PARAMETERS, "tokens")]
    same = [inputs["decoding"].input, inputs["seed"].submit, *sliders]
    pressed = others.select(_branch, [others], [asked.branch], **QUIET)
    return [*map(asked.afresh, anew), *same, pressed.then]


def _branch(shown: dict[str, Any], event: gr.EventData) -> str:
    """Return the ids of the branch that begins with the pressed token."""
    return " ".join(map(str, shown["branches"][event.positions[-1]]))


def _at_a_token(page: Page, asked: Asked, rows: gr.HTML, place: list[Output], folded: Panel) -> None:
    """Wire the distribution at a pressed token."""
    # Filled by the press; a client names them.
    hidden = {name: control(NextParams, name, visible="hidden", choices=()) for name in ("decoding", "chosen")}
    own = {name: asked.inputs[name] for name in ("model", "text", "branch", "k", "p", "temperature")}
    at_token = Connection(page, NEXT_TOKEN, {**own, **hidden}, place, folded)

    def pressed(event: gr.EventData) -> dict[str, Any]:
        return {name: getattr(event, name) for name in ("branch", "decoding", "chosen")}

    at_token.on(rows.select, read=pressed)
