"""How each bundled model is trained: one dataclass a model, in plain numbers that a reader can follow."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.maths.corruption import CorruptionRecipe


@dataclass(frozen=True)
class Stage:
    """One stretch of training: its share of the steps, the length of its rows and the mixture of row kinds.

    `text`, `sentence` and `pair` are the shares of the steps that draw that kind of row. The others are GPT-2's: of its rows of
    text, the share whose names are invented and the share that says a passage twice; the weight of the loss by which heads
    learn where to look; the dropout of the states.
    """

    share: float
    length: int
    text: float
    sentence: float
    pair: float
    new_names: float = 0.0
    twice: float = 0.0
    taught: float = 0.0
    dropout: float = 0.0


@dataclass(frozen=True)
class TrainingRecipe:
    """Everything that decides a training run but the text."""

    name: str
    stages: tuple[Stage, ...]
    source_weights: dict[str, float]
    """How often each source is drawn from; a source that is not named here is drawn by its size."""
    objective: str = "mlm+nsp"
    """What is learned: a key of `objectives.PRETRAINERS`."""
    start: str = "distilbert"
    """What the weights begin from: one of the objective's own starts, or a model of its architecture to go on from (a
    bundled name, a folder or a hub id)."""
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
    further: tuple[int, ...] = ()
    """The steps of each time that the finished model has gone on, this one last; none while it is made."""


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


@dataclass(frozen=True)
class DistillationRecipe(TrainingRecipe):
    """DistilBERT (Sanh et al. 2019): `start` is the teacher. The weights are those of its published training code."""

    temperature: float = 2.0
    soft_weight: float = 5.0
    mlm_weight: float = 2.0
    cosine_weight: float = 1.0


@dataclass(frozen=True)
class AlbertRecipe(TrainingRecipe):
    """ALBERT (Lan et al. 2020): the size of its unigram vocabulary."""

    vocabulary: int = 16_000


@dataclass(frozen=True)
class AlbertBodyRecipe(TrainingRecipe):
    """What albert-mini begins from: `start` is the teacher, `layer` the one of its layers that takes the others' places.

    replaced_share: the share of the steps over which the chance of a layer to be replaced rises from 0 to 1; from then on
    one layer stands at every position. states_weight: that of the states' distance, beside an MLM loss of 1. last_scale: what
    the teacher's last states are multiplied by, so that one LayerNorm can serve all positions (bert-mini's, as MiniLM's, are
    a twelfth of the others' size).
    """

    embedding_size: int = 128
    layer: int = 3
    replaced_share: float = 0.4
    states_weight: float = 2.0
    last_scale: float = 12.0


@dataclass(frozen=True)
class AlbertOrderRecipe(TrainingRecipe):
    """How albert-mini learns the order of sentences, beside MLM.

    voted_share: the share of the steps in which every token learns to say whether its segment comes first. taught_share: the
    share after that in which [CLS] learns what the tokens' votes came to; in the rest it learns from the labels alone.
    after_layer: the position whose states vote, so that later ones can gather the votes. sharpness: what the votes' log-odds
    are multiplied by where [CLS] learns them; said_weight: that of this loss, beside 1 for the others.
    """

    voted_share: float = 0.45
    taught_share: float = 0.15
    after_layer: int = 4
    sharpness: float = 2.0
    said_weight: float = 2.0


@dataclass(frozen=True)
class ElectraRecipe(TrainingRecipe):
    """ELECTRA (Clark et al. 2020): which of bert-mini's layers the discriminator takes, and the generator's size.

    aligned_steps: for so many steps at first the discriminator learns to have bert-mini's hidden states, which its narrow
    embeddings have cost it.
    """

    aligned_steps: int = 500
    embedding_size: int = 128
    layers: tuple[int, ...] = (0, 2, 3, 5)
    generator_width: int = 128
    generator_heads: int = 4
    replaced_weight: float = 50.0


@dataclass(frozen=True)
class Gpt2Recipe(TrainingRecipe):
    """GPT-2 (Radford et al. 2019), small enough for the text there is.

    positions: no more than the rows have, since they begin at random numbers. looks_before and look_again: the heads, as
    (layer, head), that learn to look at the token before and at what followed the same token earlier, in stages that teach it.
    """

    width: int = 256
    layers: int = 4
    heads: int = 4
    positions: int = 128
    looks_before: tuple[int, int] = (0, 1)
    look_again: tuple[tuple[int, int], ...] = ((2, 2), (3, 1))


@dataclass(frozen=True)
class DebertaRecipe(TrainingRecipe):
    """DeBERTa (He et al. 2021): how far its relative positions reach.

    span: distances from -span to span - 1 are told apart, further ones count as the nearest of these. Half a training row's
    length, so that every distance is met often; longer texts then meet none that was not trained.
    """

    span: int = 64


ONE_SEGMENT = (
    Stage(share=0.6, length=64, text=0.75, sentence=0.25, pair=0.0),
    Stage(share=0.4, length=128, text=0.9, sentence=0.1, pair=0.0),
)

DISTILBERT_MINI = DistillationRecipe(
    name="distilbert-mini",
    objective="distillation",
    start="bert-mini",
    steps=3400,
    stages=ONE_SEGMENT,
    source_weights=BERT_SMALL.source_weights,
    learning_rate=6e-4,
    head_learning_rate=6e-4,
    corruption=CorruptionRecipe(rate=0.2),
)

ROBERTA_MINI = TrainingRecipe(
    name="roberta-mini",
    objective="full sentences",
    start="bert-mini",
    steps=2600,
    stages=ONE_SEGMENT,
    source_weights=BERT_SMALL.source_weights,
    learning_rate=6e-4,
    embedding_learning_rate=6e-4,
)

DEBERTA_MINI = DebertaRecipe(
    name="deberta-mini",
    objective="disentangled",
    start="roberta-mini",
    steps=520,
    stages=(
        Stage(share=0.81, length=64, text=0.75, sentence=0.25, pair=0.0),
        Stage(share=0.19, length=128, text=0.9, sentence=0.1, pair=0.0),
    ),
    source_weights=BERT_SMALL.source_weights,
    learning_rate=4e-4,
    embedding_learning_rate=4e-4,
)

ALBERT_BODY = AlbertBodyRecipe(
    name="albert-body",
    objective="module replacing",
    start="bert-mini",
    steps=2000,
    stages=ONE_SEGMENT,
    source_weights=BERT_SMALL.source_weights,
    learning_rate=5e-4,
    embedding_learning_rate=1e-3,
    warmup_share=0.05,
)

ALBERT_WORDS = AlbertRecipe(
    name="albert-words",
    objective="mlm+sop",
    start="albert-body",
    steps=5000,
    stages=(
        Stage(share=0.24, length=64, text=0.4, sentence=0.2, pair=0.4),
        Stage(share=0.21, length=64, text=0.1, sentence=0.2, pair=0.7),
        Stage(share=0.55, length=128, text=0.45, sentence=0.05, pair=0.5),
    ),
    source_weights=BERT_SMALL.source_weights,
    learning_rate=5e-4,
    embedding_learning_rate=1e-3,
    corruption=CorruptionRecipe(rate=0.3, scheme="ngram"),
)

ALBERT_MINI = AlbertOrderRecipe(
    name="albert-mini",
    objective="mlm+sop by votes",
    start="albert-words",
    steps=3000,
    stages=(Stage(share=1.0, length=128, text=0.0, sentence=0.0, pair=1.0),),
    source_weights=BERT_SMALL.source_weights,
    tokens_per_step=4096,
    learning_rate=4e-4,
    embedding_learning_rate=4e-4,
    corruption=CorruptionRecipe(rate=0.15, scheme="ngram"),
)

ELECTRA_MINI = ElectraRecipe(
    name="electra-mini",
    objective="replaced tokens",
    start="bert-mini",
    steps=3500,
    stages=ONE_SEGMENT,
    source_weights=BERT_SMALL.source_weights,
    learning_rate=5e-4,
    embedding_learning_rate=5e-4,
    corruption=CorruptionRecipe(rate=0.25, mask_share=0.85, random_share=0.0),
)

GPT2_MINI = Gpt2Recipe(
    name="gpt2-mini",
    objective="causal",
    start="roberta-mini",
    steps=4000,
    stages=(Stage(share=1.0, length=128, text=1.0, sentence=0.0, pair=0.0),),
    source_weights=BERT_SMALL.source_weights,
    tokens_per_step=4096,
    learning_rate=2e-3,
    head_learning_rate=2e-3,
    embedding_learning_rate=2e-3,
    corruption=CorruptionRecipe(rate=0.0),
)

RECIPES = {
    recipe.name: recipe
    for recipe in (
        BERT_SMALL,
        BERT_MINI,
        DISTILBERT_MINI,
        ROBERTA_MINI,
        DEBERTA_MINI,
        ALBERT_BODY,
        ALBERT_WORDS,
        ALBERT_MINI,
        ELECTRA_MINI,
        GPT2_MINI,
    )
}
