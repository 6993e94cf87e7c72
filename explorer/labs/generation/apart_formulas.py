"""Each metric's formula with the numbers of one sentence, and the counts behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from explorer.charts.words import caption, fixed, quoted, strong
from explorer.labs.generation.apart import Parts
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.generation_metrics.meteor import TUNED
from explorer.tasks.generation_metrics.nist import BETA as NIST_BETA
from explorer.tasks.generation_metrics.rouge_l import BETA

MOST_ROWS = 14
Rows = list[tuple[str, str, Markup]]


def formulas(result: Parts, metric: str = METRICS[0]) -> Markup:
    """Typeset the formula's parts, each with its numbers, and tabulate the n-grams that it counts."""
    lines, counts = _FILLED[metric](result)
    rows = [(strong(name), value, formula) for name, value, formula in lines]
    table = quoted(("part", "value", "formula"), rows, style="quoted formulas")
    return Markup('<div class="beside"><div>{}</div><div>{}</div></div>').format(table, counts)


def _fraction(top: str, bottom: str) -> Markup:
    drawn = Markup("<math><mfrac><mtext>{}</mtext><mtext>{}</mtext></mfrac></math>")
    return drawn.format(top, bottom)


def _power(base: str, exponent: str) -> Markup:
    return Markup("{}<sup>{}</sup>").format(base, exponent)


def _equals(*parts: str) -> Markup:
    return Markup(" = ").join(parts)


def _bleu(result: Parts) -> tuple[Rows, Markup]:
    parts = result.apart.bleu.parts
    lines: Rows = []
    for order, (hits, of, value) in enumerate(zip(parts.matched, parts.of_all, parts.precisions, strict=True), start=1):
        counted = hits if hits or not of else value * of  # a smoothed order counts a part of a match
        lines.append(
            (f"p{order}", fixed(value, 3), _equals(_fraction("credited", "all"), _fraction(f"{counted:g}", str(of))))
        )
    filled = f"exp(1 − {parts.closest}/{parts.length})"
    less = filled if 0 < parts.length < parts.closest else f"1, for {parts.length} ≥ {parts.closest}"
    lines.append(("BP", fixed(parts.brevity, 3), _equals("exp(1 − r/c) where c < r", less)))
    numbers = " · ".join(fixed(value, 3) for value in parts.precisions)
    whole = _equals(
        _power("100 · BP · (p1 p2 p3 p4)", "1/4"), _power(f"100 · {fixed(parts.brevity, 3)} · ({numbers})", "1/4")
    )
    lines.append(("BLEU", fixed(100 * parts.value, 1), whole))
    found = sorted(result.apart.bleu.found, key=lambda one: (-len(one.ngram), one.credited))
    rows = [(" ".join(one.ngram), one.count, one.allowed, one.credited) for one in found]
    heads = ("n-gram of the hypothesis", "times", "most in one reference", "credited")
    return lines, _counts(heads, rows, "the longest first, those without a match before the others")


def _nist(result: Parts) -> tuple[Rows, Markup]:
    apart, parts = result.apart.nist, result.apart.nist.parts
    lines: Rows = []
    for order, (total, of) in enumerate(zip(parts.information, parts.of_all, strict=True), start=1):
        formula = _equals(_fraction("information of the credited", "all"), _fraction(fixed(total), str(of)))
        lines.append((f"order {order}", fixed(total / max(1, of), 3), formula))
    ratio = f"{parts.length} / {fixed(parts.mean_length, 1)}"
    penalty = _equals("exp(β ln²(min(1, c/r̄)))", f"exp({fixed(NIST_BETA, 3)} · ln²(min(1, {ratio})))")
    lines.append(("penalty", fixed(parts.penalty, 3), penalty))
    means = " + ".join(fixed(total / max(1, of), 3) for total, of in zip(parts.information, parts.of_all, strict=True))
    lines.append(("NIST", fixed(parts.value), _equals("penalty · sum", f"{fixed(parts.penalty, 3)} · ({means})")))
    found = sorted(apart.found, key=lambda one: -one.info * one.credited)
    rows = [
        (" ".join(one.ngram), one.credited, f"log₂({one.before}/{one.count}) = {fixed(one.info, 3)}") for one in found
    ]
    return lines, _counts(("n-gram", "credited", "information: its beginning / itself, in all references"), rows)


def _meteor(result: Parts) -> tuple[Rows, Markup]:
    apart, parts = result.apart.meteor, result.apart.meteor.parts
    counts = apart.counts
    weighed = _fraction("matched words’ weights", "all words’ weights")
    here = _fraction(f"{counts.matched_here:g}", f"{counts.here:g}")
    there = _fraction(f"{counts.matched_there:g}", f"{counts.there:g}")
    lines: Rows = [("P", fixed(parts.precision, 3), _equals(weighed, here) + " of the hypothesis")]
    lines.append(("R", fixed(parts.recall, 3), _equals(weighed, there) + f" of reference {apart.best + 1}"))
    below = f"{TUNED.alpha} · {fixed(parts.precision, 3)} + {fixed(1 - TUNED.alpha)} · {fixed(parts.recall, 3)}"
    above = f"{fixed(parts.precision, 3)} · {fixed(parts.recall, 3)}"
    lines.append(("F", fixed(parts.mean, 3), _equals(_fraction("P R", "α P + (1 − α) R"), _fraction(above, below))))
    chunks = _power(f"{TUNED.gamma} · ({parts.chunks}/{parts.matches})", str(TUNED.beta))
    whole = parts.penalty == 0 and parts.matches > 0
    filled = "0, for everything matches in one chunk" if whole else chunks if parts.matches else "0"
    lines.append(("penalty", fixed(parts.penalty, 3), _equals(_power("γ (chunks / matches)", "β"), filled)))
    score = f"100 · {fixed(parts.mean, 3)} · (1 − {fixed(parts.penalty, 3)})"
    lines.append(("METEOR", fixed(100 * parts.value, 1), _equals("100 · F (1 − penalty)", score)))
    said = (
        "A match weighs 1 (exact), 0.6 (stem) or 0.8 (synonym); a function word such as “the” a quarter, any other word three "
        "quarters. Of all references the one that gives most counts."
    )
    return lines, caption(said)


def _rouge(result: Parts) -> tuple[Rows, Markup]:
    apart = result.apart.rouge_l
    first = max(apart.references, key=lambda one: one.precision)
    second = max(apart.references, key=lambda one: one.recall)
    here = _fraction(str(len(first.here)), str(len(apart.words)))
    there = _fraction(str(len(second.here)), str(len(second.words)))
    lines: Rows = [
        ("P", fixed(apart.precision, 3), _equals(_fraction("common", "words of the hypothesis"), here)),
        ("R", fixed(apart.recall, 3), _equals(_fraction("common", "words of the reference"), there)),
    ]
    square = f"{BETA}²"
    above = f"(1 + {square}) · {fixed(apart.precision, 3)} · {fixed(apart.recall, 3)}"
    below = f"{fixed(apart.recall, 3)} + {square} · {fixed(apart.precision, 3)}"
    both = _equals(_fraction("(1 + β²) P R", "R + β² P"), _fraction(above, below))
    lines.append(("ROUGE-L", fixed(100 * apart.value, 1), Markup("100 · ") + both))
    rows = [
        (
            number,
            " ".join(one.words[place] for place in one.there),
            len(one.words),
            fixed(one.precision, 3),
            fixed(one.recall, 3),
        )
        for number, one in enumerate(apart.references, start=1)
    ]
    return lines, _counts(("reference", "longest common subsequence", "its words", "P", "R"), rows)


def _cider(result: Parts) -> tuple[Rows, Markup]:
    apart = result.apart.cider
    lines: Rows = []
    for number, one in enumerate(apart.references, start=1):
        means = " + ".join(fixed(value, 3) for value in one.cosines)
        factor = f"exp(−{abs(one.difference)}²/72)"  # 72 = 2σ² with σ = 6
        formula = _equals("mean cosine · exp(−d²/2σ²)", f"({means}) / 4 · {factor}")
        lines.append((f"reference {number}", fixed(one.factor * sum(one.cosines) / 4, 3), formula))
    terms = " + ".join(value for _, value, _ in lines)
    whole = _equals("10 · mean of the references", f"10 · ({terms}) / {len(lines)}")
    shown = [
        *lines[:8],
        ("CIDEr", fixed(apart.value), whole if len(lines) <= 8 else Markup("10 · mean of all references")),
    ]
    found = sorted(apart.found, key=lambda one: -one.weight)
    rows = [
        (
            " ".join(one.ngram),
            f"{one.count} · ln({apart.groups}/{max(1, one.groups)}) = {fixed(one.weight, 3)}",
            ", ".join(fixed(value, 2) for value in one.there[:8]),
        )
        for one in found
    ]
    heads = "n-gram of the hypothesis", "its weight: count · ln(groups / groups with it)", "in each reference"
    return shown, _counts(heads, rows)


_FILLED: dict[str, Callable[[Parts], tuple[Rows, Markup]]] = {
    "BLEU": _bleu,
    "NIST": _nist,
    "METEOR": _meteor,
    "ROUGE-L": _rouge,
    "CIDEr": _cider,
}


def _counts(heads: Iterable[str], rows: Sequence[tuple[object, ...]], order: str = "the weightiest first") -> Markup:
    """Tabulate the first rows; how many more there are is said."""
    more = len(rows) - MOST_ROWS
    table = quoted(heads, rows[:MOST_ROWS])
    return table + (caption(f"{MOST_ROWS} of {len(rows)}, {order}; all are in the data below.") if more > 0 else "")
