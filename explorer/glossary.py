"""The words that a first-time reader may not know, each with one sentence; pages explain them where they occur."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Entry:
    """A word with its explanation. word: as a page spells it, in any case unless `exact` is set. pages: the labs that
    mean this by it; empty for all.
    """

    word: str
    says: str
    pages: tuple[str, ...] = ()
    exact: bool = False


ENTRIES = (
    Entry(
        "exact match",
        "The share of questions whose answer has the same words as a right one, small things such as articles aside.",
        ("finetune",),
    ),
    Entry("nats", "The unit of information that comes with the natural logarithm: 1 nat is 1.44 bits."),
    Entry(
        "bits",
        "The unit of information that comes with the logarithm to base 2: 1 bit is 0.69 nats.",
        ("attention", "context"),
    ),
    Entry(
        "TF-IDF",
        "How often a word stands in a text, weighed by how few of the texts it stands in; the order of words is lost.",
        ("finetune",),
    ),
    Entry(
        "pseudo-log-likelihood",
        "The sum of ln p of every token of a sentence, each masked in turn with all the others in view.",
    ),
    Entry(
        "perplexity",
        "The exponential of the mean −ln p: among how many equally likely tokens a model is undecided.",
    ),
    Entry(
        "entropy",
        "How undecided a distribution is: 0 where one outcome is certain, largest where all are equally likely.",
    ),
    Entry(
        "logits", "A model's scores before the softmax turns them into probabilities; any number, positive or negative."
    ),
    Entry("logit", "A model's score of one class before the softmax turns all scores into probabilities."),
    Entry("log-odds", "The logarithm of p / (1 − p): 0 at 50%, positive above, negative below."),
    Entry(
        "relative embeddings",
        "A vector for each distance between two tokens, which DeBERTa's attention looks up in place of adding places to words.",
        ("attention", "inputs"),
    ),
    Entry("softmax", "Turns scores into probabilities: the exponential of each, divided by their sum."),
    Entry(
        "KL", "Kullback–Leibler divergence: how far one distribution is from another, 0 where they agree.", exact=True
    ),
    Entry(
        "rollout",
        "Attention followed through all layers: the product of the layers' weights, each mixed with the identity.",
    ),
    Entry("cosine", "The cosine of the angle between two vectors: 1 for the same direction, 0 for none in common."),
    Entry(
        "baseline",
        "The input that stands for “nothing said”, from which integrated gradients starts.",
        ("attribution",),
    ),
    Entry(
        "rank",
        "Of a matrix: how many independent directions it has; LoRA's update has r of them.",
        ("finetune", "delta"),
    ),
    Entry(
        "ρ", "Spearman's rank correlation: 1 where two orders agree, 0 where they have nothing in common.", exact=True
    ),
    Entry("Spearman-Brown", "The formula that foretells how reliable a mean over k times as many examples would be."),
    Entry("Spearman and Brown", "Their formula foretells how reliable a mean over k times as many examples would be."),
    Entry("Spearman", "Charles Spearman's rank correlation compares orders and not values: 1 where two orders agree."),
    Entry(
        "BA",
        "LoRA's update: the product of a matrix B with r columns and a matrix A with r rows.",
        ("finetune", "delta"),
        True,
    ),
    Entry("ΔW", "The update: what fine-tuning adds to a weight matrix W.", exact=True),
    Entry(
        "φ",
        "How much two subspaces share: 1 where the smaller one lies in the larger, 0 where they are orthogonal.",
        ("delta",),
    ),
    Entry("Frobenius", "The Frobenius norm: the root of the sum of all squared entries of a matrix."),
    Entry("singular values", "How strongly a matrix stretches each of its directions, largest first."),
    Entry("right-singular", "The input directions of a matrix, ordered by how strongly it stretches them."),
    Entry(
        "intruder",
        "An intruder dimension: a strong direction of W + ΔW that is far from all of W's (Shuttleworth et al. 2024).",
        ("delta",),
    ),
    Entry(
        "intrinsic rank",
        "How many directions an update needs, however many it may take: few, as LoRA's authors suppose.",
        ("delta",),
    ),
    Entry("left-singular", "The output directions of a matrix, ordered by how strongly it stretches them."),
    Entry("ξ", "A gate: a factor on what a head or a neuron passes on, 1 as trained and 0 where it is switched off."),
    Entry(
        "std. errors",
        "Standard errors: how far a mean over examples typically is from the mean over all possible ones.",
    ),
    Entry(
        "Matthews", "Matthews' correlation of true and predicted classes: 1 for all right, 0 for chance.", ("finetune",)
    ),
    Entry("NSP", "Next-sentence prediction: does the second sentence follow the first in the text?", exact=True),
    Entry("SOP", "Sentence-order prediction: do two neighbouring sentences stand in their order?", exact=True),
    Entry("MLM", "Masked language modelling: guess hidden tokens from all others.", exact=True),
    Entry("ROC", "Receiver operating characteristic: hits against false alarms, for every threshold.", exact=True),
    Entry(
        "AUC",
        "The area under the ROC curve: how often one that is meant scores above one that isn't; 0.5 by guessing.",
        exact=True,
    ),
    Entry("greedy", "Taking the likeliest token each time.", ("generation",)),
    Entry("beam search", "Several beginnings of a text side by side; the likeliest as a whole go on.", ("generation",)),
    Entry(
        "distinct bigrams", "Of all pairs of neighbouring tokens, the share that are different ones.", ("generation",)
    ),
    Entry("nucleus", "The fewest likeliest tokens that together hold a given share.", ("generation",)),
    Entry("n-grams", "Runs of n neighbouring words: single words, pairs, and so on.", ("generation",)),
    Entry("untouched", "As it was before any fine-tuning.", ("generation",)),
    Entry("omission", "Something that was to be said and isn't.", ("generation",)),
    Entry("hallucination", "Something that is said though nothing asked for it.", ("generation",)),
    Entry("brevity penalty", "BLEU's factor for texts that are shorter than their references.", ("generation",)),
    Entry("idf", "Inverse document frequency: the logarithm of how rare something is.", ("generation",), True),
    Entry("fp32", "Numbers of 32 bits, the usual kind."),
    Entry("bf16", "Numbers of 16 bits with the range of 32-bit ones and less precision."),
    Entry("int8", "Whole numbers from −128 to 127, with one scale for a matrix."),
)


def as_json() -> str:
    """Return the entries for a script on the page."""
    return json.dumps([asdict(entry) for entry in ENTRIES], ensure_ascii=False)
