"""Sentence order: one pair by an SOP head, and both heads on the same true, swapped and random pairs."""

from __future__ import annotations

import asyncio
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.engine.protocol import answer
from explorer.errors import readable
from explorer.labs.pairs import SCORE_KINDS, SCORE_ORDER
from explorer.labs.pairs import order as figures
from explorer.labs.pairs.order import KindsParams, OrderParams
from explorer.labs.pairs.schema import OrderResult
from explorer.models.catalog import all_with, bundled, bundled_with
from explorer.models.families import Capability
from explorer.models.records import read_scores
from explorer.plain import Asked
from explorer.settings import BUNDLED_MODELS
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import QUIET, Tries, View, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.outputs import Outputs
from explorer.ui.page import Page
from explorer.ui.used_model import names_used
from explorer.ui.wiring import Connection, page_frame

FIRST = "Marie Curie was born in Warsaw in 1867."
SECOND = "She moved to Paris in 1891 and studied physics."
STORY = (
    "The ship left the harbour at dawn. By noon a strong wind blew from the west. "
    "The captain therefore ordered the crew to take in the sails. They worked until it was dark. "
    "Only then did the cook bring them something to eat."
)
OTHER = (
    "The central bank raised its interest rate by a quarter of a percent. Penguins cannot fly, but they swim well. "
    "The band released its first album in 1994. Bread is made of flour, water and salt."
)
TRY = {
    "A biography": (
        "He was born in a small village in the north. At the age of six he went to school in the next town. "
        "There he learned to read and write. Later he studied law at the university. "
        "After his exams he returned to the village."
    ),
    "A recipe": (
        "First put the flour into a large bowl. Then add the eggs and the milk. Mix them until the dough is smooth. "
        "After that leave it in a warm place for an hour. Finally bake it until it is brown."
    ),
    "No order at all": (
        "The red house has four rooms. The green house has a garden. The blue house stands at the river. "
        "The white house has no windows."
    ),
}
PAIRED = {"NSP": "bert-mini", "SOP": "albert-mini"}
"""What our two models of one width were trained with."""

WHY = r"""
ALBERT keeps a task on pairs and changes what is false. NSP's false pairs come from another text: whoever sees the topic sees the
answer. **Sentence order prediction** takes two neighbouring segments and swaps them half the time: the topic is the same in both
classes, and what is left is how a text goes on (*then*, *she*, *there*, *after that*). The head is BERT's: the pooled state of
`[CLS]` and a linear layer to two scores,

$$P(\text{in order}) = \operatorname{softmax}(W \tanh(W_p h_{\text{[CLS]}} + b_p) + b)_{\text{in order}}$$

Its loss is the same cross-entropy, $\mathcal{L}_{\text{SOP}} = -\ln P(\text{true class})$, and ALBERT is trained on
$\mathcal{L}_{\text{MLM}} + \mathcal{L}_{\text{SOP}}$.

A model trained on NSP is at chance on order (52.0%), one trained on order still does fairly on NSP (78.9%): the harder task
contains much of the easier one. (Lan et al. 2020, sections 3.1 and 4.6, Table 5)

albert-mini learned order from 182,000 pairs, not from 500 million rows: it knows clear cases, a name before *she*, a beginning
before what goes on. Of the easier task it has learned nothing on the way (figure above).
"""


def build_order(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: what each objective teaches of the other's task, and one pair."""
    used = gr.Column()
    ours = _ours()
    if len(ours) == len(PAIRED):
        sentence_place("cells-said", str(figures.cells_sentence(ours)))
        plot("nsp-and-sop", value=figures.cells_figure(ours), elem_id="cells-figure")
        rich_text(str(figures.cells_notes()), elem_id="cells-notes")
    with two_columns():
        with inputs_column():
            sop = _choice(Capability.SOP, "Model with an SOP head")
            texts = controls(OrderParams, first=FIRST, second=SECOND)
            button = gr.Button("Score the order", variant="primary")
            swap = gr.Button("Swap the two", size="sm")
        with outputs_column():
            view = View(
                "sentence-order", "order", figures.order_sentence, figures.order_figure, notes=figures.order_notes
            )
            loss = rich_text(elem_classes=["measures"], elem_id="order-loss")
            trust = rich_text(elem_id="order-trust")

    def trusted(result: OrderResult) -> Markup:
        scores = read_scores(BUNDLED_MODELS / result.model) if result.model in bundled() else None
        return figures.trust_sentence(result.model, scores)

    why("sentence order", WHY)
    score = Connection(
        page, SCORE_ORDER, {"model": sop, **texts}, [*view, (loss, figures.order_loss), (trust, trusted)]
    )
    boxes = list(texts.values())
    swapped = swap.click(fn=None, js="(a, b) => [b, a]", inputs=boxes, outputs=boxes, api_visibility="private")
    score.on(button.click, *(box.submit for box in boxes), sop.input, tab.select, swapped.then)
    with used:
        names_used(page, sop)


def _choice(capability: Capability, said: str) -> gr.Dropdown:
    """Return a choice of the models that have a head; another can be typed."""
    able = all_with(capability)
    return gr.Dropdown(able, value=next(iter(bundled_with(capability)), able[0]), label=said, allow_custom_value=True)


def build_both(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: the same pairs by a head of each kind, and what both kinds score on held-out pairs."""
    used = gr.Column()
    with two_columns():
        with inputs_column():
            nsp = _choice(Capability.NSP, "Model with an NSP head")
            sop = _choice(Capability.SOP, "Model with an SOP head")
            texts = controls(KindsParams, text=STORY, other_text=OTHER)
            button = gr.Button("Score all three kinds", variant="primary")
        with outputs_column():
            view = View(
                "pairs-of-three-kinds", "kinds", figures.kinds_sentence, figures.kinds_figure, notes=figures.kinds_notes
            )
            shown = Outputs(view)
            tries = Tries(TRY)
            rich_text(str(_measured()))
    alone = Connection(page, SCORE_KINDS, {"model": sop, **texts}, [])  # an endpoint has one model
    outputs = [*shown.components, *alone.outputs]

    async def respond(nsp: str, sop: str, text: str, other: str) -> list[Any]:
        """Ask both heads at once, a job each, and answer for both together."""
        models = (nsp, sop)
        try:
            params = KindsParams(text, other)
            results = await asyncio.gather(*(answer(page.engine, SCORE_KINDS.job, params, model) for model in models))
        except Exception as error:
            return [page.explain(readable(error)), *[gr.skip()] * len(outputs)]
        scripts = "\n".join(SCORE_KINDS.script(model, params) for model in models)
        asked = [Asked(page.engine, model, params, result) for model, result in zip(models, results, strict=True)]
        plain = "\n\n".join(SCORE_KINDS.plain(one) for one in asked) if SCORE_KINDS.plain else ""
        return ["", *shown.values(results), plain, scripts, page_frame(figures.both_table(results))]

    with used:
        names_used(page, sop, nsp)
    tried = tries.into([texts["text"]], show_progress="full")
    given = [nsp, sop, *texts.values()]
    # Of several quick changes the last one counts.
    options: dict[str, Any] = {"concurrency_limit": None, "trigger_mode": "always_last", **QUIET}
    for trigger in (button.click, nsp.input, sop.input, tab.select, *tried):
        trigger(respond, given, [page.notice, *outputs], **options)


def _ours() -> dict[str, tuple[str, float, float]]:
    """Return what was measured of PAIRED, in percent; a model without these figures is left out."""
    found = {}
    for trained, name in PAIRED.items():
        scores = read_scores(BUNDLED_MODELS / name) if name in bundled() else None
        nsp, sop = (scores.find(f"{kind}_segments") if scores else None for kind in ("nsp", "sop"))
        if nsp and sop:
            found[trained] = (name, 100 * nsp.value, 100 * sop.value)
    return found


def _measured() -> Any:
    trained = {Capability.NSP: "NSP", Capability.SOP: "SOP"}
    found = [
        (told, name, scores)
        for head, told in trained.items()
        for name in bundled()
        if name in bundled_with(head) and (scores := read_scores(BUNDLED_MODELS / name)) is not None
    ]
    return figures.two_by_two(found)
