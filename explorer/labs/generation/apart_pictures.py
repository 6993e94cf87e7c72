"""What is drawn of one sentence: a picture a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Panel, Picture, axis, bars, heat, line, picture, rows, series, texts
from explorer.charts.words import fixed, label
from explorer.labs.generation.apart import MOST_BARS, Parts, closest, heaviest, parts_sentence
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.generation_metrics.meteor import STAGES
from explorer.tasks.generation_metrics.words import Ngram

STAGE_COLOURS = ("@first", "@second", "@third")
_COVERED = [[0.0, "#56718C"], [1.0, "#56B4E9"]]


def parts_figure(result: Parts, metric: str = METRICS[0]) -> Picture:
    """Draw the metric's words."""
    return _DRAWN[metric](result)


def _bleu_figure(result: Parts) -> Picture:
    """Draw a column a word, a row an order: covered by a credited n-gram or not; and each order's precision."""
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
    across = axis(span=[0, 1.35], tickvals=[0, 0.5, 1], grid=False)  # room for the counts beside the bars
    measured = Panel([precision], across, axis(names=True, down=True, size=14), title="precision", air=110)
    return picture(parts_sentence(result, "BLEU"), [seen, measured], height=320, low=300, phone=620, gap=0.13)


def _nist_figure(result: Parts) -> Picture:
    """Draw the n-grams that bring most, and what each order brings."""
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
    return picture(parts_sentence(result, "NIST"), [seen, measured], height=390, low=350, phone=760, gap=0.12)


def _meteor_figure(result: Parts) -> Picture:
    """Draw both texts as columns, and a line for each match in the colour of its stage."""
    apart = result.apart.meteor
    links = [(one.here, one.there, one.stage) for one in apart.pairs]
    heads = ("hypothesis", f"reference {apart.best + 1}")
    return _linked(parts_sentence(result, "METEOR"), heads, apart.words, apart.reference, links, STAGES)


def _rouge_figure(result: Parts) -> Picture:
    """Draw the same with the longest common subsequence: lines that never cross."""
    apart, best = result.apart.rouge_l, closest(result)
    one = apart.references[best]
    links = [(here, there, 0) for here, there in zip(one.here, one.there, strict=True)]
    heads = ("hypothesis", f"reference {best + 1}")
    return _linked(parts_sentence(result, "ROUGE-L"), heads, apart.words, one.words, links, ("in both, in this order",))


def _linked(
    said: Markup,
    heads: tuple[str, str],
    words: Ngram,
    other: Ngram,
    links: Sequence[tuple[int, int, int]],
    kinds: Sequence[str],
) -> Picture:
    """Draw two columns of words with lines between them; the third of a link is its kind."""
    traces = []
    for kind, name in enumerate(kinds):
        found = [(here, there) for here, there, one in links if one == kind]
        if found:
            x = [at for _ in found for at in (0, 1, None)]  # None ends one line before the next
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
    # The first word is on top, below the heads.
    x_axis, y_axis = axis(span=[-1, 2], visible=False), axis(span=[longest - 0.4, -2], visible=False)
    tall = 60 + 21 * (longest + 2)
    return picture(said, [Panel(traces, x_axis, y_axis)], height=tall, phone=tall, legend=True, above=34)


def _cider_figure(result: Parts) -> Picture:
    """Draw the heaviest n-grams, and the cosine with each reference for each order."""
    apart = result.apart.cider
    most = heaviest(result)
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
    title = "heaviest n-grams"
    seen = Panel([drawn], axis("count × idf", span=span), rows(names, size=14, zeroline=False), width=1.5, title=title)
    orders = [f"{order}-grams" for order in range(1, 5)]
    columns = [f"ref. {number}" for number in range(1, len(apart.references) + 1)]
    z = [[one.cosines[order] for one in apart.references] for order in range(4)]
    written = (lambda value: fixed(value, 2)) if len(columns) <= 8 else None  # narrower cells have no room for numbers
    cosines = heat(columns, orders, z, MAGNITUDE, texts=written, hover="%{y}, %{x}: %{z:.3f}")
    compared = Panel(cosines, axis(names=True, size=14), axis(names=True, down=True, size=14), title="cosine")
    return picture(parts_sentence(result, "CIDEr"), [seen, compared], height=390, low=350, phone=760, gap=0.2)


_DRAWN: dict[str, Callable[[Parts], Picture]] = {
    "BLEU": _bleu_figure,
    "NIST": _nist_figure,
    "METEOR": _meteor_figure,
    "ROUGE-L": _rouge_figure,
    "CIDEr": _cider_figure,
}


def _labels(words: Iterable[str], longest: int) -> list[str]:
    return [label(word, longest) for word in words]
