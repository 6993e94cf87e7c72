"""Probes: a task, the models, and for each layer what a probe reads beside what it learns by heart."""

from __future__ import annotations

import gradio as gr

from explorer.labs.context.probe import (
    COMPARED,
    PROBE_LAYERS,
    STOPPED,
    ProbeParams,
    probe_bar,
    probe_figure,
    probe_notes,
    probe_sentence,
)
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import (
    Tries,
    View,
    caption,
    inputs_column,
    more,
    outputs_column,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.streams import Stream

TRY = {
    "Which sense a word has": ("sense", list(COMPARED), 0.1),
    "Noun or verb": ("pos", list(COMPARED), 0.1),
    "How deep in the parse": ("depth", list(COMPARED), 0.1),
    "From one side and from both": ("depth", ["gpt2-mini", "bert-mini"], 0.1),
}

WHY = r"""
A **probe** is a linear classifier that is given a word's state $h^{(\ell)}$ in one layer, and nothing else:
$p = \text{softmax}(W h + b)$. Where it labels words that it has never seen, the label can be read from that layer. The model
itself isn't trained (Alain and Bengio 2017). $W$ minimises the mean cross-entropy plus $\frac{\lambda}{2} \lVert W \rVert^2$
over standardised states, which has one solution.

**Why a control.** With several hundred dimensions a probe can also learn a list by heart. So the same probe is trained on a
**control task**: each word gets a label at random, the same wherever it stands. That can only be learned by heart, and never
for a new word. What the probe has beyond it is its *selectivity* (Hewitt and Liang 2019, section 2). A larger $\lambda$ leaves
less room to learn by heart. For the senses, a label is drawn for each word that tells the sense (*money* or *river* beside
*bank*).

**Layer 0** is what enters the first layer, with no word of the sentence mixed in. There a word with two senses can only be
guessed. In a third of these sentences the word that tells the sense comes after it, so a model that reads only what came
before, such as GPT-2, is expected to be right about $\frac{2}{3} + \frac{1}{3} \cdot \frac{1}{2} = 83\%$ at most. What a
probe reads, a model need not use: only a change of the state can tell that (see *Carry over*).

**The sentences** are this project's own (`assets/probes`). A grammar writes them, so parts of speech and parses are known and
not judged: 400 sentences that need make no sense, a third of them held out, with words that the others lack. The senses: ten
words with two each, beside 24 others in three sentences that are the same for all; every third of the others is held out.
"""


def build_probe(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab, which opens with what was measured beforehand."""
    with two_columns():
        with inputs_column():
            task = control(ProbeParams, "task")
            start, stop = start_stop("Train the probes", "probe-start")
            with more("models, penalty and seed"):
                models = control(ProbeParams, "models")
                penalty = control(ProbeParams, "penalty")
                seed = control(ProbeParams, "seed")
        with outputs_column(3):
            view = View("probes", "probe", probe_sentence, probe_figure, probe_bar, notes=probe_notes)
            caption(
                "Dashed: labels drawn at random, which can only be learned by heart. Grey: always the commonest label."
            )
            tries = Tries(TRY)
    why("probes, their controls and the sentences", WHY)
    inputs = {"task": task, "models": models, "penalty": penalty, "seed": seed}
    steered = [([start, stop], lambda result: start_or_stop(not result.is_done))]
    stream = Stream(page, PROBE_LAYERS, inputs, view, steered=steered, views={"drawn": page.model})
    asked = [start.click, seed.submit, *tries.into([task, models, penalty])]
    redrawn = [task.input, while_in_view("#probe-start", *page.changed)]
    stream.opens(tab.select, *redrawn, note=view.bar, start=str(start.value), asked=asked, last=gr.JSON(visible=False))
    stream.on(*asked)
    stream.stops(start, stop, view.bar, str(STOPPED))
