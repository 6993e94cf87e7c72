"""What the glossary holds of a word, and its words for what a model reads and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A word with its explanation. word: as a page spells it, in any case unless `exact` is set. pages: the labs that
    mean this by it; empty for all. also: its other forms, such as the plural.
    """

    word: str
    says: str
    pages: tuple[str, ...] = ()
    exact: bool = False
    also: tuple[str, ...] = ()


TEXTS = ("inputs", "pairs", "pretrain", "directions", "context")
"""The labs that show how a text becomes a model's input."""

HEADS_OF_ATTENTION = ("attention", "attribution", "pruning", "generation")
"""The labs whose heads are parts of a layer; everywhere else a head is what stands after the last layer."""

HEADS_OF_ANSWERS = ("models", "masking", "pairs", "pretrain", "context", "finetune", "delta", "distillation")

MODEL_WORDS = (
    # What is read.
    Entry(
        "token",
        "One unit of a text as a model reads it: a word, a part of a word or a punctuation mark.",
        also=("tokens",),
    ),
    Entry(
        "special tokens",
        "Tokens that stand for no part of the text, such as [CLS] and [SEP]: they say where it begins and ends.",
        also=("special token",),
    ),
    Entry(
        "virtual tokens",
        "Trained vectors that a model reads as if they were tokens; no word stands for them.",
        also=("virtual token",),
    ),
    Entry(
        "word piece",
        "A whole word or a part of one, from the fixed list by which a model cuts its text.",
        also=("word pieces",),
    ),
    Entry(
        "piece",
        "A whole word or a part of one, from the fixed list by which a model cuts its text.",
        ("inputs", "models", "directions", "masking", "context"),
        also=("pieces",),
    ),
    Entry(
        "vocabulary",
        "The fixed list of the tokens that a model knows, often tens of thousands; it reads and writes no others.",
        also=("vocabularies",),
    ),
    Entry(
        "WordPiece",
        "BERT's way of cutting words: from the left, always the longest piece that the vocabulary has.",
        also=("WordPieces",),
    ),
    Entry(
        "BPE",
        "Byte-pair encoding: pieces grow from single characters or bytes, as the pairs that occur most often are joined.",
        exact=True,
    ),
    Entry(
        "SentencePiece", "A tokenizer that cuts a text without being told where words end; ▁ marks where a space was."
    ),
    Entry(
        "merges",
        "BPE's rules, in order: each says which two neighbouring pieces become one.",
        ("inputs",),
        also=("merge", "merged"),
    ),
    Entry("[MASK]", "The token that takes the place of a hidden word, which the model then has to guess.", exact=True),
    Entry(
        "masked",
        "To mask a token is to hide it, mostly behind [MASK], so that the model has to guess it.",
        ("inputs", "masking", "models", "pretrain", "replaced"),
        also=("mask", "masks", "masking"),
    ),
    Entry(
        "whole word",
        "With whole-word masking all pieces of a chosen word are hidden together.",
        ("masking",),
        also=("whole words",),
    ),
    Entry(
        "[CLS]",
        "The token that BERT puts before every input; its last state is used for judging the input as a whole.",
        exact=True,
    ),
    Entry(
        "[SEP]", "The token that BERT puts after each text of its input, to separate two from each other.", exact=True
    ),
    Entry("[UNK]", "The token that stands for anything of which the vocabulary has no pieces.", exact=True),
    Entry(
        "segment",
        "One of the two texts, A and B, that BERT reads as a pair; each token is told in which it stands.",
        TEXTS,
        also=("segments",),
    ),
    Entry(
        "position",
        "A token's place in the input, counted from 0; attention by itself knows no order, so a model is told.",
        TEXTS,
        also=("positions",),
    ),
    # What a model is made of.
    Entry(
        "embedding",
        "The vector by which a model looks up a token, a place or a segment at its input; its numbers are learned.",
        also=("embeddings",),
    ),
    Entry(
        "hidden state",
        "What a layer hands on for each token: a vector that holds what the model has made of it so far.",
        also=("hidden states",),
    ),
    Entry(
        "state",
        "What a layer hands on for each token: a vector that holds what the model has made of it so far.",
        ("models", "directions", "pairs", "pretrain", "context", "attention", "attribution", "delta", "distillation"),
        also=("states",),
    ),
    Entry(
        "layer",
        "One of the stages, built alike, through which a text goes in turn: attention, then a feed-forward net.",
        also=("layers",),
    ),
    Entry(
        "linear layer",
        "A matrix by which a vector is multiplied and, mostly, a bias that is added.",
        also=("dense layer", "linear map"),
    ),
    Entry(
        "head",
        "A part of a layer with an attention of its own; each layer of BERT-base has twelve of them, side by side.",
        HEADS_OF_ATTENTION,
        also=("heads", "attention head", "attention heads"),
    ),
    Entry(
        "head",
        "What stands after the last layer and makes an answer of its states: a word, a class or a score.",
        HEADS_OF_ANSWERS,
        also=("heads",),
    ),
    Entry(
        "attention",
        "How a token takes in others: by a weighted mean over them, with weights computed anew for each text.",
    ),
    Entry(
        "query",
        "The vector with which a token asks: it is compared with every token's key.",
        ("attention",),
        also=("queries",),
    ),
    Entry(
        "query",
        "The matrix that makes queries, the vectors with which each token asks what to look at.",
        ("delta", "finetune"),
    ),
    Entry(
        "key",
        "The vector with which a token answers queries: the better it fits one, the more the token is looked at.",
        ("attention",),
        also=("keys",),
    ),
    Entry(
        "value",
        "The vector that a token hands to those that look at it; a head passes on the weighted mean of them.",
        ("attention",),
        also=("values",),
    ),
    Entry(
        "keys and values",
        "Two vectors for each token: its key decides how much it is looked at, its value is what it hands over.",
        ("finetune", "generation"),
    ),
    Entry(
        "feed-forward",
        "The second half of a layer: two matrices with a curved function between them, for each token by itself.",
        also=("feed-forward net", "feed-forward nets", "feed-forward block"),
    ),
    Entry(
        "neuron",
        "One of the numbers between the two matrices of a feed-forward net; BERT-base has 3,072 in each layer.",
        ("pruning",),
        also=("neurons",),
    ),
    Entry(
        "GELU",
        "A curved function: it lets large positive numbers through and turns clearly negative ones into nearly 0.",
        exact=True,
    ),
    Entry(
        "LayerNorm",
        "Brings the numbers of a vector to mean 0 and variance 1, then scales and shifts them as was learned.",
        also=("LayerNorms", "layer norm"),
    ),
    Entry(
        "RMSNorm",
        "LayerNorm without the mean: a vector is divided by the root mean square of its numbers, then scaled.",
    ),
    Entry(
        "residual connection", "A way past a part of a layer: what goes into the part is added to what comes out of it."
    ),
    Entry(
        "rotary positions",
        "Places told by turning: queries and keys are rotated by angles that grow with the token's place.",
    ),
    Entry(
        "relative embeddings",
        "A vector for each distance between two tokens, which DeBERTa's attention looks up in place of adding places to words.",
        ("attention", "inputs"),
    ),
    Entry("pooler", "A linear layer with a tanh that makes one vector for the whole input of the last state of [CLS]."),
    Entry(
        "tied",
        "Used in two places at once: here the same table serves at the input and in the head.",
        ("masking", "models"),
    ),
    Entry("parameters", "The numbers in a model that training sets; BERT-base has 110 million.", also=("parameter",)),
    Entry(
        "weights",
        "The numbers in a model that training sets; most of them are in the matrices of its layers.",
        ("models", "pretrain", "finetune", "delta", "pruning"),
        also=("weight",),
    ),
    Entry(
        "encoder",
        "A model that reads a whole text at once, every token with all others in view; BERT is one.",
        also=("encoders",),
    ),
    Entry(
        "decoder",
        "A model that writes, token by token, and sees only what it has already written or was given; GPT-2 is one.",
        also=("decoders",),
    ),
    Entry(
        "causal",
        "Looking back only: a token sees itself and what stands before it, and nothing after it.",
        also=("causal mask", "causal model"),
    ),
    Entry("bidirectional", "In both directions: what stands before a word is in view, and so is what stands after it."),
    Entry(
        "generator",
        "ELECTRA's small helper: it fills the blanks with likely words, which are often wrong.",
        ("models", "pretrain", "replaced"),
    ),
    Entry(
        "discriminator",
        "ELECTRA's main model: it says of every token whether it was replaced.",
        ("models", "pretrain", "replaced"),
    ),
)
