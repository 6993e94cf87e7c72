"""One blank in two sentences, as a picture, a sentence and a table, from a plain result."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Axis, Look, Panel, Picture, axis, bars, picture
from explorer.charts.words import caption, in_quotes, label, percent, prose, signed
from explorer.labs.masking.swap.schema import SwapResult
from explorer.tables import Table


def swap_table(result: SwapResult) -> Table:
    """token, before, after (probabilities), log_ratio (ln after / before)."""
    return Table.each(
        result.tokens,
        token=lambda token: token.token,
        before=lambda token: token.before,
        after=lambda token: token.after,
        log_ratio=lambda token: token.log_ratio,
    )


def swap_sentence(result: SwapResult) -> Markup:
    """What leads in each sentence."""
    first = max(result.tokens, key=lambda token: token.before)
    second = max(result.tokens, key=lambda token: token.after)
    if _stands_still(result):
        start = f"With “{result.word}” as with “{result.other}”, "
        return prose(start, in_quotes(first.token), f" leads ({percent(first.before)}): no probability moves.")
    return prose(
        f"With “{result.word}”, ",
        in_quotes(first.token),
        f" leads ({percent(first.before)}), with “{result.other}”, ",
        in_quotes(second.token),
        f" ({percent(second.after)}).",
    )


def swap_notes(result: SwapResult) -> Markup:
    """How much probability moved, and which token's changed most."""
    if _stands_still(result):
        return Markup("")
    furthest = max(result.tokens, key=lambda token: abs(token.after - token.before))
    more = "rises" if furthest.after > furthest.before else "falls"
    return caption(
        f"One word moves {percent(result.moved)} of the probability to other tokens; ",
        in_quotes(furthest.token, bold=False),
        f" {more} most, from {percent(furthest.before)} to {percent(furthest.after)}.",
    )


def _stands_still(result: SwapResult) -> bool:
    return all(token.after == token.before for token in result.tokens)


def swap_figure(result: SwapResult) -> Picture:
    """The best of either sentence in rows: probability with the one word, with the other, and the logarithm of the ratio."""
    names = [label(token.token.strip() or repr(token.token), 18) for token in result.tokens]
    before, after = ([getattr(token, name) for token in result.tokens] for name in ("before", "after"))
    ratios = [token.log_ratio for token in result.tokens]
    high = 1.5 * max(*before, *after)
    furthest = 1.8 * max(0.1, *map(abs, ratios))
    down, rows = _down(names), range(len(names))
    share = axis("probability", span=(0, high), tickformat=".2~p", nticks=4)
    look: Look = {"size": 14, "hover": "%{text}"}
    first = bars(rows, before, "@first", texts=map(percent, before), **look)
    second = bars(rows, after, "@second", texts=map(percent, after), **look)
    colours = ["@second" if ratio > 0 else "@first" for ratio in ratios]
    difference = bars(rows, ratios, colours, texts=map(signed, ratios), **look)
    panels = [
        Panel([first], share, down, label(result.word, 24)),
        Panel(
            [second],
            share,
            _down([""] * len(names)),
            label(result.other, 24),
            alone=Panel((), share, down, label(result.other, 24)),
        ),
        Panel(
            [difference],
            ratio_axis := axis("ln of the ratio", span=(-furthest, furthest), nticks=4),
            _down([""] * len(names)),
            "difference",
            alone=Panel((), ratio_axis, down, "difference"),
        ),
    ]
    tall = 26 * len(names)
    return picture(swap_sentence(result), panels, height=tall + 110, phone=3 * (tall + 100), gap=0.05, bargap=0.25)


def _down(names: list[str]) -> Axis:
    ticks: Look = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "zeroline": False}
    return axis(grid=False, span=(len(names) - 0.4, -0.6), size=15, **ticks)
