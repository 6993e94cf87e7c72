"""Sentence order beside next sentences: the same true, swapped and random pairs put to both heads, as chips and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup
from pydantic import AfterValidator

from explorer.charts import MAGNITUDE, Look, Panel, Picture, Trace, axis, chart, heat, level, picture, points, strokes
from explorer.charts.words import caption, label, percent, prose, quoted, strong
from explorer.kinds import Sentence
from explorer.labs.pairs.figures import class_table, head_notes, head_sentence, loss_line, two_bars
from explorer.labs.pairs.schema import FIRST, MOST_SENTENCES, SECOND, OrderResult, of_sentences
from explorer.models.records import Scores
from explorer.params import Shown, params
from explorer.tables import Table

CLASSES = ("in_order", "swapped")
"""AlbertForPreTraining's two classes, in the order of its logits."""

KINDS = ("true", "swapped", "random")
"""A sentence and the next one; the same two the other way round; a sentence and one of another text."""


@params
class OrderParams:
    """Two texts; the question is whether they stand in the order in which they were written."""

    first: Annotated[str, FIRST, Shown("First", lines=(1, 4))]
    second: Annotated[str, SECOND, Shown("Second", lines=(1, 4))]


def _counted(said: str, least: int) -> AfterValidator:
    """Check how many sentences a text has; `said` names it."""
    few = f"{said} has one sentence. Type at least two, each ended by a full stop."
    return of_sentences(least, few, f"{said} has {{count}} sentences: take at most {MOST_SENTENCES}.")


TYPE_SOME = "is empty. Type some sentences, each ended by a full stop."


@params
class KindsParams:
    """A short text whose sentences follow each other, and another one that has nothing to do with it."""

    text: Annotated[
        str,
        Sentence(f"The text {TYPE_SOME}"),
        _counted("The text", 2),
        Shown("A text: its neighbours are the true pairs", lines=(5, 9)),
    ]
    other_text: Annotated[
        str,
        Sentence(f"The other text {TYPE_SOME}"),
        _counted("The other text", 1),
        Shown("Another text, for the random pairs", lines=(4, 8)),
    ]


@dataclass(frozen=True)
class ScoredPair:
    """One pair of one kind. probability: of the head's first class, is_next or in_order."""

    kind: str
    first: str
    second: str
    probability: float


@dataclass(frozen=True)
class KindsResult:
    """Every pair with its score by one model. head: NSP or SOP."""

    model: str
    head: str
    pairs: tuple[ScoredPair, ...]

    def of(self, kind: str) -> tuple[ScoredPair, ...]:
        """Return the pairs of one kind."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)

    def accepted(self, kind: str) -> float:
        """Return the share of a kind's pairs in which the first class leads."""
        return sum(pair.probability >= 0.5 for pair in self.of(kind)) / max(1, len(self.of(kind)))


NAMES = ("in order", "swapped")
"""What the head's classes are called."""

KIND_NAMES = {"true": "true neighbours", "swapped": "the same, swapped", "random": "from another text"}
ACCEPTED = {"true": "true pairs", "swapped": "swapped pairs", "random": "pairs from another text"}
HEADS = {"NSP": ("NSP: P(is next)", "@first", "circle"), "SOP": ("SOP: P(in order)", "@second", "diamond")}
"""What a head's first class is called, its colour, its mark."""

TABLE_5 = (("NSP", 90.5, 52.0), ("SOP", 78.9, 86.5))
"""Lan et al. 2020, Table 5: trained with, accuracy on NSP, accuracy on SOP."""

CHANCE = 2.0
"""Points around 50 within which 2,000 pairs, half of each class, do not tell a model from a coin (about two standard errors)."""


def order_table(result: OrderResult) -> Table:
    """class, logit, probability, loss (of the head where this class is the true one, in nats)."""
    return class_table(CLASSES, result)


def order_sentence(result: OrderResult) -> Markup:
    """Say what the head says."""
    verdicts = ("the two stand in their order", "the two were swapped")
    return head_sentence(label(result.model), verdicts, "in order", result)


def order_notes(result: OrderResult) -> Markup:
    """State the two logits."""
    return head_notes(NAMES, result)


def order_loss(result: OrderResult) -> Markup:
    """Say what the verdict costs in pretraining, for either truth."""
    return loss_line("SOP", ("if in order", "if swapped"), result)


def trust_sentence(model: str, scores: Scores | None) -> Markup:
    """Say how far the head is to be believed, from the model's held-out figures, or from ALBERT's own."""
    found = scores.find("sop_segments") if scores else None
    if scores is None or found is None:
        own = {trained: right for trained, _, right in TABLE_5}["SOP"]
        said = f"Not measured here. ALBERT's own was right on {own}% of segments (Lan et al. 2020, Table 5)"
    else:
        single = scores.find("sop_sentences")
        alone = f", {percent(single.value)} of pairs of single sentences" if single else ""
        right = f"right on {percent(found.value)} of held-out pairs of segments{alone}"
        said = f"How far to believe it: {label(model)} is {right}"
    return caption(said, "; 50% is chance.")


def order_figure(result: OrderResult) -> Picture:
    """Draw two bars: the probability of each class."""
    return two_bars(NAMES, result, order_sentence(result))


def kinds_table(result: KindsResult) -> Table:
    """model, head, kind, first, second, probability (of is_next or in_order)."""
    rows = [(result.model, result.head, pair.kind, pair.first, pair.second, pair.probability) for pair in result.pairs]
    return Table.of(("model", "head", "kind", "first", "second", "probability"), rows)


def both_table(results: Sequence[KindsResult]) -> Table:
    """Tabulate several models, one after another."""
    tables = [kinds_table(result) for result in results]
    return Table(tables[0].columns, sum((table.rows for table in tables), ()))


def kinds_sentence(results: Sequence[KindsResult]) -> Markup:
    """Say how many of the swapped pairs each head takes for true ones: the kind on which the two part."""
    told: list[str] = []
    for result in results:
        accepted = round(result.accepted("swapped") * len(result.of("swapped")))
        told += [" and " if told else "", f"{result.head} ({result.model}) accepts "]
        told.append(strong(f"{accepted:,}" if accepted else "none"))
    return prose("Of the swapped pairs ", *told, ".")


def kinds_notes(results: Sequence[KindsResult]) -> Markup:
    """Say how many pairs of each kind each head accepts."""
    parts: list[str] = []
    for result in results:
        *first, last = (f"{_accepted(result, kind)} {ACCEPTED[kind]}" for kind in KINDS)
        parts.append(f"{result.head} ({result.model}) accepts {', '.join(first)} and {last}. ")
    return caption(*parts, "Random pairs have no order, so SOP's answer on them means nothing.")


def _accepted(result: KindsResult, kind: str) -> str:
    count = len(result.of(kind))
    return f"{round(result.accepted(kind) * count)} of {count}"


def kinds_figure(results: Sequence[KindsResult]) -> Picture:
    """Draw every pair as a mark at its probability, one row a kind and head; a bar stands at the mean."""
    drawn: list[Trace] = []
    rows = {kind: 2 - place for place, kind in enumerate(KINDS)}
    for result, shift in zip(results, (0.17, -0.17), strict=False):  # one head above, one below each row's middle
        name, colour, symbol = HEADS[result.head]
        heights = [rows[pair.kind] + shift for pair in result.pairs]
        read = [[label(pair.first, 60), label(pair.second, 60)] for pair in result.pairs]
        look: Look = {"size": 13, "symbol": symbol, "marker": {"opacity": 0.75}, "customdata": read}
        look |= {"hover": "%{x:.2%}<br>%{customdata[0]}<br>%{customdata[1]}"}
        shares = [pair.probability for pair in result.pairs]
        drawn.append(points(shares, heights, colour, f"{name}, {label(result.model)}", **look))
        means = [sum(pair.probability for pair in result.of(kind)) / len(result.of(kind)) for kind in KINDS]
        heights = [rows[kind] + shift for kind in KINDS]
        drawn.append(strokes(means, heights, colour, hover="mean %{x:.2%}", showlegend=False))
    across = axis("P(is next) or P(in order)", percent=True, span=(-0.02, 1.02))
    names = ["<br>".join(KIND_NAMES[kind].rsplit(" ", 1)) for kind in rows]
    ticks: Look = {"tickvals": list(rows.values()), "ticktext": names, "zeroline": False}
    up = axis(grid=False, span=(-0.5, 2.5), size=17, **ticks)
    half = level(0.5, "@muted", dash="dot", upright=True)
    return chart(kinds_sentence(results), drawn, across, up, [half], height=340, legend=True)


def cells_sentence(ours: Mapping[str, tuple[str, float, float]]) -> Markup:
    """Say how far each of our models gets in the other's task; chance is within CHANCE of 50."""
    parts: list[str] = []
    for trained, other, place in (("NSP", "order", 2), ("SOP", "next sentences", 1)):
        model, right = ours[trained][0], float(ours[trained][place])
        told = "at chance" if abs(right - 50) < CHANCE else f"right on {right:.1f}%"
        parts += [", and " if parts else "", f"{model}, trained on {trained}, is ", strong(told), f" on {other}"]
    return prose(*parts, ".")


def cells_notes() -> Markup:
    """Say how far ALBERT's own got in the other task, and what chance is."""
    kept = {trained: nsp for trained, nsp, _ in TABLE_5}["SOP"]
    return caption(
        f"ALBERT's own, trained on SOP, was right on {kept}% of next sentences. Half of the pairs are of each class, so 50% is "
        "chance. ALBERT's: Lan et al. 2020, Table 5."
    )


def cells_figure(ours: Mapping[str, tuple[str, float, float]]) -> Picture:
    """Draw trained with NSP or SOP down, measured on NSP and SOP across: our models' four cells beside ALBERT's.

    ours: by what it was trained with, the model and its percentages right on NSP and on SOP.
    """
    published = {trained: ("ALBERT", nsp, sop) for trained, nsp, sop in TABLE_5}
    panels = []
    for title, found in (("ours", ours), ("ALBERT's", published)):
        names = [f"{trained}: {label(model)}" if found is ours else trained for trained, (model, _, _) in found.items()]
        values = [[nsp, sop] for _, nsp, sop in found.values()]
        drawn = heat(("NSP", "SOP"), names, values, MAGNITUDE, (50, 100), texts=lambda value: f"{value:.1f}%", size=20)
        across = axis(f"{title}, right on", names=True, top=True)
        panels.append(Panel(drawn, across, axis("trained with", names=True, down=True)))
    return picture(cells_sentence(ours), panels, height=270, low=230, phone=560, gap=0.2, above=80)


def two_by_two(measured: Sequence[tuple[str, str, Scores]]) -> Markup:
    """Tabulate trained with NSP or SOP against measured on NSP and SOP: our own models beside ALBERT's Table 5.

    measured: (what it was trained with, model, its held-out figures). A model without these figures is left out.
    """
    rows, dates = [], set()
    for trained, model, scores in measured:
        nsp, sop = scores.find("nsp_segments"), scores.find("sop_segments")
        if nsp and sop:
            rows.append((trained, model, f"{100 * nsp.value:.1f}", f"{100 * sop.value:.1f}"))
            dates.add(scores.date)
    rows += [(trained, "ALBERT, quoted", str(nsp), str(sop)) for trained, nsp, sop in TABLE_5]
    about = Markup(
        "NSP: true or random. SOP: in order or swapped. Half of the pairs are of each class: 50 is chance. "
        "Ours: 2,000 pairs of segments that fill 128 tokens of held-out text, measured {}; <code>python -m "
        "pretraining evaluate MODEL</code> measures them again. Quoted: Lan et al. 2020, Table 5."
    ).format(" and ".join(sorted(dates)) or "never")
    return quoted(("trained with", "model", "NSP", "SOP"), rows, "Right of 100") + caption(about)
