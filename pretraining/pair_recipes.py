"""How bert-small and bert-mini learn NSP once more, on matched pairs, after their own training (recipes.py).

Models that have been through it have a pairs.json; bundled ones without are from before.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from explorer.maths.corruption import CorruptionRecipe
from pretraining.recipes import Stage, TrainingRecipe


@dataclass(frozen=True)
class MatchedPairsRecipe(TrainingRecipe):
    """NSP once more, on matched pairs (matched.py), for a BERT that is finished otherwise.

    into: the model that the result takes the place of; `start` is what it is before. first_layer: this layer and those above
    it learn, with pooler and NSP head; still: what of them does not, by the beginnings of its names. neighbours: how many
    neighbouring sentences of each source are looked at; written: sources in which every pair was written as one. held_every:
    one batch in so many is masked, and there held_weight weighs the states' movement.
    """

    into: str = "bert-small"
    first_layer: int = 3
    still: tuple[str, ...] = ()
    neighbours: dict[str, int] = field(
        default_factory=lambda: {
            "everyday": 6000,
            "tatoeba": 2000,
            "books": 3000,
            "reviews": 3500,
            "wikipedia": 700,
            "wikitext": 700,
        }
    )
    written: tuple[str, ...] = ("everyday", "tatoeba")
    held_every: int = 5
    held_weight: float = 0.5


@dataclass(frozen=True)
class HeadRecipe:
    """The NSP head alone, on the pooled states as they are (nsp_head.py); the same for every model.

    neighbours, written: as for MatchedPairsRecipe. random: how many of BERT's own pairs of each source, in rows of `length`.
    shares: how much the pairs of each kind weigh. strengths: how strongly the weights are held small, to choose from.
    """

    neighbours: dict[str, int] = field(default_factory=lambda: {"everyday": 6000, "tatoeba": 2000})
    written: tuple[str, ...] = ("everyday", "tatoeba")
    random: dict[str, int] = field(
        default_factory=lambda: {"wikitext": 600, "wikipedia": 300, "books": 100, "reviews": 100, "speeches": 100}
    )
    length: int = 128
    shares: dict[str, float] = field(default_factory=lambda: {"everyday": 1.0, "tatoeba": 0.4, "random": 0.7})
    strengths: tuple[float, ...] = (1.0, 10.0, 100.0)
    folds: int = 3
    seed: int = 0


PAIR_WEIGHTS = {"everyday": 4.0, "tatoeba": 3.0, "books": 0.6, "reviews": 0.5, "wikipedia": 0.7}
"""Sources that are not named are drawn as often as they have pairs."""

BERT_SMALL_PAIRS = MatchedPairsRecipe(
    name="bert-small-pairs",
    objective="nsp on matched pairs",
    start="bert-small",
    into="bert-small",
    still=("bert.encoder.layer.3.attention.self.query.",),  # it is in the other file of weights, which stays as it is
    steps=500,
    stages=(Stage(share=1.0, length=44, text=0.0, sentence=0.0, pair=1.0),),
    source_weights=PAIR_WEIGHTS,
    tokens_per_step=1760,
    learning_rate=1.2e-4,
    head_learning_rate=2e-4,
    warmup_share=0.06,
    corruption=CorruptionRecipe(rate=0.15),
)

BERT_MINI_PAIRS = dataclasses.replace(
    BERT_SMALL_PAIRS,
    name="bert-mini-pairs",
    start="bert-mini",
    into="bert-mini",
    steps=700,
    learning_rate=2e-4,
    head_learning_rate=5e-4,
    first_layer=1,
    still=(),
    held_weight=0.7,
)

PAIR_RECIPES = {recipe.name: recipe for recipe in (BERT_SMALL_PAIRS, BERT_MINI_PAIRS)}
