"""From BERT's recipe to RoBERTa's, a step at a time, with what each was worth."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import RECIPE
from explorer.labs.models.recipe import figures
from explorer.labs.models.recipe.schema import RecipeParams
from explorer.ui.controls import control
from explorer.ui.kit import View, asks, bench, caption, shows, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
RoBERTa is BERT's architecture, unchanged, trained by another recipe: BERT was **undertrained**. The authors change one thing at
a time (base size, BookCorpus and Wikipedia, 16 GB):

1. **Masks drawn anew** each time a sequence is read. BERT draws them beforehand: ten copies of the corpus, each masked once and
   seen four times in forty epochs. That is *static* masking, though lecture notes sometimes describe it as the dynamic one.
2. **No NSP**, and inputs of up to 512 tokens of whole sentences that may run over the end of a document (*full sentences*).
   BERT's own ablation found NSP useful; [Pairs](pairs) shows both tables, and why they disagree.
3. **Larger batches** with a higher peak rate (1e-4, 7e-4 and 1e-3 in Table 3), for the same number of sequences: 1M steps of 256
   see as many as 31K steps of 8K.
4. **More text for longer**, at large size: 160 GB for 13 GB, and up to 500K steps of 8K sequences. These are half of BERT's 1M
   steps, but each reads 32 times as many sequences as BERT's of 256. The first row below BERT-large has all that comes before
   at once, on about BERT's text; the rows after it add text, then steps.

**Why a larger batch, a higher rate, a warm-up:**

* The mean gradient of a batch of $B$ rows misses the true one by about $1/\sqrt B$: a larger batch points more surely.
* A surer step may be a longer one, so the peak rate rises with the batch, from 1e-4 to 1e-3.
* At first Adam's second moment rests on a few gradients and the weights are random: the rate starts at 0 and rises in a warm-up.
* The same number of sequences takes fewer, larger steps, and a large batch is easily shared among many machines.

**Text or steps?** From 16 to 160 GB MNLI gains 0.3 and SQuAD 2.0 0.4; from 100K to 500K steps on 160 GB they gain 0.9 and 1.7
(Table 4). Both help, and the steps helped more. RoBERTa doesn't mend that `[MASK]` never occurs later; ELECTRA does.

BERT trains nine tenths of its steps on 128 tokens and the rest on 512, RoBERTa on 512 throughout: short first, then long, is
BERT's schedule. And *robust* means this recipe, which holds from task to task, and not text with typing errors. (Liu et al. 2019,
sections 2 to 5; Tables 1 and 2 give medians over five seeds)
"""


def build_recipe(page: Page, tab: gr.Tab) -> None:
    """All of it is quoted, so there is nothing to wait for."""
    with bench():
        with asks(250):
            score = control(RecipeParams, "score")
            caption(
                "BERT was <b>undertrained</b>: the same model gains from more text and more steps. Quoted from Liu et al. 2019, "
                "Tables 1 to 4, in points. A hollow point is what its table starts from; batch sizes come with the peak rate, "
                "and all of Table 4 but BERT-large has batches of 8K."
            )
        with shows():
            view = View(
                *("bert-to-roberta", "recipe", figures.recipe_sentence, figures.recipe_figure),
                notes=figures.recipe_notes,
            )
    why("each step", WHY)
    steps = Connection(page, RECIPE, {"score": score}, view)
    steps.on(tab.select, score.input)
