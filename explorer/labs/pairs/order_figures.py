"""Sentence order beside next-sentence prediction: pictures, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import fixed, label, percent, picture, prose, strong
from explorer.labs.pairs.figures import two_bars
from explorer.labs.pairs.order_schema import CLASSES, KINDS, KindsResult, OrderResult
from explorer.models.records import Scores
from explorer.tables import Table

KIND_NAMES = {"true": "true neighbours", "swapped": "the same, swapped", "random": "from another text"}
ACCEPTED = {"true": "true pairs", "swapped": "swapped pairs", "random": "pairs from another text"}
HEADS = {"NSP": ("NSP: P(is next)", "@first", "circle"), "SOP": ("SOP: P(in order)", "@second", "diamond")}
"""What a head's first class is called, its colour, its mark."""

TABLE_5 = (("NSP", 90.5, 52.0), ("SOP", 78.9, 86.5))
"""Lan et al. 2020, Table 5: trained with, accuracy on NSP, accuracy on SOP."""


def order_table(result: OrderResult) -> Table:
    """class, logit, probability."""
    return Table.of(
        ("class", "logit", "probability"), list(zip(CLASSES, result.logits, result.probabilities, strict=True))
    )


def order_sentence(result: OrderResult) -> Markup:
    """What the head says, and what its two logits are."""
    in_order = result.probabilities[0]
    verdict = "the two stand in their order" if in_order >= 0.5 else "the two were swapped"
    return prose(
        label(result.model),
        " says that ",
        strong(verdict),
        ": P(in order) = ",
        strong(percent(in_order)),
        f", the softmax of logits {fixed(result.logits[0])} (in order) and {fixed(result.logits[1])} (swapped).",
    )


def trust_sentence(model: str, scores: Scores | None) -> Markup:
    """How far the head is to be believed, from the model's held-out figures; what to compare with where there are none."""
    found = scores.find("sop_segments") if scores else None
    if scores is None or found is None:
        quoted = {trained: right for trained, _, right in TABLE_5}["SOP"]
        said = f"Not measured here. ALBERT's own was right on {quoted}% of segments (Lan et al. 2020, Table 5)"
    else:
        single = scores.find("sop_sentences")
        alone = f", {percent(single.value)} of pairs of single sentences" if single else ""
        right = f"right on {percent(found.value)} of held-out pairs of segments{alone}"
        said = f"How far to believe it: {label(model)} is {right}"
    return Markup('<p class="caption">{}; 50% is chance.</p>').format(said)


def order_figure(result: OrderResult) -> dict[str, Any]:
    """Two bars: the probability of each class."""
    return two_bars(["in order", "swapped"], result.probabilities, result.logits, order_sentence(result))


def kinds_table(result: KindsResult) -> Table:
    """model, head, kind, first, second, probability (of is_next or in_order)."""
    rows = [(result.model, result.head, pair.kind, pair.first, pair.second, pair.probability) for pair in result.pairs]
    return Table.of(("model", "head", "kind", "first", "second", "probability"), rows)


def both_table(results: Sequence[KindsResult]) -> Table:
    """The same of several models, one after another."""
    tables = [kinds_table(result) for result in results]
    return Table.of(tables[0].columns, [row for table in tables for row in table.rows])


def kinds_sentence(results: Sequence[KindsResult]) -> Markup:
    """How many pairs of each kind each head accepts."""
    parts: list[str] = []
    for result in results:
        *first, last = (f"{_accepted(result, kind)} {ACCEPTED[kind]}" for kind in KINDS)
        parts += [strong(f"{result.head} ({label(result.model)})"), f" accepts {', '.join(first)} and {last}. "]
    parts.append("Random pairs have no order, so SOP's answer on them means nothing.")
    return prose(*parts)


def _accepted(result: KindsResult, kind: str) -> str:
    count = len(result.of(kind))
    return f"{round(result.accepted(kind) * count)} of {count}"


def kinds_figure(results: Sequence[KindsResult]) -> dict[str, Any]:
    """Every pair as a mark at its probability, one row a kind and head; a bar stands at the mean."""
    traces: list[dict[str, Any]] = []
    rows = {kind: 2 - place for place, kind in enumerate(KINDS)}
    for number, result in enumerate(results):
        name, colour, symbol = HEADS[result.head]
        shift = 0.17 if number == 0 else -0.17
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"{name}, {label(result.model)}",
                "x": [pair.probability for pair in result.pairs],
                "y": [rows[pair.kind] + shift for pair in result.pairs],
                "customdata": [[label(pair.first, 60), label(pair.second, 60)] for pair in result.pairs],
                "marker": {"color": colour, "symbol": symbol, "size": 13, "opacity": 0.75},
                "hovertemplate": "%{x:.2%}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            }
        )
        means = [sum(pair.probability for pair in result.of(kind)) / len(result.of(kind)) for kind in KINDS]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "showlegend": False,
                "x": means,
                "y": [rows[kind] + shift for kind in KINDS],
                "marker": {"symbol": "line-ns", "size": 26, "line": {"width": 4, "color": colour}},
                "hovertemplate": "mean %{x:.2%}<extra></extra>",
            }
        )
    half = {
        "type": "line",
        "x0": 0.5,
        "x1": 0.5,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"dash": "dot", "color": "@muted"},
    }
    return picture(
        traces,
        kinds_sentence(results).striptags(),
        height=340,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        shapes=[half],
        xaxis={"range": [-0.02, 1.02], "tickformat": ".0%", "title": {"text": "P(is next) or P(in order)"}},
        yaxis={
            "range": [-0.5, 2.5],
            "tickvals": list(rows.values()),
            "ticktext": ["<br>".join(KIND_NAMES[kind].rsplit(" ", 1)) for kind in rows],
            "tickfont": {"size": 17},
            "showgrid": False,
            "zeroline": False,
        },
    )


def two_by_two(measured: Sequence[tuple[str, str, Scores]]) -> Markup:
    """Trained with NSP or SOP against measured on NSP and SOP: our own models beside ALBERT's Table 5.

    measured: (what it was trained with, model, its held-out figures). A model without these figures is left out.
    """
    rows, dates = Markup(""), set[str]()
    for trained, model, scores in measured:
        found = [scores.find(name) for name in ("nsp_segments", "sop_segments")]
        if None not in found:
            cells = Markup("").join(Markup("<td>{:.1f}</td>").format(100 * m.value) for m in found if m)
            rows += Markup("<tr><td>{}</td><td>{}</td>{}</tr>").format(trained, model, cells)
            dates.add(scores.date)
    for trained, nsp, sop in TABLE_5:
        rows += Markup("<tr><td>{}</td><td>ALBERT, quoted</td><td>{}</td><td>{}</td></tr>").format(trained, nsp, sop)
    return Markup(
        '<table class="quoted"><caption>Right of 100</caption><thead><tr><th>trained with</th><th>model</th><th>NSP</th>'
        "<th>SOP</th></tr></thead><tbody>{}</tbody></table>"
        '<p class="caption">NSP: true or random. SOP: in order or swapped. Half of the pairs are of each class: 50 is chance. '
        "Ours: 2,000 pairs of segments that fill 128 tokens of held-out text, measured {}; <code>python -m "
        "pretraining evaluate MODEL</code> measures them again. Quoted: Lan et al. 2020, Table 5.</p>"
    ).format(rows, " and ".join(sorted(dates)) or "never")
