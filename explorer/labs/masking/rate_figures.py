"""Accuracy, cost and what comes of both against the masking rate: a picture, a sentence and a table, from plain results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, error_bars, level, line, note, picture, series
from explorer.charts.words import caption, fixed, label, number, percent, progress_bar, prose, strong
from explorer.labs.masking.rate import BERTS, RATES, Measured, RatesResult
from explorer.tables import Table

SYMBOLS = ("circle", "square", "diamond", "triangle-up")
ACCURACY, COST, RIGHT = "accuracy", "tokens per prediction", "right per 100 tokens"
WETTIG = "Large models trained at 40% do better than at 15% (Wettig et al. 2023)."
STOPPED = Markup("Stopped. The rates that were measured stay.")


def rates_table(result: RatesResult) -> Table:
    """model, rate, chosen (tokens), accuracy, loss (nats), tokens (that could be chosen), tokens_per_prediction,
    right_per_100 (tokens named rightly, of every 100 that are read)."""
    return Table.each(
        [one for model in result.models for one in result.of(model)],
        "model rate chosen accuracy loss tokens",
        tokens_per_prediction="cost",
        right_per_100="right",
    )


def rates_sentence(result: RatesResult) -> Markup:
    """Say where the first model names most tokens rightly of those that it reads, once all rates are measured.

    Until then, and if it names none, say what it tells at BERT's rate and at the highest so far.
    """
    found = result.of(result.models[0])
    first, last, most = _at(found, BERTS), found[-1], _most(found)
    if result.is_done and most.right:
        return prose("Of the tokens that it reads, ", label(most.model), *_peak(found, first, most), ".")
    rate = "BERT's own rate" if first.rate == BERTS else f"a rate of {first.rate:.0%}"
    names = [label(result.models[0]), " names ", strong(percent(first.accuracy)), f" of the hidden tokens at {rate}"]
    highest = [" and ", strong(percent(last.accuracy)), " at the highest"] if last.rate > first.rate else []
    return prose(*names, *highest, ".")


def _peak(found: Sequence[Measured], first: Measured, most: Measured) -> list[str]:
    """Say at which rate a model names most rightly, and whether that is told from BERT's own."""
    as_many = [one for one in found if one.right == most.right]
    own = f"BERT's own {first.rate:.0%}"
    if first in as_many:
        if len(as_many) > 1:
            return [" names as many rightly at ", strong(own), " as at any other rate"]
        return [" names most rightly at ", strong(own)]
    parts = [" names most rightly at ", strong(f"{most.rate:.0%}"), " masked"]
    if len(as_many) > 1:
        parts.append(" already")
    return [*parts, f", hardly more than at {own}" if _within(first, most) else f", and not at {own}"]


def _most(found: Sequence[Measured]) -> Measured:
    """Return the measurement at which most tokens are named rightly of those that are read."""
    return max(found, key=lambda one: one.right)


def rates_notes(result: RatesResult) -> Markup:
    """State each model's accuracy and loss, what a prediction costs, and which rates do as well as the best."""
    parts = []
    for model in result.models:
        found = result.of(model)
        first, last = _at(found, BERTS), found[-1]
        of, nats = (" of the hidden tokens", " nats") if model == result.models[0] else ("", "")
        told = (
            f"{label(model)} names {percent(first.accuracy)}{of} at {first.rate:.0%} (loss {fixed(first.loss)}{nats})"
        )
        if last.rate > first.rate:
            told += f" and {percent(last.accuracy)} at {last.rate:.0%} ({fixed(last.loss)})"
        parts.append(f"{told}. ")
    found = result.of(result.models[0])
    rates = dict.fromkeys((found[0], _at(found, BERTS), found[-1]))  # each once
    costs = [f"{number(one.cost)} at {one.rate:.0%}" for one in rates]
    parts.append(f"Tokens read for each one predicted: {', '.join(costs)}.")
    return caption(*parts, _counts(found) if result.is_done else "")


def _counts(found: Sequence[Measured]) -> str:
    """Say how many are named rightly at BERT's rate and at the best, which others come close, and what training does."""
    first, most = _at(found, BERTS), _most(found)
    if not most.right:
        return f" {WETTIG}"
    rates = " and ".join(f"{number(one.right)} rightly at {one.rate:.0%}" for one in dict.fromkeys((first, most)))
    told = f" Of every 100 tokens read {label(most.model)} names {rates}."
    return f"{told}{_close(found)} {WETTIG}"


def _close(found: Sequence[Measured]) -> str:
    """Say which rates can't be told from the one at which most is right."""
    most = _most(found)
    close = [one for one in found if one is not most and _within(one, most)]
    if not close:
        return ""
    rates = " and ".join(f"{number(one.right)} at {one.rate:.0%}" for one in close)
    which = "is" if len(close) == 1 else "are"
    return f" Of what it names rightly, {rates} {which} within the errors of the most."


def _within(one: Measured, most: Measured) -> bool:
    """Return whether as many may be named rightly at one rate as at the best: whether their errors overlap."""
    return one.right + one.right_off >= most.right - most.right_off


def _at(found: Sequence[Measured], rate: float) -> Measured:
    """Return the measurement at a rate, or at the one nearest to it so far."""
    return min(found, key=lambda one: abs(one.rate - rate))


def rates_bar(result: RatesResult) -> Markup:
    """Return a bar of how much is done; nothing when all is."""
    if result.is_done:
        return Markup("")
    count = len(result.measured) // len(result.models)
    return progress_bar(count / len(RATES), "rates measured") + Markup(" {} of {} rates").format(count, len(RATES))


def rates_figure(result: RatesResult) -> Picture:
    """Draw three panels over the rate, a line a model: accuracy, what a prediction costs, how many are right of what is
    read.
    """
    across = axis("% masked", span=(0, 0.85), tickvals=[0.2, 0.4, 0.6, 0.8], ticktext=["20", "40", "60", "80"])
    first = (result.models[0],)
    panels = [
        _panel(result, ACCURACY, across | {}, axis(percent=True, zero=True), lambda one: one.accuracy, _share),
        _panel(result, COST, across | {}, axis(zero=True), lambda one: one.cost, None, first),
        _panel(result, RIGHT, across | {}, axis(zero=True), lambda one: one.right, lambda one: one.right_off),
    ]
    look: Look = {"legend": len(result.models) > 1, "phone": 900, "gap": 0.09, "above": 40}
    return picture(rates_sentence(result), panels, height=390, low=340, **look)


def _share(one: Measured) -> float:
    return one.accuracy_off


def _panel(
    result: RatesResult,
    title: str,
    across: dict[str, object],
    up: dict[str, object],
    value: Callable[[Measured], float],
    off: Callable[[Measured], float] | None,
    models: tuple[str, ...] = (),
) -> Panel:
    """Draw one measure. models: those that are drawn; the number of predictions is the same for all, so one line says
    it.
    """
    drawn = [_line(result, model, value, off, bool(models)) for model in models or result.models]
    high, edge = (0, "bottom") if title != COST else (1, "top")  # where the curve is not
    place: Look = {"yref": "paper", "xanchor": "left", "yanchor": edge, "xshift": 4, "font": {"color": "@muted"}}
    marks = [level(BERTS, "@muted", dash="dot", upright=True), note("15%", BERTS, high, **place)]
    return Panel(drawn, across, up, title, marks)


def _line(
    result: RatesResult,
    model: str,
    value: Callable[[Measured], float],
    off: Callable[[Measured], float] | None,
    counts: bool,
) -> Trace:
    """Draw a line. counts: it is of the draw and not of the model, so it has its own colour and no place in the legend."""
    found, place = result.of(model), result.models.index(model)
    colour = "@text" if counts else series(place)
    read = [
        [label(model), percent(one.accuracy), fixed(one.loss), f"{one.chosen:,}", f"{one.tokens:,}", number(one.right)]
        for one in found
    ]
    hover = "%{customdata[0]}, %{x:.0%}: %{customdata[1]}, loss %{customdata[2]}; right per 100 read: %{customdata[5]}"
    if counts:
        hover = "%{x:.0%}: %{customdata[3]} of %{customdata[4]} tokens, %{y:.3g} read for each"
    look: Look = {"customdata": read, "hover": hover, "marker": {"symbol": SYMBOLS[place]}}
    if off is not None:
        look["error_y"] = error_bars([off(one) for one in found], None, colour, width=0, thickness=1.5)
    if counts:
        look["showlegend"] = False
    values = [value(one) for one in found]
    return line([one.rate for one in found], values, colour, label(model), size=9, **look)
