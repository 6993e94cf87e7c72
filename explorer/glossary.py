"""The words that a first-time reader may not know, each with one sentence; pages explain them where they occur.

Here are those for what a model says, how one looks inside, and how answers are judged; two more modules have the others.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from explorer.glossary_models import MODEL_WORDS, Entry
from explorer.glossary_training import TRAINING_WORDS

ANSWER_WORDS = (
    # What it says, and how sure it is.
    Entry(
        "logit",
        "A model's score of one answer before the softmax turns all scores into probabilities; it may be negative.",
        also=("logits",),
    ),
    Entry("log-odds", "The logarithm of p / (1 − p): 0 at 50%, positive above, negative below."),
    Entry("softmax", "Turns scores into probabilities: the exponential of each, divided by their sum."),
    Entry("distribution", "A probability for every possible outcome; all of them add up to 1."),
    Entry(
        "entropy",
        "How undecided a distribution is: 0 where one outcome is certain, largest where all are equally likely.",
    ),
    Entry(
        "cross-entropy", "A loss: the mean of −ln p, where p is the probability that the model gives to what is true."
    ),
    Entry(
        "perplexity", "The exponential of the mean −ln p: among how many equally likely tokens a model is undecided."
    ),
    Entry(
        "pseudo-log-likelihood",
        "The sum of ln p of every token of a sentence, each masked in turn with all the others in view.",
    ),
    Entry("nats", "The unit of information that comes with the natural logarithm: 1 nat is 1.44 bits."),
    Entry(
        "bits",
        "The unit of information that comes with the logarithm to base 2: 1 bit is 0.69 nats.",
        ("attention", "context"),
    ),
    Entry(
        "KL", "Kullback–Leibler divergence: how far one distribution is from another, 0 where they agree.", exact=True
    ),
    Entry("cosine", "The cosine of the angle between two vectors: 1 for the same direction, 0 for none in common."),
    Entry(
        "norm",
        "The length of a vector, or the size of a matrix: the root of the sum of all its squared numbers.",
        ("delta", "inputs"),
        also=("norms",),
    ),
    # Looking inside.
    Entry(
        "probe",
        "A linear classifier that is given a word's state in one layer and nothing else; the model itself is not trained.",
        ("context",),
        also=("probes",),
    ),
    Entry(
        "control labels",
        "Labels drawn at random, one for each word: they can only be learned by heart (Hewitt and Liang 2019).",
        ("context",),
    ),
    Entry(
        "selectivity",
        "A probe's accuracy minus that of the same probe trained on control labels.",
        ("context",),
    ),
    Entry(
        "rollout",
        "Attention followed through all layers: the product of the layers' weights, each mixed with the identity.",
    ),
    Entry(
        "integrated gradients",
        "A way to share an answer out among words: gradients are added up from an empty input to the text.",
    ),
    Entry(
        "baseline",
        "The input that stands for “nothing said”, from which integrated gradients starts.",
        ("attribution",),
    ),
    # Writing.
    Entry(
        "decoding",
        "How the next token is chosen when a model writes, from the probabilities that it gives.",
        ("generation",),
        also=("decodings",),
    ),
    Entry("greedy", "Taking the likeliest token each time.", ("generation",)),
    Entry("beam search", "Several beginnings of a text side by side; the likeliest as a whole go on.", ("generation",)),
    Entry("top-k", "Drawing the next token from the k likeliest alone.", ("generation",)),
    Entry(
        "top-p",
        "Drawing the next token from the likeliest alone, as many as together hold the share p.",
        ("generation",),
    ),
    Entry("nucleus", "The fewest likeliest tokens that together hold a given share.", ("generation",)),
    Entry(
        "temperature",
        "What scores are divided by before the softmax: above 1 probabilities become more even, below 1 less.",
        ("distillation", "generation", "replaced"),
    ),
    Entry(
        "distinct bigrams", "Of all pairs of neighbouring tokens, the share that are different ones.", ("generation",)
    ),
    Entry("omission", "Something that was to be said and isn't.", ("generation",)),
    Entry("hallucination", "Something that is said though nothing asked for it.", ("generation",)),
    # Judged.
    Entry("accuracy", "The share of the examples that a model answers rightly."),
    Entry(
        "F1",
        "One number for two: high only if few of the positives are missed and few are called so by mistake.",
        exact=True,
    ),
    Entry(
        "Matthews", "Matthews' correlation of true and predicted classes: 1 for all right, 0 for chance.", ("finetune",)
    ),
    Entry(
        "Pearson",
        "Pearson's correlation: 1 where points lie on a rising line, 0 where neither rises with the other.",
        ("finetune",),
    ),
    Entry("Spearman", "Charles Spearman's rank correlation compares orders and not values: 1 where two orders agree."),
    Entry(
        "ρ", "Spearman's rank correlation: 1 where two orders agree, 0 where they have nothing in common.", exact=True
    ),
    Entry("Spearman-Brown", "The formula that foretells how reliable a mean over k times as many examples would be."),
    Entry("Spearman and Brown", "Their formula foretells how reliable a mean over k times as many examples would be."),
    Entry(
        "exact match",
        "The share of questions whose answer has the same words as a right one, small things such as articles aside.",
        ("finetune",),
    ),
    Entry(
        "GLUE",
        "Nine tasks on sentences and pairs of sentences, by whose mean score pretrained models are compared.",
        exact=True,
    ),
    Entry("SQuAD", "Questions about articles of Wikipedia, to be answered by a passage of the article.", exact=True),
    Entry(
        "TF-IDF",
        "How often a word stands in a text, weighed by how few of the texts it stands in; the order of words is lost.",
        ("finetune",),
    ),
    Entry(
        "logistic regression",
        "A simple classifier: the weighted sum of an example's features, turned into a probability.",
    ),
    Entry(
        "McNemar's test",
        "Asks of two models, on the same examples, whether chance alone could make one do so much better.",
    ),
    Entry("Holm's allowance", "Who tests many things finds some by chance, so Holm's rule asks more of each test."),
    Entry(
        "Student's",
        "Of William Gosset, who wrote as “Student”: his distribution is for means of few values.",
        exact=True,
        also=("Student’s",),
    ),
    Entry(
        "std. errors",
        "Standard errors: how far a mean over examples typically is from the mean over all possible ones.",
    ),
    Entry(
        "95% interval",
        "A range that is made so that 95 of 100 such ranges hold the true value.",
        also=("95% intervals",),
    ),
    Entry("ROC", "Receiver operating characteristic: hits against false alarms, for every threshold.", exact=True),
    Entry(
        "AUC",
        "The area under the ROC curve: how often one that is meant scores above one that isn't; 0.5 by guessing.",
        exact=True,
    ),
    Entry("hypotheses", "The texts that are judged, such as a model's.", ("generation",), also=("hypothesis",)),
    Entry(
        "references",
        "Texts that people wrote for the same meaning; a model's text is compared with them.",
        ("generation",),
        also=("reference",),
    ),
    Entry(
        "BLEU",
        "Scores a text by the runs of one to four words that it has in common with references.",
        ("generation",),
        True,
    ),
    Entry(
        "ROUGE-L",
        "Scores a text by the longest sequence of words, gaps allowed, that it has in common with a reference.",
        ("generation",),
        True,
    ),
    Entry("NIST", "Like BLEU, with more credit for the runs of words that are rarer.", ("generation",), True),
    Entry(
        "METEOR",
        "Scores a text by its words that can be aligned with a reference's, other forms of a word included.",
        ("generation",),
        True,
    ),
    Entry(
        "CIDEr",
        "Scores a text by runs of words in common with references, the rarer ones weighing more.",
        ("generation",),
        True,
    ),
    Entry("E2E", "A challenge of 2017: facts about a restaurant are to be put into words.", ("generation",), True),
    Entry("brevity penalty", "BLEU's factor for texts that are shorter than their references.", ("generation",)),
    Entry(
        "n-grams", "Runs of n neighbouring words: single words, pairs, and so on.", ("generation",), also=("n-gram",)
    ),
    Entry("idf", "Inverse document frequency: the logarithm of how rare something is.", ("generation",), True),
)


ENTRIES = (*MODEL_WORDS, *ANSWER_WORDS, *TRAINING_WORDS)


def as_json() -> str:
    """Return the entries for a script on the page."""
    return json.dumps([asdict(entry) for entry in ENTRIES], ensure_ascii=False)
