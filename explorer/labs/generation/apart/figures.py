"""What is said and drawn of one sentence: the words that a metric counts, matched or weighed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import CIVIDIS, Panel, Picture, axis, bars, heat, line, picture, rows, series, texts
from explorer.charts.words import fixed, label, prose, strong
from explorer.labs.generation.apart.schema import Parts
from explorer.tables import Cell, Table
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.generation_metrics.alignment import STAGES
from explorer.tasks.generation_metrics.ngrams import Ngram
from explorer.tasks.generation_metrics.rouge_l import Subsequence

MOST_BARS = 12
STAGE_COLOURS = ("@first", "@second", "@third")
_COVERED = [[0.0, "#56718C"], [1.0, "#56B4E9"]]


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


def parts_sentence(result: Parts, metric: str = METRICS[0]) -> Markup:
    """What the metric finds in the sentence."""
    return _SAID[metric](result)


def _bleu_said(result: Parts) -> Markup:
    parts = result.apart.bleu.parts
    matched = ", ".join(f"{hits} of {of}" for hits, of in zip(parts.matched, parts.of_all, strict=True))
    short = f"{parts.length} words against {parts.closest} of the closest reference"
    penalty = f"; {short} cost a factor of {fixed(parts.brevity, 3)}" if parts.brevity < 1 else "; no brevity penalty"
    smoothed = " An order without a match counts as half a match, the next as a quarter." if 0 in parts.matched else ""
    score = strong(f"BLEU {fixed(100 * parts.value, 1)}")
    return prose(score, f": of the runs of 1, 2, 3 and 4 words {matched} are in a reference{penalty}.{smoothed}")


def _nist_said(result: Parts) -> Markup:
    apart = result.apart.nist
    score = strong(f"NIST {fixed(apart.parts.value, 2)}")
    if not apart.found:
        return prose(score, ": no word is in a reference.")
    most = max(apart.found, key=lambda one: one.info * one.credited)
    share = apart.parts.information[0] / (sum(apart.parts.information) or 1)
    return prose(
        score,
        ": the rarer an n-gram in all references, the more it counts. Most comes from ",
        strong(" ".join(most.ngram)),
        f" ({fixed(most.info * most.credited)} bits); single words bring {fixed(100 * share, 0)}% of all.",
    )


def _meteor_said(result: Parts) -> Markup:
    apart, parts = result.apart.meteor, result.apart.meteor.parts
    found = [sum(one.stage == stage for one in apart.pairs) for stage in range(len(STAGES))]
    named = ", ".join(f"{count} {stage}" for stage, count in zip(STAGES, found, strict=True) if count) or "none"
    chunks = f"{parts.chunks} chunk{'' if parts.chunks == 1 else 's'}"
    return prose(
        strong(f"METEOR {fixed(100 * parts.value, 1)}"),
        f": {parts.matches} matches with reference {apart.best + 1} ({named}) in {chunks}; F is {fixed(parts.mean, 3)}, and the "
        f"chunks cost {fixed(100 * parts.penalty, 1)}% of it.",
    )


def _rouge_said(result: Parts) -> Markup:
    apart = result.apart.rouge_l
    best = _closest(result)
    common = len(apart.references[best].here)
    return prose(
        strong(f"ROUGE-L {fixed(100 * apart.value, 1)}"),
        f": {common} words stand in the same order in reference {best + 1}. The largest precision of all references is "
        f"{fixed(apart.precision, 3)}, the largest recall {fixed(apart.recall, 3)}.",
    )


def _cider_said(result: Parts) -> Markup:
    apart = result.apart.cider
    score = strong(f"CIDEr {fixed(apart.value)}")
    if apart.groups == 1:
        return prose(
            score, ": with one group of references every n-gram stands in all groups, and ln(1/1) = 0 weighs nothing."
        )
    best = max(apart.references, key=lambda one: one.factor * sum(one.cosines))
    mean = sum(best.cosines) / len(best.cosines)
    number = apart.references.index(best) + 1
    return prose(
        score,
        f": n-grams that few of the {apart.groups} groups have weigh most. Closest is reference {number}, with a mean cosine of "
        f"{fixed(mean, 3)} and a length factor of {fixed(best.factor, 3)}.",
    )


_SAID: dict[str, Callable[[Parts], Markup]] = {
    "BLEU": _bleu_said,
    "NIST": _nist_said,
    "METEOR": _meteor_said,
    "ROUGE-L": _rouge_said,
    "CIDEr": _cider_said,
}


def parts_figure(result: Parts, metric: str = METRICS[0]) -> Picture:
    """The metric's words."""
    return _DRAWN[metric](result)


def _bleu_figure(result: Parts) -> Picture:
    """A column a word, a row an order: covered by a credited n-gram or not; and each order's precision."""
    apart = result.apart.bleu
    places = list(range(len(apart.words)))
    names = [f"{order}-grams" for order in range(1, len(apart.covered) + 1)]
    z = [[int(place in covered) for place in places] for covered in apart.covered]
    words = axis(
        tickmode="array", tickvals=places, ticktext=_labels(apart.words, 14), tickangle=-60, size=14, grid=False
    )
    marks = [["✓" if value else "·" for value in row] for row in z]
    said = "%{x} %{y}"
    drawn = heat(places, names, z, _COVERED, texts=marks, hover=said)
    seen = Panel(drawn, words, axis(names=True, down=True, size=14), width=2.6, title="words in credited n-grams")
    parts = apart.parts
    written = [f"{hits}/{of}" for hits, of in zip(parts.matched, parts.of_all, strict=True)]
    precision = bars(names, parts.precisions, "@first", texts=written, size=14, hover="precision %{x:.3f}")
    across = axis(span=[0, 1.35], tickvals=[0, 0.5, 1], grid=False)
    measured = Panel([precision], across, axis(names=True, down=True, size=14), title="precision", air=110)
    return picture(_bleu_said(result), [seen, measured], height=320, low=300, phone=620, gap=0.13)


def _nist_figure(result: Parts) -> Picture:
    """The n-grams that bring most, and what each order brings."""
    apart = result.apart.nist
    most = sorted(apart.found, key=lambda one: -one.info * one.credited)[:MOST_BARS]
    bits = [one.info * one.credited for one in most]
    colours = [series(len(one.ngram) - 1) for one in most]
    names = _labels((" ".join(one.ngram) for one in most), 34)
    drawn = bars(
        list(range(len(most))), bits, colours, texts=[fixed(one) for one in bits], size=14, hover="%{x:.3f} bits"
    )
    span = [0, 1.25 * max(bits, default=1.0)]
    seen = Panel(
        [drawn],
        axis("bits", span=span),
        rows(names, size=14, zeroline=False),
        width=1.7,
        title="most informative n-grams",
    )
    orders = [f"{order}-grams" for order in range(1, 6)]
    means = [total / max(1, of) for total, of in zip(apart.parts.information, apart.parts.of_all, strict=True)]
    colours = [series(place) for place in range(5)]
    summed = bars(orders, means, colours, texts=[fixed(one) for one in means], size=14, hover="%{x:.3f} bits an n-gram")
    across = axis("bits an n-gram", span=[0, 1.35 * max(*means, 0.1)])
    measured = Panel([summed], across, axis(names=True, down=True, size=14), title="by order")
    return picture(_nist_said(result), [seen, measured], height=390, low=350, phone=760, gap=0.12)


def _meteor_figure(result: Parts) -> Picture:
    """Both texts as columns, and a line for each match in the colour of its stage."""
    apart = result.apart.meteor
    links = [(one.here, one.there, one.stage) for one in apart.pairs]
    heads = ("hypothesis", f"reference {apart.best + 1}")
    return _linked(_meteor_said(result), heads, apart.words, apart.reference, links, STAGES)


def _rouge_figure(result: Parts) -> Picture:
    """The same with the longest common subsequence: lines that never cross."""
    apart, best = result.apart.rouge_l, _closest(result)
    one = apart.references[best]
    links = [(here, there, 0) for here, there in zip(one.here, one.there, strict=True)]
    heads = ("hypothesis", f"reference {best + 1}")
    return _linked(_rouge_said(result), heads, apart.words, one.words, links, ("in both, in this order",))


def _linked(
    said: Markup,
    heads: tuple[str, str],
    words: Ngram,
    other: Ngram,
    links: Sequence[tuple[int, int, int]],
    kinds: Sequence[str],
) -> Picture:
    """Two columns of words with lines between them; the third of a link is its kind."""
    traces = []
    for kind, name in enumerate(kinds):
        found = [(here, there) for here, there, one in links if one == kind]
        if found:
            x = [at for _ in found for at in (0, 1, None)]
            y = [at for here, there in found for at in (here, there, None)]
            traces.append(line(x, y, STAGE_COLOURS[kind], name, width=3, size=8))
    for side, column in enumerate((words, other)):
        met = {link[side] for link in links}
        shown = [f"<b>{one}</b>" if place in met else one for place, one in enumerate(_labels(column, 24))]
        where = "middle left" if side == 0 else "middle right"
        spaced = [f"{one}  " if side == 0 else f"  {one}" for one in shown]
        traces.append(
            texts([side] * len(column), range(len(column)), spaced, textposition=where, textfont={"size": 14})
        )
        traces.append(
            texts([side], [-1.2], [heads[side]], textposition=where, textfont={"size": 14, "color": "@muted"})
        )
    longest = max(len(words), len(other), 1)
    hidden: dict[str, Any] = {"showticklabels": False, "zeroline": False, "grid": False}
    x_axis, y_axis = axis(span=[-1, 2], **hidden), axis(span=[longest - 0.4, -2], **hidden)
    tall = 60 + 21 * (longest + 2)
    return picture(said, [Panel(traces, x_axis, y_axis)], height=tall, phone=tall, legend=True, above=34)


def _cider_figure(result: Parts) -> Picture:
    """The heaviest n-grams, and the cosine with each reference for each order."""
    apart = result.apart.cider
    most = sorted(apart.found, key=lambda one: -one.weight)[:MOST_BARS]
    matched = [any(one.there) for one in most]
    names = _labels((" ".join(one.ngram) for one in most), 34)
    weights = [one.weight for one in most]
    colours = ["@first" if one else "@muted" for one in matched]
    drawn = bars(
        list(range(len(most))),
        weights,
        colours,
        texts=[fixed(one) for one in weights],
        size=14,
        hover="weight %{x:.3f}",
    )
    span = [0, 1.25 * (max(weights, default=0.0) or 1.0)]
    title = "heaviest n-grams (grey: unmatched)"
    seen = Panel([drawn], axis("count × idf", span=span), rows(names, size=14, zeroline=False), width=1.5, title=title)
    orders = [f"{order}-grams" for order in range(1, 5)]
    columns = [f"ref. {number}" for number in range(1, len(apart.references) + 1)]
    z = [[one.cosines[order] for one in apart.references] for order in range(4)]
    written = (lambda value: fixed(value, 2)) if len(columns) <= 8 else None
    cosines = heat(columns, orders, z, CIVIDIS, texts=written, hover="%{y}, %{x}: %{z:.3f}")
    compared = Panel(
        cosines, axis(names=True, size=14), axis(names=True, down=True, size=14), title="cosine, matches clipped"
    )
    return picture(_cider_said(result), [seen, compared], height=390, low=350, phone=760, gap=0.14)


_DRAWN: dict[str, Callable[[Parts], Picture]] = {
    "BLEU": _bleu_figure,
    "NIST": _nist_figure,
    "METEOR": _meteor_figure,
    "ROUGE-L": _rouge_figure,
    "CIDEr": _cider_figure,
}


def _labels(words: Iterable[str], longest: int) -> list[str]:
    return [label(word, longest) for word in words]


def _closest(result: Parts) -> int:
    """The reference with the longest common subsequence, by its own precision and recall."""

    def both(one: Subsequence) -> float:
        return one.precision * one.recall

    references = result.apart.rouge_l.references
    return max(range(len(references)), key=lambda place: both(references[place]))
