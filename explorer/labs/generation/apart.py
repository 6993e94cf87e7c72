"""One sentence taken apart by each metric: what is counted, matched or weighed, and the table of its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.action import Action
from explorer.charts.words import caption, counted, fixed, in_quotes, percent, prose, strong
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Whole
from explorer.labs.generation.scores import MOST_GROUPS, ScoreParams, paired
from explorer.params import Shown, params
from explorer.tables import Cell, Table
from explorer.tasks.generation_metrics import METRICS, Apart, take_apart
from explorer.tasks.generation_metrics.cider import Weighed
from explorer.tasks.generation_metrics.meteor import STAGES
from explorer.tasks.generation_metrics.rouge_l import Subsequence


@params
class PartsParams(ScoreParams):
    """The same texts, and the number of one hypothesis, from 1."""

    sentence: Annotated[int, Whole(1, MOST_GROUPS), Shown("Hypothesis number", slider=(1, 5))] = 1


@dataclass(frozen=True)
class Parts:
    """The five metrics of one sentence (number from 1) of so many."""

    apart: Apart
    sentence: int
    sentences: int


def score_parts(params: PartsParams) -> Parts:
    """Take one generated text apart by five metrics. Raises BadInputError if there is none of this number, or no pairs."""
    references = paired(params.hypotheses, params.references)
    if params.sentence > len(references):
        raise BadInputError(
            f"There is no hypothesis number {params.sentence:,}: choose one from 1 to {len(references):,}."
        )
    apart = take_apart(params.hypotheses, references, params.sentence - 1)
    return Parts(apart, params.sentence, len(references))


MOST_BARS = 12


def parts_table(result: Parts) -> Table:
    """metric, part, value: what each formula is made of, and the score on the scale that papers print."""
    return Table.of(("metric", "part", "value"), [(name, *row) for name in METRICS for row in _PARTS[name](result)])


def _bleu_rows(result: Parts) -> list[tuple[str, Cell]]:
    parts = result.apart.bleu.parts
    orders = enumerate(zip(parts.matched, parts.of_all, parts.precisions, strict=True), start=1)
    found: list[tuple[str, Cell]] = []
    for order, (matched, of_all, precision) in orders:
        found += [(f"matched {order}-grams", matched), (f"{order}-grams", of_all), (f"p{order}", precision)]
    lengths = [("words", parts.length), ("words of the closest reference", parts.closest)]
    return [*found, *lengths, ("brevity penalty", parts.brevity), ("score", 100 * parts.value)]


def _nist_rows(result: Parts) -> list[tuple[str, Cell]]:
    apart = result.apart.nist
    sums = enumerate(zip(apart.parts.information, apart.parts.of_all, strict=True), start=1)
    found: list[tuple[str, Cell]] = [(f"information: {' '.join(one.ngram)}", one.info) for one in apart.found]
    # A short text has no long n-grams.
    found += [(f"information of the {order}-grams / their number", total / max(1, of)) for order, (total, of) in sums]
    lengths = [("words", apart.parts.length), ("mean words of a reference", apart.parts.mean_length)]
    return [*found, *lengths, ("length penalty", apart.parts.penalty), ("score", apart.parts.value)]


def _meteor_rows(result: Parts) -> list[tuple[str, Cell]]:
    apart, parts = result.apart.meteor, result.apart.meteor.parts
    pairs = [(f"{STAGES[one.stage]}: {apart.words[one.here]} = {apart.reference[one.there]}", 1) for one in apart.pairs]
    return [
        ("reference", apart.best + 1),
        *pairs,
        ("matches", parts.matches),
        ("chunks", parts.chunks),
        ("precision", parts.precision),
        ("recall", parts.recall),
        ("F", parts.mean),
        ("penalty", parts.penalty),
        ("score", 100 * parts.value),
    ]


def _rouge_rows(result: Parts) -> list[tuple[str, Cell]]:
    apart = result.apart.rouge_l
    found: list[tuple[str, Cell]] = []
    for number, one in enumerate(apart.references, start=1):
        named = ("common subsequence", len(one.here)), ("precision", one.precision), ("recall", one.recall)
        found += [(f"{what}, reference {number}", value) for what, value in named]
    return [
        *found,
        ("largest precision", apart.precision),
        ("largest recall", apart.recall),
        ("score", 100 * apart.value),
    ]


def _cider_rows(result: Parts) -> list[tuple[str, Cell]]:
    apart = result.apart.cider
    found: list[tuple[str, Cell]] = [(f"weight: {' '.join(one.ngram)}", one.weight) for one in apart.found]
    for number, one in enumerate(apart.references, start=1):
        found += [
            (f"cosine, {order}-grams, reference {number}", value) for order, value in enumerate(one.cosines, start=1)
        ]
        found.append((f"length factor, reference {number}", one.factor))
    return [*found, ("score", apart.value)]


_PARTS: dict[str, Callable[[Parts], list[tuple[str, Cell]]]] = {
    "BLEU": _bleu_rows,
    "NIST": _nist_rows,
    "METEOR": _meteor_rows,
    "ROUGE-L": _rouge_rows,
    "CIDEr": _cider_rows,
}


Told = tuple[tuple[str, ...], tuple[str, ...]]
"""The parts of a headline, and those of the notes to it."""


def parts_sentence(result: Parts, metric: str = METRICS[0]) -> Markup:
    """Say what the metric finds in the sentence."""
    return prose(*_SAID[metric](result)[0])


def parts_notes(result: Parts, metric: str = METRICS[0]) -> Markup:
    """Say what the score is made of."""
    return caption(*said) if (said := _SAID[metric](result)[1]) else Markup("")


def _bleu_said(result: Parts) -> Told:
    parts = result.apart.bleu.parts
    matched = ", ".join(f"{hits} of {of}" for hits, of in zip(parts.matched, parts.of_all, strict=True))
    short = f"{parts.length} words against {parts.closest} of the closest reference"
    penalty = f"; {short} cost a factor of {fixed(parts.brevity, 3)}" if parts.brevity < 1 else "; no brevity penalty"
    unmatched = any(not hits and of for hits, of in zip(parts.matched, parts.of_all, strict=True))
    smoothed = " An order without a match counts as half a match, the next as a quarter." if unmatched else ""
    few = " A text of fewer than four words has no n-grams of the longer orders, and such an order counts as if all matched."
    notes = f"Of the runs of 1, 2, 3 and 4 words {matched} are in a reference{penalty}.{smoothed}"
    score = strong(f"BLEU {fixed(100 * parts.value, 1)}")
    if 0 in parts.of_all:
        return (score, " says little of a text of fewer than four words."), (notes, few)
    hits, of = parts.matched[-1], parts.of_all[-1]
    which = f"{percent(hits / of)} of the runs of four words are"
    if hits in (0, of):
        which = "every run of four words is" if hits else "no run of four words is"
    return (score, f": {which} in a reference."), (notes,)


def _nist_said(result: Parts) -> Told:
    apart = result.apart.nist
    score = strong(f"NIST {fixed(apart.parts.value, 2)}")
    if not apart.found:
        return (score, ": no word is in a reference."), ()
    rare = "The rarer an n-gram in all references, the more it counts."
    bits = [one.info * one.credited for one in apart.found]
    if not max(bits):
        return (score, ": what is in a reference carries no bits."), (rare,)
    most = apart.found[bits.index(max(bits))]
    rivals = sum(one == max(bits) for one in bits) - 1
    alone = f" {counted(rivals, 'other')} {'has' if rivals == 1 else 'have'} as much." if rivals else ""
    share = apart.parts.information[0] / (sum(apart.parts.information) or 1)  # words in every reference carry no bits
    return (
        score,
        ": ",
        "no part is larger than " if rivals else "the largest single part is ",
        in_quotes(" ".join(most.ngram)),
        f" with {fixed(100 * max(bits) / sum(bits), 1)}% of all bits.",
    ), (f"{rare}{alone} Single words bring {fixed(100 * share, 0)}% of all bits.",)


def _meteor_said(result: Parts) -> Told:
    apart, parts = result.apart.meteor, result.apart.meteor.parts
    found = [sum(one.stage == stage for one in apart.pairs) for stage in range(len(STAGES))]
    named = ", ".join(f"{count} {stage}" for stage, count in zip(STAGES, found, strict=True) if count) or "none"
    score = strong(f"METEOR {fixed(100 * parts.value, 1)}")
    if not parts.matches:
        return (score, ": no word matches a reference."), ()
    matches = "one word matches" if parts.matches == 1 else f"{parts.matches} words match"
    return (score, f": {matches} the reference that fits best."), (
        f"With reference {apart.best + 1}: {named}, in {counted(parts.chunks, 'chunk')}; F is {fixed(parts.mean, 3)}, and the "
        f"chunks cost {fixed(100 * parts.penalty, 1)}% of it.",
    )


def _rouge_said(result: Parts) -> Told:
    apart = result.apart.rouge_l
    best = closest(result)
    common = len(apart.references[best].here)
    score = strong(f"ROUGE-L {fixed(100 * apart.value, 1)}")
    if not common:
        return (score, ": no word is in a reference."), ()
    words = f"{common} words stand in the same order in the closest reference"
    return (score, f": {words if common > 1 else 'one word is in the closest reference'}."), (
        f"Closest is reference {best + 1}. The largest precision of all references is {fixed(apart.precision, 3)}, the largest "
        f"recall {fixed(apart.recall, 3)}.",
    )


def _cider_said(result: Parts) -> Told:
    apart = result.apart.cider
    score = strong(f"CIDEr {fixed(apart.value)}")
    if apart.groups == 1:
        all_of = "Every n-gram stands in all groups, and ln(1/1) = 0."
        return (score, ": with one group of references no n-gram weighs anything."), (all_of,)
    grey = "" if all(any(one.there) for one in heaviest(result)) else " Grey bars are of n-grams that no reference has."
    weigh = f"N-grams that few of the {apart.groups} groups have weigh most."
    best = max(apart.references, key=lambda one: one.factor * sum(one.cosines))
    mean = sum(best.cosines) / len(best.cosines)
    if not mean:
        return (score, ": no n-gram that weighs anything is in a reference."), (weigh, grey)
    closest_is = (
        f" Closest is reference {apart.references.index(best) + 1}, with a length factor of {fixed(best.factor, 3)}."
    )
    return (score, f": the closest reference has a mean cosine of {fixed(mean, 3)}."), (weigh, closest_is, grey)


_SAID: dict[str, Callable[[Parts], Told]] = {
    "BLEU": _bleu_said,
    "NIST": _nist_said,
    "METEOR": _meteor_said,
    "ROUGE-L": _rouge_said,
    "CIDEr": _cider_said,
}


def heaviest(result: Parts) -> list[Weighed]:
    """Return the n-grams of most weight that are drawn."""
    return sorted(result.apart.cider.found, key=lambda one: -one.weight)[:MOST_BARS]


def closest(result: Parts) -> int:
    """Return which reference is closest: by precision times recall of its own longest common subsequence."""

    def both(one: Subsequence) -> float:
        return one.precision * one.recall

    references = result.apart.rouge_l.references
    return max(range(len(references)), key=lambda place: both(references[place]))


SCORE_PARTS = Action(
    Job("explorer.labs.generation.apart:score_parts", on="nothing", light=True), PartsParams, parts_table
)
