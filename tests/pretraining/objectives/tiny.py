"""A tiny recipe of every objective, so that the same tests can run them all."""

from __future__ import annotations

from pretraining.pair_recipes import MatchedPairsRecipe
from pretraining.recipes import (
    AlbertBodyRecipe,
    AlbertOrderRecipe,
    AlbertRecipe,
    CorruptionRecipe,
    DebertaRecipe,
    DistillationRecipe,
    ElectraRecipe,
    Gpt2Recipe,
    Stage,
    TrainingRecipe,
)

STEPS = 12
TEXT = (Stage(share=1.0, length=32, text=0.7, sentence=0.3, pair=0.0),)
PAIRS = (
    Stage(share=0.5, length=32, text=0.7, sentence=0.3, pair=0.0),
    Stage(share=0.5, length=32, text=0.0, sentence=0.0, pair=1.0),
)
USUAL = {
    "source_weights": {"wikitext": 1.0},
    "steps": STEPS,
    "tokens_per_step": 256,
    "learning_rate": 5e-3,
    "head_learning_rate": 2e-2,
    "embedding_learning_rate": 5e-3,
}

RECIPES: dict[str, TrainingRecipe] = {
    recipe.objective: recipe
    for recipe in (
        TrainingRecipe(name="bert", stages=PAIRS, start="bert-mini", **USUAL),
        MatchedPairsRecipe(
            name="bert-pairs",
            objective="nsp on matched pairs",
            start="bert-mini",
            into="bert-paired",
            stages=(Stage(share=1.0, length=32, text=0.0, sentence=0.0, pair=1.0),),
            first_layer=2,
            neighbours={"everyday": 6},
            held_every=4,
            held_weight=0.01,
            **(USUAL | {"tokens_per_step": 1024, "learning_rate": 2e-3, "head_learning_rate": 2e-3}),
        ),
        DistillationRecipe(name="student", objective="distillation", start="bert-mini", stages=TEXT, **USUAL),
        TrainingRecipe(name="roberta-mini", objective="full sentences", start="bert-mini", stages=TEXT, **USUAL),
        DebertaRecipe(name="deberta", objective="disentangled", start="roberta-mini", stages=TEXT, span=8, **USUAL),
        AlbertBodyRecipe(
            name="albert-body",
            objective="module replacing",
            start="bert-mini",
            stages=TEXT,
            embedding_size=16,
            **USUAL,
        ),
        AlbertRecipe(
            name="albert",
            objective="mlm+sop",
            start="albert-body",
            stages=PAIRS,
            corruption=CorruptionRecipe(rate=0.3, scheme="ngram"),
            vocabulary=90,
            **USUAL,
        ),
        AlbertOrderRecipe(
            name="albert-order",
            objective="mlm+sop by votes",
            start="albert",
            stages=PAIRS[1:],
            corruption=CorruptionRecipe(rate=0.15, scheme="ngram"),
            voted_share=0.4,
            taught_share=0.4,
            after_layer=2,
            **USUAL,
        ),
        ElectraRecipe(
            name="electra",
            objective="replaced tokens",
            start="bert-mini",
            stages=TEXT,
            corruption=CorruptionRecipe(rate=0.3, mask_share=0.85, random_share=0.0),
            embedding_size=16,
            layers=(0, 3),
            generator_width=16,
            generator_heads=2,
            aligned_steps=3,
            **USUAL,
        ),
        Gpt2Recipe(
            name="gpt2",
            objective="causal",
            start="roberta-mini",
            corruption=CorruptionRecipe(rate=0.0),
            stages=(
                Stage(share=0.5, length=32, text=1.0, sentence=0.0, pair=0.0),
                Stage(share=0.5, length=32, text=1.0, sentence=0.0, pair=0.0, twice=0.5, taught=0.1, dropout=0.1),
            ),
            width=16,
            layers=2,
            heads=2,
            looks_before=(0, 0),
            look_again=((1, 0), (1, 1)),
            **USUAL,
        ),
    )
}
