"""From BERT's recipe to RoBERTa's, a step at a time: what each was worth, quoted (Liu et al. 2019, Tables 1 to 4)."""

from __future__ import annotations

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.models.recipe_figures import recipe_figure, recipe_notes, recipe_sentence, recipe_table
from explorer.labs.models.recipe_schema import PUBLISHED, RecipeParams, RecipeResult
from explorer.tab import Choice, Figure, Note, Tab, Why


def recipe_steps(params: RecipeParams) -> RecipeResult:
    """Quote the steps of RoBERTa's recipe with the scores that its paper gives for each."""
    return RecipeResult(params.score, PUBLISHED)


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

RECIPE = Action(Job("explorer.labs.models.recipe:recipe_steps", on="nothing", light=True), RecipeParams, recipe_table)

TAB = Tab(
    "recipe",
    "RoBERTa's recipe",
    RECIPE,
    asks=(
        "score",
        Choice("view", "Show", (("the staircase", "stairs"), ("every row", "rows"))),
        Note(
            "Quoted from Liu et al. 2019, Tables 1 to 4, in points; a step is as high as its gain. Among all rows a hollow "
            "point is what its table starts from; batch sizes come with the peak rate, and all of Table 4 but BERT-large has "
            "batches of 8K."
        ),
    ),
    figure=Figure("recipe", "bert-to-roberta", recipe_sentence, recipe_figure, recipe_notes),
    why=Why("each step", WHY),
    slim=True,
)
