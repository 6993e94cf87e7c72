"""The attribution lab's sentences, captions, tokens in colour and tables, from plain results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

from markupsafe import Markup

from explorer.charts import Look
from explorer.charts.chips import chip, chips
from explorer.charts.words import duration, facts, in_quotes, percent, prose, signed, strong
from explorer.labs.attribution.schema import Asked, AttributionResult, Part, Unit
from explorer.tables import Table

MOST_BARS = 40
"""Tokens in the bars; of a longer text those that count most with any chosen method, in the order of the text."""

MOST_NUMBERED = 60
"""Units up to which the coloured text has the numbers written below; the table always has them."""

SHADES = 10

NOTHING = 0.05
"""The share of the strongest number below which one is not named."""


def attribution_table(result: AttributionResult) -> Table:
    """position, token, attribution, for one method; with `method` where there are several, with `layer` for conductance.

    A word's position is that of its first token. The rollout is in the table where it was asked for or stands beside others.
    """
    parts = result.chosen if len(result.chosen) == 1 else result.parts  # one method alone stands without the rollout
    shown = (len(parts) > 1, any(part.about.by_layer for part in parts), True, True, True)
    rows = [
        tuple(compress((part.method, layer, unit.positions[0], unit.text, value), shown))
        for part in parts
        for layer, values in _layers(part)
        for unit, value in zip(result.units, values, strict=True)
    ]
    return Table.of(tuple(compress(("method", "layer", "position", "token", "attribution"), shown)), rows)


def _layers(part: Part) -> Iterator[tuple[int | None, tuple[float | None, ...]]]:
    """Yield a method's rows by layer, from 1; one row without a number if it has no layers."""
    if part.about.by_layer:
        yield from enumerate(part.layers, start=1)
    else:
        yield None, part.values


def probability(log_odds: float) -> float:
    """Return p from its log-odds, ln p/(1 − p)."""
    # In two forms: exp of a large number overflows.
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    return math.exp(log_odds) / (1 + math.exp(log_odds))


def unit_name(result: AttributionResult, unit: Unit) -> str:
    """Name a unit on an axis: with its position if the text has it twice."""
    return unit.shown + which(result, unit)


def unit_said(result: AttributionResult, unit: Unit) -> Markup:
    """Name a unit in a sentence: in quotation marks, with its position if the text has it twice."""
    return in_quotes(unit.shown) + which(result, unit)


def which(result: AttributionResult, unit: Unit) -> str:
    """Return a unit's position in brackets, if the text has it twice."""
    twice = sum(other.shown == unit.shown for other in result.units) > 1
    return f" (position {unit.positions[0]})" if twice else ""


def place_name(asked: Asked) -> Markup:
    """Say where the question is asked; "" if the text as a whole is judged."""
    place, slug = asked.fixed.place, asked.fixed.slug
    if slug == "continue":
        return Markup(" as the next token")
    if slug not in ("mask", "replaced"):
        return Markup("")
    return prose(" at ", in_quotes(asked.tokens[place].shown, bold=False), f" (position {place})")


def sentence(result: AttributionResult) -> Markup:
    """Say which token pushes hardest towards the answer and which pulls away, by the first method that is complete."""
    part = _first_there(result)
    if part is None:
        rest = prose(percent(probability(result.asked.score)), place_name(result.asked))
        told = prose(" with ", rest, "; which tokens made it say that is being worked out.")
        return prose(result.asked.model, " answers ", in_quotes(result.asked.answer), told)
    # It answers another question, so the sentence waits.
    if part.method == "rollout" and result.chosen and not any(each.about.by_layer for each in result.chosen):
        return prose("The rollout is there; the other methods follow.")
    (least, last), (most, first) = _ends(result, part)
    by = ["By ", part.about.title.lower(), ", ", unit_said(result, first)]
    if part.method == "rollout":
        return prose(*by, f" reaches the asked position most ({percent(most)}).")
    if not part.about.signed:
        return prose(*by, f" is what the answer is most sensitive to ({most:.3g}).")
    return prose(*_pushes(result.asked, by, most), *_pulls(result, last, least, most))


def _first_there(result: AttributionResult) -> Part | None:
    """Return the first method that has a number for every token."""
    return next((part for part in result.by_token if None not in part.values), None)


def _ends(result: AttributionResult, part: Part) -> tuple[tuple[float, Unit], tuple[float, Unit]]:
    """Return the smallest number and the largest, each with its unit."""
    ranked = sorted(
        ((value or 0.0, unit) for value, unit in zip(part.values, result.units, strict=True)), key=lambda pair: pair[0]
    )
    return ranked[0], ranked[-1]


def _pushes(asked: Asked, by: Sequence[str], value: float) -> list[str]:
    """Say what speaks for the answer; by: a method and its first token."""
    if value <= 0:
        return ["No token pushes towards ", in_quotes(asked.answer)]
    return [*by, " pushes hardest towards ", in_quotes(asked.answer), f" ({signed(value)})"]


def _of_the_whole(result: AttributionResult) -> Iterator[Markup]:
    """Compare the strongest token's number with what the text as a whole adds to the answer's log-odds, or takes."""
    part, asked = _first_there(result), result.asked
    if part is None or not part.about.signed:
        return
    most, first = _ends(result, part)[1]
    if most <= 0:
        return
    whole = f" has {signed(most)} of the {signed(asked.change)} that the text adds to its log-odds."
    if asked.change < 0:
        whole = f" has {signed(most)}, while the text as a whole takes {-asked.change:.2f} from its log-odds."
    pushes = prose(in_quotes(first.shown, bold=False), which(result, first))
    yield prose("Towards ", in_quotes(asked.answer, bold=False), " ", pushes, whole)


def _pulls(result: AttributionResult, unit: Unit, value: float, most: float) -> list[str]:
    """Name the token that speaks most against the answer, or say that none does so noticeably."""
    if value >= 0:
        return [", and no token pulls away from it."]
    if -value < NOTHING * most:
        return [f", and none pulls away from it by more than {max(-value, 0.01):.2f}."]
    return [", and ", unit_said(result, unit), f" pulls away most ({signed(value)})."]


def caption(result: AttributionResult) -> Markup:
    """State f for text and baseline, and what each method's numbers add up to beside their difference."""
    return facts(*(Markup("<li><div>{}</div></li>").format(item) for item in _said(result)))


def _said(result: AttributionResult) -> Iterator[Markup]:
    asked = result.asked
    token, top = asked.baseline_token, "" if asked.is_top else " (not its first choice)"
    stand_in = f"{token} in place of every token" if token else "the zero vector for every token"
    text, baseline = (
        f"{signed(score)} ({percent(probability(score))})" for score in (asked.score, asked.baseline_score)
    )
    values = f"{top}: f(x) = {text} for the text, f(baseline) = {baseline} with {stand_in}. Difference: "
    odds = prose("f is the log-odds of ", in_quotes(asked.answer), place_name(asked))
    yield prose(odds, values, strong(signed(asked.change)))
    yield from _of_the_whole(result)
    for part in result.parts:
        if part.done or part.steps:  # a method that has begun
            yield prose(strong(part.about.title), ": ", _sum(result, part))
    yield prose("Grey, or with a dashed frame: special tokens, which the baseline leaves as they are.")
    if len(result.units) > MOST_BARS:
        yield prose(
            f"The bars are the {MOST_BARS} of {len(result.units)} {result.by} that count most with any chosen method; the "
            "coloured text and the data have all."
        )


NORMALISED = (
    ", though slowly where a model adds no positions to its word embeddings, as DeBERTa, ModernBERT and EuroBERT: its first "
    "normalisation undoes the scaling, so f changes next to the zero vector alone. Another baseline has no such step"
)


def _sum(result: AttributionResult, part: Part) -> str:
    change = result.asked.change
    if part.about.complete:
        delta = part.delta or 0.0
        where = "every layer adds up to it but for" if part.about.by_layer else f"sum {signed(part.total)},"
        share = f", {percent(abs(delta / change))} of it" if change else ""  # no share of a difference of 0
        close = abs(delta) <= result.asked.tolerance
        missed = "Not close enough" + ("; with more steps it gets closer" if part.done else ": more steps follow")
        missed += NORMALISED if part.done and not result.asked.baseline_token else ""
        short = "" if part.done and close else f". {missed}"
        name = "at most" if part.about.by_layer else "delta"
        return f"{where} {name} {_small(delta)}{share}, after {part.steps} steps{short}."
    if part.method == "rollout":
        return "shares of the input tokens, which add up to 100%."
    if part.method == "saliency":
        return "log-odds per unit of embedding, without a sign; they add up to nothing in particular."
    together = "what tokens do together is counted twice or not at all"
    why = "it has no baseline" if part.method == "gradient_x_input" else together
    return f"sum {signed(part.total)}, which need not be {signed(change)}: {why}."


def _small(value: float) -> str:
    """Write a delta, which two decimals may round to nothing."""
    return (f"{value:+.2g}" if abs(value) < 0.1 else f"{value:+.2f}").replace("-", "−")


def coloured_text(result: AttributionResult) -> Markup:
    """Draw the text once for each method, every token in the colour of its number; the paper if it counts for nothing."""
    line = Markup('<div class="reading"><span class="reading-name">{}</span><div class="chips">{}</div></div>')
    numbers, nothing = range(len(result.units)), Markup("")
    return nothing.join(
        line.format(part.about.title, nothing.join(_chip(result, part, number) for number in numbers))
        for part in result.by_token
    )


def _chip(result: AttributionResult, part: Part, number: int) -> Markup:
    unit, value = result.units[number], part.values[number]
    shade = round(SHADES * abs(value) / part.strongest) if value is not None and part.strongest else 0
    sign = "size" if not part.about.signed else "towards" if (value or 0) >= 0 else "away"
    kind = " joined" * unit.joined + " special" * unit.kept
    written = Markup('<span class="chip-below">{}</span>').format(value_text(part, value))
    below = written if len(result.units) <= MOST_NUMBERED else ""
    made = Markup('<span class="chip tone {} shade-{}{}"><span class="chip-text">{}</span>{}</span>')
    return made.format(sign, shade, kind, unit.shown, below)  # in a long text numbers would be wider than tokens


def value_text(part: Part, value: float | None) -> str:
    """Write one number in the method's unit."""
    if value is None:
        return "…"
    if part.method == "rollout":
        return percent(value)
    # About three significant digits for the strongest, the same for all.
    digits = 2 if (strongest := part.strongest) >= 1 else 3 if strongest >= 0.1 else 4
    return signed(value, digits) if part.about.signed else f"{value:.{digits}f}"


def progress_line(result: AttributionResult) -> Markup:
    """Return a bar with what is worked on and the time left; empty once all is there."""
    progress = result.progress
    if progress is None:
        return Markup("")
    left = "" if progress.seconds_left is None else f" · about {duration(progress.seconds_left)} left"
    return Markup(
        '<progress value="{}" max="{}" aria-label="attribution progress"></progress><span class="caption">{}{}</span>'
    ).format(progress.done, max(1, progress.total), progress.doing, left)  # a bar of no length is not valid


def place_chips(result: AttributionResult) -> dict[str, Any]:
    """Return the tokens as chips to press, those that the same could be asked of; nothing if there is only one."""
    asked = result.asked
    places = set(asked.places) if len(asked.places) > 1 else set()
    row = []
    for token in asked.tokens:
        pressed, title = token.position == asked.fixed.place, f"position {token.position}: ask about this one"
        style, place = "special" if token.kept else "plain", token.position if token.position in places else None
        look: Look = {"joined": token.joined, "position": place, "pressed": pressed}
        row.append(chip(token.shown, title, "mask" if pressed else style, **look))
    of = [asked.fixed.text, asked.fixed.second]
    return chips("Which one is asked about: press another", row if places else [], of=of)


STOPPED = prose("Stopped. What had been worked out stands below.")
