"""The sentence-pair lab's pictures, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import CIVIDIS, cell_texts, fixed, label, percent, picture, prose, strong
from explorer.labs.pairs.schema import CLASSES, AllPairsResult, PairResult
from explorer.models.records import Scores
from explorer.tables import Table

ROBERTA_TABLE_2 = Markup(
    "<table><thead><tr><th>input format</th><th>SQuAD 1.1/2.0</th><th>MNLI-m</th><th>SST-2</th><th>RACE</th></tr></thead>"
    "<tbody><tr><td>segment pair, with NSP</td><td>90.4/78.7</td><td>84.0</td><td>92.9</td><td>64.2</td></tr>"
    "<tr><td>sentence pair, with NSP</td><td>88.7/76.2</td><td>82.9</td><td>92.1</td><td>63.0</td></tr>"
    "<tr><td>full sentences, no NSP</td><td>90.4/79.1</td><td>84.7</td><td>92.5</td><td>64.8</td></tr>"
    "<tr><td>doc sentences, no NSP</td><td>90.6/79.7</td><td>84.7</td><td>92.7</td><td>65.6</td></tr></tbody></table>"
)
"""Liu et al. 2019, Table 2: base size, BooksCorpus and Wikipedia."""

BERT_TABLE_5 = Markup(
    "<table><thead><tr><th>BERT-base, segment pairs</th><th>MNLI-m</th><th>QNLI</th><th>MRPC</th><th>SST-2</th>"
    "<th>SQuAD 1.1</th></tr></thead><tbody>"
    "<tr><td>with NSP</td><td>84.4</td><td>88.4</td><td>86.7</td><td>92.7</td><td>88.5</td></tr>"
    "<tr><td>no NSP</td><td>83.9</td><td>84.9</td><td>86.5</td><td>92.6</td><td>87.9</td></tr></tbody></table>"
)
"""Devlin et al. 2019, Table 5 (its first two rows)."""

TWO_ABLATIONS = Markup(
    "<p><b>Does NSP help?</b> BERT's own ablation says yes (Devlin et al. 2019, Table 5):</p>{}"
    "<p>RoBERTa's says no (Liu et al. 2019, Table 2):</p>{}"
    "<p>They do not take away the same. BERT left out the loss and may have kept its input of two segments, half the time "
    "from two documents (so Liu et al. suppose, section 4.2). RoBERTa left out the pairs too: its last two rows read whole "
    "sentences in a row, up to 512 tokens. Where NSP stays, short input hurts most (sentence pair): there is no long context to "
    "learn from.</p>"
).format(BERT_TABLE_5, ROBERTA_TABLE_2)
"""Why the two papers disagree on NSP."""

MISSING_HEAD = (
    Markup(
        "<p>RoBERTa was trained without next-sentence prediction, because its authors found that leaving it out matches or "
        "slightly improves the tasks that follow. Their Table 2 (Liu et al. 2019), base size, BooksCorpus and Wikipedia:</p>"
    )
    + ROBERTA_TABLE_2
    + Markup(
        "<p>DistilBERT and ELECTRA dropped it as well; ALBERT asks instead whether two sentences were swapped.</p>"
    )
)
"""Why a model may lack this head, quoted from RoBERTa's paper."""


def pair_chips(result: PairResult) -> dict[str, Any]:
    """The input as BERT sees it; below each token its segment id and its position."""
    chips = [
        {
            "text": token.shown,
            "joined": token.joined,
            "style": ("segment-a", "segment-b")[token.segment] + (" special" if token.special else ""),
            "position": None,
            "pressed": False,
            "title": f"{token.text}: segment {token.segment}, position {token.position}",
            "below": f"{token.segment} · {token.position}",
        }
        for token in result.tokens
    ]
    return {"chips": chips, "label": "The input: tokens, with segment and position below each"}


def pair_table(result: PairResult) -> Table:
    """class, logit, probability."""
    return Table.of(
        ("class", "logit", "probability"),
        list(zip(CLASSES, result.logits, result.probabilities, strict=True)),
    )


def pair_sentence(result: PairResult) -> Markup:
    """What the head says, and what its two logits are."""
    is_next = result.probabilities[0]
    verdict = "the second sentence follows the first" if is_next >= 0.5 else "the second sentence does not follow"
    return prose(
        "The [CLS] head says that ",
        strong(verdict),
        ": P(next) = ",
        strong(percent(is_next)),
        f", the softmax of logits {fixed(result.logits[0])} (is next) and {fixed(result.logits[1])} (not next).",
    )


def pair_trust_sentence(model: str, scores: Scores | None) -> Markup:
    """How far to believe the verdict on everyday sentences, by the model's held-out figures, or by BERT's own."""
    right = scores.find("nsp_everyday") if scores else None
    accepted = scores.find("nsp_everyday_accepted") if scores else None
    if right is None or accepted is None:
        said = "Not measured here. BERT's own was right on 97–98% of pairs of segments (Devlin et al. 2019, footnote 5)"
        return Markup('<p class="caption">{}; 50% is chance.</p>').format(said)
    count = right.over.split(",")[0].removesuffix(" pairs")
    said = f"How far to believe it: on {count} pairs of everyday sentences {label(model)} is right in {percent(right.value)}"
    return Markup('<p class="caption">{} (50% is chance): it accepts {} of the unrelated ones.</p>').format(
        said, percent(accepted.value)
    )


def pair_figure(result: PairResult) -> dict[str, Any]:
    """Two bars: the probability of each class."""
    return two_bars(["is next", "not next"], result.probabilities, result.logits, pair_sentence(result))


def two_bars(
    classes: Sequence[str], probabilities: Sequence[float], logits: Sequence[float], said: Markup
) -> dict[str, Any]:
    """A head's two classes as bars, each with its probability and its logit."""
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": list(classes),
        "x": list(probabilities),
        "text": [
            f"{percent(probability)}<br>logit {fixed(logit)}"
            for probability, logit in zip(probabilities, logits, strict=True)
        ],
        "textposition": "auto",
        "textfont": {"size": 17},
        "insidetextfont": {"size": 17, "color": "@inside"},
        "cliponaxis": False,
        "marker": {"color": ["@first", "@second"]},
        "hovertemplate": "%{y}: %{x:.4%}<extra></extra>",
    }
    return picture(
        [trace],
        said.striptags(),
        height=240,
        bargap=0.2,
        xaxis={"range": [0, 1.02], "tickformat": ".0%", "title": {"text": "probability"}},
        yaxis={"autorange": "reversed", "tickfont": {"size": 18}, "showgrid": False},
    )


def all_pairs_table(result: AllPairsResult) -> Table:
    """first, second (sentence numbers from 1), probability that second follows first."""
    rows = [
        (first, second, probability)
        for first, row in enumerate(result.probabilities, start=1)
        for second, probability in enumerate(row, start=1)
        if probability is not None
    ]
    return Table.of(("first", "second", "probability"), rows)


def all_pairs_sentence(result: AllPairsResult) -> Markup:
    """How often the true successor has the highest score of its row, where a row has others to compare it with."""
    starts = range(len(result.sentences) - 1)
    right = sum(_best(result, first) == first + 1 for first in starts)
    true = [result.probabilities[first][first + 1] or 0.0 for first in starts]
    others = [
        probability
        for first, row in enumerate(result.probabilities)
        for second, probability in enumerate(row)
        if probability is not None and second != first + 1
    ]
    if len(result.sentences) == 2:
        (own,), (swapped,) = true, others
        parts = [
            "The pair as it stands has P(next) = ",
            strong(percent(own)),
            f", the same two swapped {percent(swapped)}",
        ]
    else:
        parts = [
            "The true next sentence scores highest in ",
            strong(f"{right} of {len(starts)}"),
            f" rows. Its mean P(next) is {percent(sum(true) / len(true))}, that of all other pairs "
            f"{percent(sum(others) / len(others))}",
        ]
    parts.append(
        ". Sentences of one text share a topic, and NSP was trained against other texts: it tells topics apart better "
        "than order (ALBERT's Table 5: a model trained on NSP gets 52.0% on order)."
    )
    return prose(*parts)


def _best(result: AllPairsResult, first: int) -> int:
    row = result.probabilities[first]
    return max((place for place in range(len(row)) if row[place] is not None), key=lambda place: row[place] or 0.0)


def all_pairs_figure(result: AllPairsResult) -> dict[str, Any]:
    """Heatmap: first sentence down, second across; the true successors are outlined."""
    count = len(result.sentences)
    numbers = [str(number) for number in range(1, count + 1)]
    outlines = [
        {
            "type": "rect",
            "x0": first + 0.5,
            "x1": first + 1.5,
            "y0": first - 0.5,
            "y1": first + 0.5,
            "line": {"color": "@highlight", "width": 4},
        }
        for first in range(count - 1)
    ]
    trace = {
        "type": "heatmap",
        "z": [list(row) for row in result.probabilities],
        "x": numbers,
        "y": numbers,
        "colorscale": CIVIDIS,
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "hovertemplate": "P(%{x} follows %{y}) = %{z:.4f}<extra></extra>",
        "colorbar": {"tickformat": ".0%", "title": {"text": "P(next)"}, "thickness": 14},
    }
    texts = [["" if p is None else _cell(p) for p in row] for row in result.probabilities]
    return picture(
        [trace, cell_texts(trace, texts, 16 if count <= 8 else 14)],
        all_pairs_sentence(result).striptags(),
        height=max(340, 90 + 44 * count),
        shapes=outlines,
        xaxis={"title": {"text": "second sentence"}, "side": "top", "showgrid": False, "type": "category"},
        yaxis={"title": {"text": "first sentence"}, "autorange": "reversed", "showgrid": False, "type": "category"},
        margin={"l": 8, "r": 8, "t": 60, "b": 8},
    ) | {"low": max(270, 70 + 36 * count)}


def _cell(probability: float) -> str:
    """Whole percents; what is not quite certain is not shown as certain."""
    if 0 < probability < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= probability < 1 else f"{100 * probability:.0f}%"


def numbered(result: AllPairsResult) -> Markup:
    """The sentences with the numbers that the heatmap uses."""
    items = Markup("").join(Markup("<li>{}</li>").format(sentence) for sentence in result.sentences)
    return Markup('<ol class="sentences">{}</ol>').format(items)
