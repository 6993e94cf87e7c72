"""How a finished model goes on: its own recipe on other draws of the text, the learning rate rising and falling anew."""

from __future__ import annotations

from dataclasses import replace

from pretraining.recipes import RECIPES, AlbertOrderRecipe, Gpt2Recipe, Stage, TrainingRecipe

CAN_GO_ON = ("bert-small", "bert-mini", "roberta-mini", "albert-mini", "gpt2-mini")
"""Those that learn from the text alone, without another model as their teacher."""

_TEXT = Stage(share=1.0, length=128, text=1.0, sentence=0.0, pair=0.0)

GPT2_FIRST = (
    replace(_TEXT, share=0.664125),
    replace(_TEXT, share=0.15, new_names=0.4, twice=0.2, taught=0.3, dropout=0.1),
    replace(_TEXT, share=0.185875, new_names=0.3, twice=0.05, dropout=0.1),
)
"""The first time gpt2-mini goes on: on its text as before, until that gained little more, then to copy."""

GPT2_SECOND = (
    replace(_TEXT, share=0.6, new_names=0.4, twice=0.2, taught=0.1, dropout=0.1),
    replace(_TEXT, share=0.4, new_names=0.3, twice=0.05, dropout=0.1),
)


ALBERT_AGAIN = {"wikitext": 0.58, "wikipedia": 0.32, "reviews": 0.05, "books": 0.05}
"""What albert-mini reads as it goes on: encyclopaedias above all, the kind of text that it is measured on."""


def further(name: str, *steps: int) -> TrainingRecipe:
    """Return the recipe by which a finished model learns on.

    steps: of each time that it goes on; the last is what the recipe runs, the others are done. albert-mini knows of order what
    votes can tell it, and goes on with the labels, at a lower rate. gpt2-mini learns to copy names that it does not know.
    """
    before = RECIPES[name]
    recipe = replace(before, start=name, steps=steps[-1], seed=before.seed + len(steps), further=steps)
    if isinstance(recipe, AlbertOrderRecipe):
        return replace(
            recipe,
            voted_share=0.0,
            taught_share=0.0,
            source_weights=ALBERT_AGAIN,
            learning_rate=2.5e-4,
            embedding_learning_rate=2.5e-4,
        )
    if isinstance(recipe, Gpt2Recipe):
        return replace(recipe, stages=GPT2_FIRST) if len(steps) == 1 else _gpt2_again(recipe)
    return recipe


def _gpt2_again(recipe: Gpt2Recipe) -> Gpt2Recipe:
    """A lower rate, and WikiText, which it has read ten times by then, less often."""
    return replace(
        recipe,
        stages=GPT2_SECOND,
        learning_rate=1.5e-3,
        head_learning_rate=1.5e-3,
        embedding_learning_rate=1.5e-3,
        source_weights={"wikitext": 0.35, "wikipedia": 0.27, "reviews": 0.2, "books": 0.09, "speeches": 0.09},
        look_again=((2, 2), (2, 3), (3, 1)),
    )
