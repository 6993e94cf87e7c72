"""How each bundled model is trained: one dataclass a model, in plain numbers that a reader can follow."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.maths.corruption import CorruptionRecipe


@dataclass(frozen=True)
class Stage:
    """One stretch of training: its share of the steps, the length of its rows and the mixture of row kinds.

    `text`, `sentence` and `pair` are the shares of the steps that draw that kind of row.
    """

    share: float
    length: int
    text: float
    sentence: float
    pair: float


@dataclass(frozen=True)
class TrainingRecipe:
    """Everything that decides a training run but the text."""

    name: str
    stages: tuple[Stage, ...]
    source_weights: dict[str, float]
    """How often each source is drawn from; a source that is not named here is drawn by its size."""
    start: str = "distilbert"
    """The encoder that the weights begin from: distilbert (768 wide) or minilm (384 wide)."""
    steps: int = 8000
    """The learning rate falls linearly to zero over them."""
    tokens_per_step: int = 2048
    sentence_length: int = 32
    learning_rate: float = 1.5e-4
    head_learning_rate: float = 1e-3
    embedding_learning_rate: float = 0.0
    """For the word embeddings; at 0 they stay as they are."""
    weight_decay: float = 0.01
    warmup_share: float = 0.02
    corruption: CorruptionRecipe = field(default_factory=lambda: CorruptionRecipe(rate=0.3))
    """30% masked while training: at equal time it beats BERT's 15%, which is kept for measuring."""
    seed: int = 0


BERT_SMALL = TrainingRecipe(
    name="bert-small",
    steps=4824,
    stages=(
        Stage(share=0.45, length=64, text=0.75, sentence=0.25, pair=0.0),
        Stage(share=0.26, length=64, text=0.2, sentence=0.2, pair=0.6),
        Stage(share=0.29, length=128, text=0.1, sentence=0.1, pair=0.8),
    ),
    source_weights={
        "wikitext": 0.45,
        "wikipedia": 0.25,
        "reviews": 0.14,
        "books": 0.08,
        "speeches": 0.08,
    },
)

BERT_MINI = TrainingRecipe(
    name="bert-mini",
    stages=(
        Stage(share=0.38, length=64, text=0.75, sentence=0.25, pair=0.0),
        Stage(share=0.31, length=64, text=0.2, sentence=0.2, pair=0.6),
        Stage(share=0.31, length=128, text=0.1, sentence=0.1, pair=0.8),
    ),
    source_weights=BERT_SMALL.source_weights,
    start="minilm",
    learning_rate=6e-4,
    embedding_learning_rate=3e-4,
)

RECIPES = {recipe.name: recipe for recipe in (BERT_SMALL, BERT_MINI)}
