"""Two tabs: a corpus's scores beside LoRA's Table 3, and one of its sentences taken apart."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.generation import apart as apart
from explorer.labs.generation import apart_formulas as formulas
from explorer.labs.generation import apart_pictures as pictures
from explorer.labs.generation import scores_figures as figures
from explorer.labs.generation.apart import SCORE_PARTS, PartsParams
from explorer.labs.generation.scores import SCORE_TEXTS, ScoreParams
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.places.bundled import restaurants
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

HYPOTHESES = """\
The Copper Kettle is a cheap, child-friendly pub by the river.
Bella is a highly rated Italian restaurant near the old mill.
Harbour Lights serves fish in the city centre. It has a low customer rating.
The Fig is a coffee shop in the north that isn't family-friendly.
There is a place called Lantern House with French food for £20-25."""

REFERENCES = """\
The Copper Kettle is a cheap pub on the river that welcomes children.
By the river there is a cheap, child-friendly pub, the Copper Kettle.

Near the old mill you will find Bella, a highly rated Italian restaurant.
Bella is an Italian restaurant with a high customer rating. It is near the old mill.

Harbour Lights is a fish restaurant in the city centre with a low customer rating.
You can eat fish at Harbour Lights in the city centre, but customers rate it low.

The Fig, a coffee shop in the north, is not family-friendly.
If you have no children with you, try the coffee shop The Fig in the north.

Lantern House serves French food at prices from £20 to £25.
Lantern House has French dishes in the £20-25 range."""

_GROUPS = [group.splitlines() for group in REFERENCES.split("\n\n")]
_COPIED = "\n".join(group[0] for group in _GROUPS)
_TURNED = "\n".join(" ".join(line.rstrip(".").split()[::-1]) + "." for line in HYPOTHESES.splitlines())
_SHORT = "\n".join(" ".join(line.split()[:4]).rstrip(",.") + "." for line in HYPOTHESES.splitlines())

PEOPLE = 40
"""Bundled meanings whose two texts are held against each other."""
_PEOPLE = restaurants()[:PEOPLE]

TRY = {
    "As a model writes": (HYPOTHESES, REFERENCES),
    "The first reference itself": (_COPIED, REFERENCES),
    "The words turned round": (_TURNED, REFERENCES),
    "Only four words": (_SHORT, REFERENCES),
    "One writer against another": tuple("\n".join(one.references[place] for one in _PEOPLE) for place in (0, 1)),
    "One reference each": (HYPOTHESES, "\n".join(group[0] for group in _GROUPS)),
}
"""Hypotheses and references by name."""


WHY = r"""
All five compare **n-grams**, runs of $n$ words, or aligned words with **several references**, since there is more than one good
sentence. They are computed as the E2E NLG Challenge's `measure_scores.py` computes them (Dušek, Novikova and Rieser 2020), so
that the numbers can stand beside published ones.

**BLEU** (Papineni et al. 2002) $= \mathrm{BP}\,(p_1 p_2 p_3 p_4)^{1/4}$: precision, in which an n-gram is credited at most as
often as one reference has it, and $\mathrm{BP} = \min(1, e^{1 - r/c})$ in place of recall. Words as NIST's mteval-v13a cuts them.
Counts are summed over the corpus before the division: BLEU of the corpus is no mean of its sentences.

**NIST** (Doddington 2002) counts each matched n-gram by its information
$\log_2 \frac{\mathrm{count}(w_1 \dots w_{n-1})}{\mathrm{count}(w_1 \dots w_n)}$ in all references, adds up orders 1 to 5
and has a milder length penalty.

**METEOR** (Denkowski and Lavie 2014) aligns words that are equal or have one stem, weighs recall more than precision
($\alpha = 0.85$) and takes off for every break: $F\,(1 - \gamma\,(\mathrm{chunks}/\mathrm{matches})^\beta)$. The challenge
runs the authors' Java program, version 1.5. The weights, function words and stems here are its own; **what differs**: its table
of paraphrases is missing here, its synonyms too where WordNet is not on the machine, and where its beam search
misses an alignment in fewer chunks, that one is found here. On the E2E test set this METEOR is about half a point to a point
below Java's.

**ROUGE-L** (Lin 2004): the longest common subsequence, $F$ with $\beta = 1.2$ of the largest precision and the largest recall of
all references, as coco-caption has it; the mean over sentences. Words as the Penn Treebank has them, without punctuation.

**CIDEr** (Vedantam et al. 2015): n-grams of 1 to 4 words weighed by
$\mathrm{count} \cdot \ln\frac{\text{groups}}{\text{groups with it}}$,
the cosine with each reference, the mean, times 10. coco-caption's `Cider`, which the challenge uses, is the paper's
**CIDEr-D**: matches clipped, and a factor $e^{-d^2/2\sigma^2}$, $\sigma = 6$, for a difference $d$ of the lengths.

BLEU, METEOR and ROUGE-L run from 0 to 1 by their formulas and are printed times 100, as papers do. **Which of the five agrees
best with people** is not measured here: no person has judged these sentences, and a higher score is not yet a better text.
WebNLG and DART, in the appendix of Hu et al. 2021, are two more tasks of this kind.
"""
AS_THEY_STAND = "No model is asked here: the texts are scored as they stand."

Texts = dict[str, Any]
"""The boxes with the hypotheses and the references."""


def build_scores(page: Page, tab: gr.Tab) -> Texts:
    """Fill and wire the tab. Return the boxes with the texts."""
    with two_columns():
        with inputs_column(330):
            texts = {
                "hypotheses": control(ScoreParams, "hypotheses", value=HYPOTHESES, elem_id="scores-hypotheses"),
                "references": control(ScoreParams, "references", value=REFERENCES, elem_id="scores-references"),
            }
            button = gr.Button("Score", variant="primary", elem_id="scores-start")
        with outputs_column():
            view = View("scores", "scores", figures.scores_sentence, figures.scores_figure, notes=figures.scores_notes)
            tries = Tries(TRY)
            caption(AS_THEY_STAND)
            with gr.Accordion("In the paper: LoRA's Table 3, beside these texts", open=False):
                published = rich_text(elem_id="scores-published", elem_classes=["wide"])
    why("the five formulas, and whose numbers these are", WHY)
    scored = Connection(page, SCORE_TEXTS, texts, [*view, (published, figures.lora_table)])
    scored.on(button.click, *tries.into(list(texts.values())), tab.select)
    return texts


def build_parts(page: Page, tab: gr.Tab, texts: Texts) -> None:
    """Fill and wire the tab that takes one sentence of the texts apart."""
    with two_columns():
        with inputs_column(250):
            sentence = control(PartsParams, "sentence", elem_id="parts-sentence")
            metric = gr.Radio(METRICS, value=METRICS[0], label="Metric", elem_id="parts-metric")
        with outputs_column():
            drawn = View("parts", "parts", apart.parts_sentence, pictures.parts_figure, notes=apart.parts_notes)
            caption(AS_THEY_STAND)
    filled = rich_text(elem_id="parts-formulas", elem_classes=["wide"])
    inputs = {**texts, "sentence": sentence}
    parts = Connection(
        page,
        SCORE_PARTS,
        inputs,
        [*drawn, (filled, formulas.formulas)],
        views={"metric": metric},
    )
    opened = tab.select(_within, [texts["hypotheses"], sentence], [sentence], **QUIET)
    parts.on(opened.then, sentence.change, metric.input)


def _within(hypotheses: str, sentence: float) -> dict[str, Any]:
    """Return the slider, with as many sentences as there are."""
    count = sum(bool(line.strip()) for line in hypotheses.splitlines())
    # A slider's ends differ.
    return gr.update(maximum=max(2, count), value=max(1, min(int(sentence or 1), count)))
