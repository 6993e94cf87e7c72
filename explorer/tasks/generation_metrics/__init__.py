"""Metrics of how well generated texts agree with several references: the five of the E2E challenge, each in a module of
its own.

    from explorer.tasks.generation_metrics import score
    score(["The Mill is a pub."], [["The Mill is a cheap pub.", "A pub called The Mill."]]).bleu

BLEU, METEOR and ROUGE-L are times 100, as papers print them; NIST and CIDEr have no upper end that is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.tasks.generation_metrics.bleu import BleuParts, BleuSentence, bleu, bleu_of_one
from explorer.tasks.generation_metrics.cider import CiderSentence, Rarity, cider, cider_of_one
from explorer.tasks.generation_metrics.meteor import MeteorParts, MeteorSentence, knows_synonyms, meteor, meteor_of_one
from explorer.tasks.generation_metrics.nist import Information, NistParts, NistSentence, nist, nist_of_one
from explorer.tasks.generation_metrics.rouge_l import RougeSentence, rouge_l, rouge_l_of_one
from explorer.tasks.generation_metrics.words import Words, meteor_words, mteval_words, treebank_words

METRICS = ("BLEU", "NIST", "METEOR", "ROUGE-L", "CIDEr")
"""The metrics in the order of the challenge's scorer and of the papers' tables."""


@dataclass(frozen=True)
class Scores:
    """The corpus's values, on the scales that papers print. synonyms: whether METEOR had WordNet."""

    bleu: float
    nist: float
    meteor: float
    rouge_l: float
    cider: float
    synonyms: bool

    def named(self) -> dict[str, float]:
        """Return each metric's value by its name."""
        values = (self.bleu, self.nist, self.meteor, self.rouge_l, self.cider)
        return dict(zip(METRICS, values, strict=True))


@dataclass(frozen=True)
class Apart:
    """Each metric of one sentence; NIST and CIDEr with the whole corpus's weights. corpus: BLEU, NIST and METEOR of all
    sentences.
    """

    bleu: BleuSentence
    nist: NistSentence
    meteor: MeteorSentence
    rouge_l: RougeSentence
    cider: CiderSentence
    corpus: tuple[BleuParts, NistParts, MeteorParts]


@dataclass(frozen=True)
class Cut:
    """All texts as one tokeniser splits them."""

    hypotheses: list[Words]
    references: list[list[Words]]


def score(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> Scores:
    """Compute the five metrics of a corpus: one hypothesis and at least one reference a group.

    Raises BadInputError if their numbers differ, and if there are no texts.
    """
    mteval, treebank, cut = _three(hypotheses, references)
    information, rarity = Information(mteval.references), Rarity(treebank.references)
    return Scores(
        100 * bleu(mteval.hypotheses, mteval.references).value,
        nist(mteval.hypotheses, mteval.references, information).value,
        100 * meteor(cut.hypotheses, cut.references).value,
        100 * rouge_l(treebank.hypotheses, treebank.references),
        cider(treebank.hypotheses, treebank.references, rarity),
        knows_synonyms(),
    )


def take_apart(hypotheses: Sequence[str], references: Sequence[Sequence[str]], sentence: int) -> Apart:
    """Return the metrics of one sentence (from 0) of a corpus in their parts. Raises BadInputError as `score`."""
    mteval, treebank, cut = _three(hypotheses, references)
    information, rarity = Information(mteval.references), Rarity(treebank.references)
    whole = (
        bleu(mteval.hypotheses, mteval.references),
        nist(mteval.hypotheses, mteval.references, information),
        meteor(cut.hypotheses, cut.references),
    )
    return Apart(
        bleu_of_one(mteval.hypotheses[sentence], mteval.references[sentence]),
        nist_of_one(mteval.hypotheses[sentence], mteval.references[sentence], information),
        meteor_of_one(cut.hypotheses[sentence], cut.references[sentence]),
        rouge_l_of_one(treebank.hypotheses[sentence], treebank.references[sentence]),
        cider_of_one(treebank.hypotheses[sentence], treebank.references[sentence], rarity),
        whole,
    )


def _three(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[Cut, Cut, Cut]:
    """Return the texts as the three tokenisers split them. Raises BadInputError as `score`."""
    if not hypotheses or len(hypotheses) != len(references) or not all(references):
        raise BadInputError(
            f"Each hypothesis needs its own references: {len(hypotheses):,} hypotheses and {len(references):,} groups of "
            "references."
        )
    made = []
    for words in (mteval_words, treebank_words, meteor_words):
        made.append(Cut([words(one) for one in hypotheses], [[words(one) for one in group] for group in references]))
    return made[0], made[1], made[2]
