"""A question to a run that finds answers in a text: where each token says that the answer starts and ends, and the best spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, picture
from explorer.charts.chips import chip, chips
from explorer.charts.words import label, percent, prose, quoted, strong
from explorer.kinds import Name, Sentence
from explorer.params import Shown, params
from explorer.runs.examples import ANSWERS, ASKED, READ
from explorer.tables import Table

MOST_SPANS = 5


@params
class AnswerParams:
    """A question, and the text that may hold its answer."""

    run: Annotated[str, Name(missing="Choose a run first: start one on the Train tab.")] = ANSWERS
    question: Annotated[
        str, Sentence("The question is empty. Type one, or pick an example."), Shown("Question", lines=(1, 3))
    ] = ASKED
    text: Annotated[str, Sentence("The text is empty. Paste a paragraph."), Shown("Text", lines=(6, 14))] = READ


@dataclass(frozen=True)
class SpanToken:
    """One token of the text. position: in the row, from 0. joined: it goes on with the word before."""

    position: int
    text: str
    joined: bool


@dataclass(frozen=True)
class Span:
    """Characters of the text from one token to another, by their positions; probability: P(start) · P(end)."""

    text: str
    first: int
    last: int
    probability: float


@dataclass(frozen=True)
class SpanAnswer:
    """What one model says. start, end: each token's probability, in the order of AnswerResult.tokens.

    nothing: those of the row's first token, which stands for no answer. spans: the likeliest, the best one first.
    """

    name: str
    start: tuple[float, ...]
    end: tuple[float, ...]
    nothing: tuple[float, float]
    spans: tuple[Span, ...]

    @property
    def null(self) -> float:
        """The probability of no answer, as a span's is counted."""
        return self.nothing[0] * self.nothing[1]

    @property
    def said(self) -> Span | None:
        """The best span; None if no answer is likelier."""
        return self.spans[0] if self.spans and self.spans[0].probability >= self.null else None


@dataclass(frozen=True)
class AnswerResult:
    """base: the same network with the head it started from; adapted: after the run."""

    run_id: str
    question: str
    tokens: tuple[SpanToken, ...]
    base: SpanAnswer
    adapted: SpanAnswer


NOTHING = "no answer"
NAMED = 0.1
"""A token's name stands below its bars from this probability on; the pointer reads the others."""

APART = 6
"""Tokens; names that stand no further apart would touch, and are told together."""

SIDES = (("start", "@first"), ("end", "@second"))


def said_text(answer: SpanAnswer) -> str:
    """Write the best span, or that there is none, with its probability."""
    if answer.said is None:
        return f"{NOTHING} ({percent(answer.null)})"
    return f"“{answer.said.text}” ({percent(answer.said.probability)})"


def answer_sentence(result: AnswerResult) -> Markup:
    """Say what both models answer, and what was second."""
    adapted = result.adapted
    parts = [strong(adapted.name), " answers ", strong(said_text(adapted))]
    if adapted.said is not None:
        parts.append(f"; that the text holds no answer has {percent(adapted.null)}")
    elif adapted.spans:
        best = adapted.spans[0]
        parts.append(f"; the best span, “{best.text}”, has {percent(best.probability)}")
    return prose(*parts, f". Before training, with the head it started from, the model said {said_text(result.base)}.")


def answer_chips(result: AnswerResult) -> dict[str, Any]:
    """Return the text as chips, its answer marked; a token's title says by how much it may start or end it."""
    said, row = result.adapted.said, []
    for token, start, end in zip(result.tokens, result.adapted.start, result.adapted.end, strict=True):
        inside = said is not None and said.first <= token.position <= said.last
        title = f"{token.text}, position {token.position}: P(start) = {percent(start)}, P(end) = {percent(end)}"
        row.append(chip(token.text, title, "answer" if inside else "plain", joined=token.joined))
    return chips("The text, with the answer marked", row)


def answer_figure(result: AnswerResult) -> Picture:
    """Draw P(start) and P(end) of every token of the text, and of no answer at its left: after the run, before it
    below.
    """
    # One legend for both.
    panels = [_panel(result, result.adapted, "after training"), _panel(result, result.base, "before", shown=False)]
    look: Look = {"bargap": 0.15, "legend": True, "phone": 560, "above": 12}
    return picture(answer_sentence(result), panels, columns=1, height=470, **look)


def _panel(result: AnswerResult, answer: SpanAnswer, title: str, shown: bool = True) -> Panel:
    names = [NOTHING, *(label(token.text, 12) for token in result.tokens)]
    places = list(range(len(names)))
    sides = [(answer.nothing[side], *values) for side, values in enumerate((answer.start, answer.end))]
    # "no answer" is always named.
    told = _together([place for place in places if place == 0 or max(side[place] for side in sides) >= NAMED])
    named: Look = {
        "tickmode": "array",
        "tickvals": [(group[0] + group[-1]) / 2 for group in told],
        "ticktext": [_names(names, group) for group in told],
        "tickangle": 0,
    }
    across = axis(grid=False, size=14, span=(-0.7, len(names) - 0.3), **named)
    up = axis(title, percent=True, span=(0, 1.04))
    traces = [
        _bars(places, values, colour, f"P({name})", names, shown)
        for (name, colour), values in zip(SIDES, sides, strict=True)
    ]
    return Panel(traces, across, up)


def _together(places: Sequence[int]) -> list[list[int]]:
    """Group the named places, with room for a name between two groups; the first one stays alone."""
    groups: list[list[int]] = []
    for place in places:
        if len(groups) > 1 and place - groups[-1][-1] <= APART:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _names(names: Sequence[str], group: Sequence[int]) -> str:
    """Write one name, or the first and the last."""
    first, last = group[0], group[-1]
    return names[first] if first == last else f"{names[first]}{' ' if last == first + 1 else ' … '}{names[last]}"


def _bars(
    places: Sequence[int], shares: Sequence[float], colour: str, name: str, names: Sequence[str], shown: bool
) -> Trace:
    hover = "%{customdata}: " + name + " = %{y:.2%}"
    return bars(places, shares, colour, name, upright=True, hover=hover, customdata=list(names), showlegend=shown)


def spans_table(result: AnswerResult) -> Markup:
    """Tabulate the likeliest spans of the run, with no answer at its place among them."""
    adapted = result.adapted
    rows = [(one.text, one.probability) for one in adapted.spans] + [(NOTHING, adapted.null)]
    rows.sort(key=lambda row: -row[1])
    made = [(strong(text) if place == 0 else text, percent(share)) for place, (text, share) in enumerate(rows)]
    return quoted(("span", "P(start) · P(end)"), made, "The likeliest spans")


def answer_table(result: AnswerResult) -> Table:
    """model (adapted, base), what (token, span, no answer), text, first and last position, start, end, probability of both.

    A token's start and end are its own two probabilities; a span's start is its first token's, its end its last one's.
    """
    rows: list[tuple[Any, ...]] = []
    for name, answer in (("adapted", result.adapted), ("base", result.base)):
        own = {token.position: place for place, token in enumerate(result.tokens)}
        for span in answer.spans:
            sides = answer.start[own[span.first]], answer.end[own[span.last]]
            rows.append((name, "span", span.text, span.first, span.last, *sides, span.probability))
        rows.append((name, NOTHING, "", 0, 0, *answer.nothing, answer.null))
        for token, start, end in zip(result.tokens, answer.start, answer.end, strict=True):
            rows.append((name, "token", token.text, token.position, token.position, start, end, start * end))
    return Table.of(("model", "what", "text", "first", "last", "start", "end", "probability"), rows)
