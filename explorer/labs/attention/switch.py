"""Heads switched off: what is asked, what comes of it, and how it is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Picture, axis, bars, chart, colorbar, rows
from explorer.charts.words import caption, counted, in_quotes, label, percent, prose, strong
from explorer.kinds import Flag, Head, Name, Read, Whole, parse_heads
from explorer.labs.attention.head import TokenPlace
from explorer.labs.attention.head_figures import KEY, by_head, head_cells
from explorer.params import SecondText, Shown, Text, params
from explorer.runs.examples import FIRST, PRAISE
from explorer.tables import Table

MOST_ANSWERS = 20


Off = Annotated[tuple[Head, ...], Read(parse_heads)]
"""(layer, head) pairs to switch off, or "0.3, 2.11"."""

Everywhere = Annotated[bool, Flag(), Shown("One layer serves every depth: switch at all of them")]
"""For a layer that is used several times (ALBERT): a head is off each time, instead of at the named depth only."""


@params
class AblateParams:
    """What the model says without some heads."""

    text: Annotated[Text, Shown("Text, with [MASK] for a guess", lines=(1, 4))]
    """With [MASK], or what else the model's head judges."""

    heads: Off = ()
    sentence_b: Annotated[SecondText, Shown("Second text, for a pair", lines=(1, 3))] = ""
    everywhere: Everywhere = False
    top_k: Annotated[int, Whole(1, MOST_ANSWERS)] = 5
    """Answers for each mask."""


@params
class AblateRunParams:
    """The same for a fine-tuned classifier, on what its task reads."""

    run: Annotated[str, Name(missing="Choose a run first; the worked examples are in the list as well.")] = FIRST
    sentence_a: Annotated[Text, Shown("Text", lines=(2, 5))] = PRAISE
    sentence_b: Annotated[SecondText, Shown("Second text, for tasks on pairs", lines=(1, 3))] = ""
    heads: Off = ()
    everywhere: Everywhere = False


@params
class EachHeadParams:
    """A text, or a pair; every head is switched off alone."""

    text: Text
    sentence_b: SecondText = ""


@dataclass(frozen=True)
class AnswerChange:
    """One answer at one place, with its probability before and after."""

    position: int
    answer: str
    before: float
    after: float


@dataclass(frozen=True)
class AblateResult:
    """What the model says with every head and without some.

    question: its kind (explorer.models.questions), with its title. answers: place by place, the likeliest before first.
    divergence: KL(before ‖ after) in nats, the mean over the places. shared: one layer is used at every depth.
    """

    model: str
    question: str
    title: str
    tokens: tuple[TokenPlace, ...]
    layers: int
    heads: int
    off: tuple[Head, ...]
    shared: bool
    answers: tuple[AnswerChange, ...]
    divergence: float


@dataclass(frozen=True)
class EachHeadResult:
    """after[layer][head]: the probability of the leading answer when that head alone is off; before: with all.

    question, shared: as AblateResult's.
    """

    model: str
    position: int
    answer: str
    before: float
    after: tuple[tuple[float, ...], ...]
    question: str = "mask"
    shared: bool = False


MOST_BARS = 16


def ablate_table(result: AblateResult) -> Table:
    """position, token, probability_before, probability_after."""
    answers = [(change.position, _said(result, change), change.before, change.after) for change in result.answers]
    return Table.of(("position", "token", "probability_before", "probability_after"), answers)


def _said(result: AblateResult, change: AnswerChange) -> str:
    """Return the answer's name; for replaced tokens, the token that is judged."""
    return result.tokens[change.position].shown if result.question == "replaced" else change.answer


def ablate_sentence(result: AblateResult) -> Markup:
    """Say what becomes of the leading answer, at the first place."""
    led, leads = _leading(result)
    name = in_quotes(_said(result, led))
    if result.question == "replaced":
        name = prose("the chance that ", name, " was replaced")
    before, after = percent(led.before), percent(led.after)
    if not result.off:
        verb = "is" if result.question == "replaced" else "has"
        return prose(f"All {result.layers * result.heads:,} heads are on, and ", name, f" {verb} ", strong(before), ".")
    moved = prose("stays at ", strong(after)) if after == before else prose(f"goes from {before} to ", strong(after))
    now = prose(", and ", in_quotes(_said(result, leads)), " leads now") if leads is not led else ""
    return prose("Without the heads that are off ", name, " ", moved, now, ".")


def ablate_notes(result: AblateResult) -> Markup:
    """Say how many heads are off, what leads now, and how far the whole answer moved; while all are on, what to do."""
    if not result.off:
        return caption("Press heads in the grid to switch them off and see what changes.")
    led, leads = _leading(result)
    parts: list[str] = [f"Heads off: {len(result.off):,} of {result.layers * result.heads:,}. "]
    if leads is not led:
        parts += [in_quotes(_said(result, leads), bold=False), f" has {percent(leads.after)} now. "]
    places = len({change.position for change in result.answers})
    parts.append(f"The whole answer moved by KL = {result.divergence / math.log(2):.3g} bits")  # from nats to bits
    parts.append(f" (mean of {places} places; the sentence is about the first)." if places > 1 else ".")
    if result.shared:
        parts.append(
            " One layer serves every depth here: a switch acts at its depth alone, or everywhere if you say so."
        )
    return caption(*parts)


def _leading(result: AblateResult) -> tuple[AnswerChange, AnswerChange]:
    """Return the likeliest answers at the first place, before and after; for replaced tokens it is the same one twice."""
    first = [change for change in result.answers if change.position == result.answers[0].position]
    led = max(first, key=lambda change: change.before)
    return led, led if result.question == "replaced" else max(first, key=lambda change: change.after)


def ablate_figure(result: AblateResult) -> Picture:
    """Draw two bars for each answer: with all heads, and without those that are off; one while none is."""
    changes = result.answers[:MOST_BARS]
    several, places = len({change.position for change in changes}) > 1, range(len(changes))
    before = [f"{change.position}: " if several else "" for change in changes]  # two masks may have the same answers
    names = [label(at + _word(_said(result, change)), 24) for at, change in zip(before, changes, strict=True)]
    traces = []
    for name, side, colour in (("all heads", "before", "@first"), ("heads off", "after", "@second")):
        shares = [getattr(change, side) for change in changes]
        # The axis has numbers, and the names go along for the label.
        look: Look = {"texts": map(percent, shares), "customdata": names, "hover": "%{customdata}: %{x:.4%}"}
        traces.append(bars(places, shares, colour, name, aside=name, size=15, **look))
    said, drawn, off = ablate_sentence(result), traces if result.off else traces[:1], bool(result.off)
    across, down = axis("probability", percent=True, span=(0, 1)), rows(names, size=17)
    height = max(300, 90 + 44 * len(changes))
    return chart(said, drawn, across, down, height=height, right=56, barmode="group", bargap=0.25, legend=off)


def _word(text: str) -> str:
    """Return an answer for a label; one that is all blanks gets a visible sign."""
    return text.strip() or "␣"


def switches(result: AblateResult) -> dict[str, Any]:
    """Return the value of the grid of switches."""
    return {  # lists, since it goes to the browser as JSON
        "layers": result.layers,
        "heads": result.heads,
        "off": [list(head) for head in result.off],
        "model": result.model,
        "label": "Heads: a press switches one off or on",
    }


def off_text(result: AblateResult) -> str:
    """Write the heads that are off as AblateParams reads them."""
    return ", ".join(f"{layer}.{head}" for layer, head in result.off)


def each_head_table(result: EachHeadResult) -> Table:
    """layer, head, token (the answer followed), probability_before, probability_after."""
    cells = [(layer, head, result.answer, result.before, after) for after, layer, head in by_head(result.after)]
    return Table.of(("layer", "head", "token", "probability_before", "probability_after"), cells)


def each_head_sentence(result: EachHeadResult) -> Markup:
    """Say which head the answer leans on most."""
    answer = in_quotes(result.answer)
    after, layer, head = min(by_head(result.after))
    if after >= result.before:
        return prose("No head that goes alone lowers ", answer, f" from its {percent(result.before)}.")
    without, whole = percent(after), percent(result.before)
    # The digits shown may be too few for the difference.
    fall = f"still has {whole}" if without == whole else f"falls from {whole} to {without}"
    return prose(answer, " leans most on ", strong(f"layer {layer}, head {head}"), f": without it, it {fall}.")


def each_head_notes(result: EachHeadResult) -> Markup:
    """Say which head works against the answer, and how many hardly matter."""
    cells = by_head(result.after)
    after, layer, head = max(cells)
    idle = sum(abs(after - result.before) < 0.01 for after, _, _ in cells)
    answer = in_quotes(result.answer, bold=False)
    parts: list[str] = [answer, f" has {percent(result.before)} with all heads. "]
    if after > result.before:
        parts.append(f"Without layer {layer}, head {head} it would be {percent(after)}. ")
    parts.append(
        f"{idle:,} of {counted(len(cells), 'head')} change it by less than a percentage point when they go alone."
    )
    return caption(*parts)


def each_head_figure(result: EachHeadResult) -> Picture:
    """Draw a cell for each head: the change of the answer's probability if it alone is off."""
    changes = [[after - result.before for after in row] for row in result.after]
    # Not below a percentage point: rounding would look like a change.
    bound = max(0.01, max(abs(change) for change, _, _ in by_head(changes)))
    title = f"change of p({label(_word(result.answer), 20)}) without it"
    bar = colorbar("", "+.0%" if bound >= 0.05 else "+.1%", **KEY)
    hover, height = "without layer %{y}, head %{x}: %{z:+.2%}", min(700, max(270, 96 + 30 * len(changes)))
    drawn = head_cells(changes, title, scale=DIVERGING, ends=(-bound, bound), bar=bar, hover=hover)
    return chart(each_head_sentence(result), *drawn, height=height, above=44)
