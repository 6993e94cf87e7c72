"""The sentence-pair page: one pair in detail, every pair of a short text, sentence order, and whether NSP helped."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from explorer.labs.pairs import SCORE_ALL_PAIRS, SCORE_PAIR, ablations, figures
from explorer.labs.pairs.order_page import build_both, build_order
from explorer.labs.pairs.schema import AllPairsParams, PairParams, PairResult
from explorer.models.catalog import bundled, bundled_with
from explorer.models.families import Capability
from explorer.models.records import read_scores
from explorer.settings import BUNDLED_MODELS
from explorer.ui.components import plot, rich_text, token_chips
from explorer.ui.controls import controls
from explorer.ui.kit import (
    Examples,
    Tries,
    View,
    caption,
    inputs_column,
    outputs_column,
    sentence_place,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

EXAMPLES = (
    (
        "true next: a walk",
        "The hikers reached the top of the mountain just before noon.",
        "From there they could see the whole valley and the lake below.",
    ),
    (
        "another text",
        "The hikers reached the top of the mountain just before noon.",
        "The central bank raised its interest rate by a quarter of a percent.",
    ),
    (
        "swapped",
        "From there they could see the whole valley and the lake below.",
        "The hikers reached the top of the mountain just before noon.",
    ),
    (
        "true next: a band",
        "The band released its first album in 1994.",
        "It sold two million copies in the first year.",
    ),
    ("another text: a band", "The band released its first album in 1994.", "Penguins cannot fly, but they swim well."),
    ("true next: a shop", "She went to the bakery on the corner.", "She bought two loaves of bread and a cake."),
)

SWAP = "Swap the two"

TEXT = (
    "There was once a king who had three sons. The eldest left home to see the world. "
    "He came to a large forest. In the forest lived an old woman."
)
"""One story, in which bert-small's head finds the next sentence in every row."""

ONE_LIFE = (
    "Marie Curie was born in Warsaw in 1867. She moved to Paris in 1891. "
    "There she studied physics and chemistry. In 1903 she won the Nobel Prize."
)
"""One topic throughout: to the head nearly every sentence of it follows every other."""

TWO_STORIES = (
    "The band released its first album in 1994. It sold two million copies in the first year. "
    "Critics praised the voice of the singer. Penguins are birds that cannot fly. "
    "They live on the coasts of the southern seas. Their food is fish and squid."
)
"""Two stories in one text, so that the heatmap shows what the head goes by."""

WHY = r"""
BERT's second pretraining task: half of the pairs are neighbours in a text, half have a second part from another text. The pair is
read as `[CLS] A [SEP] B [SEP]`; every position adds up three embeddings, of the **token**, of the **segment** (0 up to the first
`[SEP]`, then 1) and of the **position**. The final state of `[CLS]` goes through a dense layer with tanh (the *pooler*) and a
linear layer to two scores,

$$P(\text{next}) = \operatorname{softmax}(W \tanh(W_p h_{\text{[CLS]}} + b_p) + b)_{\text{is next}}$$

The loss of a pair is the cross-entropy of its true class, $y = 1$ where the second part does follow and $q = P(\text{next})$:

$$\mathcal{L}_{\text{NSP}} = -\ln P(\text{true class})$$

$$= -y \ln q - (1 - y) \ln (1 - q)$$

A coin pays $\ln 2 = 0.693$ whatever is true; a head that is sure and right pays nearly nothing, one that is sure and wrong much
more than a coin. BERT is trained on the sum with the loss of the masked words, $\mathcal{L} = \mathcal{L}_{\text{MLM}} +
\mathcal{L}_{\text{NSP}}$, which [Pretrain](pretrain) follows on one row.

BERT reached 97–98% on this task (footnote 5). It is easy, since texts differ in topic: a swapped pair still looks like a
neighbour, which is why ALBERT replaced it by sentence order. (Devlin et al. 2019, section 3.1; Lan et al. 2020, section 3.1)
"""


def build(page: Page) -> None:
    """Lay out five tabs: one pair, all pairs of a text, sentence order, both heads, and what two papers say of NSP."""
    with gr.Tabs():
        with gr.Tab("One pair", id="one"):
            _one_pair(page)
        with gr.Tab("All pairs of a text", id="all") as everything:
            _all_pairs(page, everything)
        with gr.Tab("Order: SOP beside NSP", id="order", visible=bool(bundled_with(Capability.SOP))) as order:
            build_order(page, order)  # its endpoints are there without a bundled model too
        with gr.Tab("Both heads", id="both", visible=bool(bundled_with(Capability.SOP))) as both:
            build_both(page, both)
        with gr.Tab("Did it help?", id="helped"):
            _did_it_help()


def _did_it_help() -> None:
    """Lay out two papers' ablations; nothing is computed."""
    sentence_place("nsp-said", str(ablations.help_sentence()))
    plot("did-nsp-help", value=ablations.help_figure(), elem_id="nsp-figure")
    caption(
        "BERT: Devlin et al. 2019, Table 5, both directions. RoBERTa: Liu et al. 2019, Table 2, segment pairs with NSP against "
        "full sentences without it. Base size, on each task's development set. "
        "No model is asked here."
    )
    with why("two papers disagree on NSP"):
        with gr.Row(elem_id="nsp-papers"):
            for table in (ablations.bert_table(), ablations.roberta_table()):
                with gr.Column(min_width=560):
                    rich_text(str(table), elem_classes=["wide"])
        rich_text(str(ablations.disagreement()), elem_classes=["measures"], elem_id="nsp-disagreement")


def _one_pair(page: Page) -> None:
    with two_columns():
        with inputs_column():
            inputs = controls(PairParams, sentence_a=EXAMPLES[0][1], sentence_b=EXAMPLES[0][2])
            button = gr.Button("Score the pair", variant="primary")
            examples = Examples({name: pair for name, *pair in EXAMPLES})
        with outputs_column():
            view = View(
                "next-sentence",
                (None, "pair-figure"),
                figures.pair_sentence,
                figures.pair_figure,
                notes=figures.pair_notes,
            )
            loss = rich_text(elem_classes=["measures"], elem_id="pair-loss")
            trust = rich_text(elem_id="pair-trust")
            caption("The input as BERT sees it. Below each token: <b>segment · position</b>.")
            chips = token_chips(elem_id="pair-chips")
            tries = Tries({SWAP: None, "Another text": EXAMPLES[1][1:], "A true neighbour": EXAMPLES[3][1:]})

    def trusted(result: PairResult) -> Markup:
        scores = read_scores(BUNDLED_MODELS / result.model) if result.model in bundled() else None
        return figures.pair_trust_sentence(result.model, scores)

    boxes = list(inputs.values())
    why("the formula and the papers", WHY)
    score = Connection(
        page, SCORE_PAIR, inputs, [*view, (loss, figures.pair_loss), (trust, trusted), (chips, figures.pair_chips)]
    )
    score.on(button.click, *(box.submit for box in boxes), *page.ready)
    picked = examples.into(boxes, show_progress="full")
    swap = tries.buttons[SWAP]
    swapped = swap.click(fn=None, js="(a, b) => [b, a]", inputs=boxes, outputs=boxes, api_visibility="private")
    score.on(picked, swapped.then, *tries.into(boxes, show_progress="full"))


def _all_pairs(page: Page, tab: gr.Tab) -> None:
    with two_columns():
        with inputs_column():
            inputs = controls(AllPairsParams, text=TEXT)
            button = gr.Button("Score every pair", variant="primary")
            numbered = rich_text(elem_classes=["measures"])
        with outputs_column():
            ids = (None, "all-pairs-figure")
            view = View(
                "sentence-pairs",
                ids,
                figures.all_pairs_sentence,
                figures.all_pairs_figure,
                notes=figures.all_pairs_notes,
            )
            tries = Tries({"One story": TEXT, "Two stories in one text": TWO_STORIES, "One topic throughout": ONE_LIFE})
            caption("Outlined: the sentence that comes next in the text.")
    why("the formula and the papers", WHY)
    score = Connection(page, SCORE_ALL_PAIRS, inputs, [(numbered, figures.numbered), *view])
    score.on(button.click, tab.select, *page.changed, *tries.into(list(inputs.values())))
