"""Two texts in pieces, what typos cost the other words, and the same over many sentences, from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, chart, error_bars, line, picture, rows, series
from explorer.charts.words import caption, counted, fixed, in_quotes, label, progress_bar, prose, signed, strong
from explorer.labs.inputs.typos import SIDES, ModelRead, SharePoint, SharesResult, TypoPiece, TyposResult
from explorer.tables import Table

MOST_ROWS = 18
"""Words of a figure; of a longer text those whose loss changes most."""

SYMBOLS = ("circle", "square", "diamond")
NO_LAW = "This is a small measurement of small models, not a law."
STOPPED = Markup("Stopped. What was measured stays.")


def typos_table(result: TyposResult) -> Table:
    """model, side (clean or typos), position, token, log_probability (none where it isn't asked for), likeliest."""
    found = [
        (read.model, side, piece.position, piece.text, piece.log_probability, piece.likeliest)
        for read in result.models
        for side in SIDES
        for piece in read.pieces(side)
    ]
    return Table.of(("model", "side", "position", "token", "log_probability", "likeliest"), found)


def typos_rows(result: TyposResult) -> dict[str, Any]:
    """Return two rows of chips a model: the text and the text with typos."""
    made = []
    for read in result.models:
        for side in SIDES:
            pieces = read.pieces(side)
            mean = f" · {fixed(read.loss(side))} nats an untouched word" if read.words else ""
            facts = counted(len(pieces), "piece") + mean
            kind = "clean" if side == "clean" else "with typos"
            made.append({"name": read.model, "kind": kind, "facts": facts, "chips": [*map(_chip, pieces)]})
    return {"rows": made, "label": "Both texts in pieces; below a piece of an untouched word its loss in nats"}


def _chip(piece: TypoPiece) -> dict[str, Any]:
    ln_p = piece.log_probability
    told = f": −ln p {fixed(-ln_p)} where it is masked, likeliest {piece.likeliest}" if ln_p is not None else ""
    return {
        "text": piece.shown,
        "style": "random" if piece.touched else "plain",
        "joined": piece.joined,
        "below": "" if ln_p is None else fixed(-ln_p, 1),
        "title": f"{piece.text}, position {piece.position}{told}",
    }


def typos_sentence(result: TyposResult) -> Markup:
    """Say which model the typos cost more at the other words."""
    if not result.changed:
        return prose("The two texts are the same: raise the share, or change a word in the second box.")
    if not result.models[0].words:
        return prose("No word is left untouched, so there is none to ask for.")
    return _who_lost(result.models)


def typos_notes(result: TyposResult) -> Markup:
    """Say what was changed, and in how many pieces and with which losses each model reads it."""
    if not result.changed:
        return Markup("")
    shown = [_change(before, after) for before, after in result.changed[:3]]
    more = f" and {len(result.changed) - 3} more" if len(result.changed) > 3 else ""
    parts: list[str] = [f"{counted(len(result.changed), 'change')} (", Markup(", ").join(shown), f"{more}). "]
    for place, read in enumerate(result.models):
        reads = f", {read.model} " if place else f"{read.model} reads "
        parts.append(f"{reads}{len(read.typos)} pieces instead of {len(read.clean)}")
    words = len(result.models[0].words)
    if not words:
        return caption(*parts, ".")
    losses = ", ".join(
        f"{fixed(read.loss('clean'))} to {fixed(read.loss('typos'))} nats in {read.model} ({signed(read.added)})"
        for read in result.models
    )
    return caption(*parts, f". At the {counted(words, 'untouched word')} the mean loss goes from {losses}. {NO_LAW}")


def _change(before: str, after: str) -> Markup:
    """Say what was written for what; either may be nothing."""
    written = in_quotes(after) if after else strong("nothing")
    return prose(written, " for ", in_quotes(before, bold=False) if before else "nothing")


def _who_lost(models: Sequence[ModelRead]) -> Markup:
    """Say which model the typos cost more, by the two digits that are shown."""
    most, *others = sorted(models, key=lambda read: -read.added)
    cost = strong(f"{signed(most.added)} nats")
    if round(most.added, 2) <= 0:  # as it is shown
        return prose("The typos make the untouched words no harder to tell.")
    if not others:
        return prose("The typos cost ", strong(most.model), " ", cost, " at an untouched word, on average.")
    if round(most.added, 2) == round(others[0].added, 2):
        equal = "All lost the same" if len(others) == 1 else "No model lost more than all others"
        return prose(equal, " by the typos: ", cost, " at an untouched word, on average.")
    than = prose(others[0].model, f" ({signed(others[0].added)})") if len(others) == 1 else "the others here"
    return prose(
        "The typos cost ", strong(most.model), " more than ", than, ": ", cost, " at an untouched word, on average."
    )


def typos_figure(result: TyposResult) -> Picture:
    """Draw for each model the loss at every untouched word, in the clean text and among the typos."""
    if not result.models[0].words:
        return {}
    shown = _most_changed(result.models)
    names = [label(result.models[0].words[place].word, 16) for place in shown]
    most = max(max(word.clean, word.typos) for read in result.models for word in read.words)
    across, high = axis("−ln p (nats)", span=(0, 1.12 * max(most, 0.1)), nticks=5), len(names)
    # The first word is on top.
    down = rows(names, size=14) | {"autorange": False, "range": [high - 0.4, -0.6], "zeroline": False}
    panels = [
        Panel(_pair(read, shown), across, down, f"{label(read.model)}: {signed(read.added)} nats")
        for read in result.models
    ]
    look: Look = {"legend": True, "gap": 0.13, "bargap": 0.25, "barmode": "group"}
    each = 27 * high + 60
    return picture(
        typos_sentence(result), panels, height=max(240, each + 60), phone=len(panels) * (each + 40) + 40, **look
    )


def _most_changed(models: Sequence[ModelRead]) -> list[int]:
    """Return the places of the words that are shown, in the text's order."""
    changes = [max(abs(read.words[place].added) for read in models) for place in range(len(models[0].words))]
    # Back to the text's order.
    return sorted(sorted(range(len(changes)), key=lambda place: -changes[place])[:MOST_ROWS])


def _pair(read: ModelRead, shown: Sequence[int]) -> list[Trace]:
    words = [read.words[place] for place in shown]
    places = list(range(len(words)))
    hover = "%{customdata}: %{x:.2f} nats"
    clean = [f"{label(word.word)}, likeliest {label(word.clean_guess)}" for word in words]
    typed = [f"{label(word.word)}, likeliest {label(word.typos_guess)}" for word in words]
    return [
        bars(places, [word.clean for word in words], "@first", "clean text", customdata=clean, hover=hover),
        bars(places, [word.typos for word in words], "@second", "among typos", customdata=typed, hover=hover),
    ]


def shares_table(result: SharesResult) -> Table:
    """model, share (of the words of four or more letters), loss, added, error (nats a word)."""
    return Table.each(result.points, "model share loss added error")


def shares_sentence(result: SharesResult) -> Markup:
    """Say whether the other words are harder to tell at the largest share so far, and for which model more."""
    there = _latest(result)
    if not there[0].share:
        return prose("So far the words were asked for in sentences without typos.")
    return prose(f"With typos in {there[0].share:.0%} of the longer words ", *_which_more(there), ".")


def shares_notes(result: SharesResult) -> Markup:
    """State what was asked, each model's mean loss without typos and at the largest share, and what a difference is."""
    there = _latest(result)
    asked = f"{result.words} words of {result.sentences} sentences, without a typo themselves. "
    if not there[0].share:
        return caption(asked, f"The mean loss: {', '.join(f'{fixed(one.loss)} nats in {one.model}' for one in there)}.")
    losses = ", ".join(
        f"from {fixed(one.loss - one.added)} to {fixed(one.loss)} nats in {one.model} ({signed(one.added)} ± {fixed(one.error)})"
        for one in there
    )
    return caption(
        asked,
        f"With typos in {there[0].share:.0%} of the words of four or more letters the mean loss goes {losses}. What is less than "
        f"two standard errors is not called a difference. {NO_LAW}",
    )


def _latest(result: SharesResult) -> list[SharePoint]:
    """Return each model's point at the largest share that all have reached."""
    last = [result.of(model)[-1] for model in result.models if result.of(model)]
    share = min(point.share for point in last)
    return [next(point for point in result.of(point.model) if point.share == share) for point in last]


def _which_more(points: Sequence[SharePoint]) -> list[str]:
    """Say which model loses more; what is less than two standard errors is said to be nothing."""
    most, least = max(points, key=lambda point: point.added), min(points, key=lambda point: point.added)
    if round(most.added, 2) <= 0:
        return ["the other words are no harder to tell"]
    if all(point.added < 2 * point.error for point in points):
        return ["the other words are not clearly harder to tell"]
    cost = strong(f"{signed(most.added)} nats")
    if len(points) == 1:
        return ["the other words are harder to tell for ", most.model, ": ", cost, " each, on average"]
    if most.added - least.added <= 2 * (most.error**2 + least.error**2) ** 0.5:  # the error of a difference
        return ["the other words are harder to tell, with ", strong("no clear difference"), " between the models"]
    return [
        strong(f"{most.model} loses more"),
        f" than {least.model} at each of the other words: ",
        cost,
        " on average",
    ]


def shares_bar(result: SharesResult) -> Markup:
    """Return a bar of how much is done; nothing when all is."""
    if result.is_done:
        return Markup("")
    return progress_bar(result.done, "shares measured")


def shares_figure(result: SharesResult) -> Picture:
    """Draw the mean loss against the share of words with a typo, a line a model; strokes are standard errors of the
    rise.
    """
    traces = []
    for place, model in enumerate(result.models):
        points = result.of(model)
        hover = f"{label(model)}, %{{x:.0%}}: %{{y:.2f}} nats"
        traces.append(
            line(
                [point.share for point in points],
                [point.loss for point in points],
                series(place),
                label(model),
                size=10,
                marker={"symbol": SYMBOLS[place]},
                hover=hover,
                error_y=error_bars([point.error for point in points], colour=series(place), thickness=1.5),
            )
        )
    # The marks at 0 and 0.5 stay whole.
    across = axis("words of 4+ letters with a typo", percent=True, span=(-0.02, 0.52))
    up = axis("mean −ln p of an untouched word (nats)", zero=True)
    return chart(shares_sentence(result), traces, across, up, height=380, low=330, phone=360, legend=True)
