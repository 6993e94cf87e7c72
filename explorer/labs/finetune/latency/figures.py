"""The time of a batch as a multiple of the plain model's: a picture, a sentence, a table, and the paper's own."""

from __future__ import annotations

from dataclasses import astuple

from markupsafe import Markup

from explorer.charts import Picture, axis, bars, chart, error_bars, level, rows
from explorer.charts.words import caption, milliseconds, percent, prose, strong
from explorer.labs.finetune.latency.schema import LatencyResult, Timed
from explorer.models.spent import Ratio
from explorer.tables import Table

COLOURS = {"plain": "@muted", "attached": "@second", "merged": "@first"}


def latency_table(result: LatencyResult) -> Table:
    """A row a method and form, after the plain model's: milliseconds with quartiles, and the ratio with its 95% interval."""
    columns = ("method", "form", "added", "milliseconds", "low", "high", "ratio", "ratio_low", "ratio_high")
    plain = ("", "plain", 0, *astuple(result.plain), 1.0, 1.0, 1.0)
    timed = [(one.method, one.form, one.added, *astuple(one.spent), *astuple(one.ratio)) for one in result.timed]
    return Table.of(columns, [plain, *timed])


def latency_sentence(result: LatencyResult) -> Markup:
    """What costs time at every call, what none that could be measured, and whether the plain model differs from itself."""
    texts = "A text" if result.batch == 1 else f"{result.batch} texts"
    takes = "takes" if result.batch == 1 else "take"
    parts = [
        f"{texts} of {result.length} tokens {takes} {result.model_id} ",
        strong(milliseconds(result.plain.median)),
        " here. ",
    ]
    differ = [one for one in result.timed if one.form != "plain" and one.ratio.differs]
    slower = [one for one in differ if one.ratio.median > 1]
    if slower:
        parts += ["More time take ", strong(", ".join(f"{_name(one)} {_change(one.ratio)}" for one in slower)), ". "]
    quicker = [one for one in differ if one not in slower]
    if quicker:
        parts.append(f"Less time take {', '.join(f'{_name(one)} {_change(one.ratio)}' for one in quicker)}. ")
    alike = [one for one in result.timed if one.form != "plain" and not one.ratio.differs]
    if alike:
        parts.append(f"No difference from the plain model can be measured for {', '.join(map(_name, alike))}. ")
    control = [one for one in result.timed if one.form == "plain"]
    apart = [_name(one) for one in control if one.ratio.differs]
    if control:
        found = f" ({', '.join(apart)} did here: what else the machine does)" if apart else ""
        parts.append(
            f"{', '.join(map(_name, control))} are the plain model again and should not differ from it{found}. "
        )
    parts.append(
        f"Each number is the median of {result.rounds} rounds in which all took turns, as a share of the plain model's time in "
        "the same round, with its 95% interval."
    )
    return prose(*parts)


def latency_figure(result: LatencyResult) -> Picture:
    """A bar for each method and form, from left to right; the line is the plain model."""
    timed = result.timed
    ratios = [one.ratio for one in timed]
    above, below = [one.high - one.median for one in ratios], [one.median - one.low for one in ratios]
    drawn = bars(
        list(range(len(timed))),
        [one.median for one in ratios],
        [COLOURS[one.form] for one in timed],
        texts=[f"{_change(one)} " for one in ratios],
        at="inside",
        insidetextanchor="start",
        size=15,
        error_x=error_bars(above, below, thickness=2, width=6),
        customdata=[[_name(one), one.spent.median] for one in timed],
        hover="%{customdata[0]}: %{x:.3f} times the plain model's time (%{customdata[1]:.2f} ms)",
    )
    most = max([1.0, *(one.high for one in ratios)])
    across = axis("time of a batch, the plain model's = 1 (95% interval)", span=(0, 1.05 * most))
    down = rows([_name(one) for one in timed], size=15)
    marks = [level(1.0, upright=True)]
    return chart(latency_sentence(result), [drawn], across, down, marks, height=130 + 34 * len(timed), right=30)


def missing_list(result: LatencyResult) -> Markup:
    """Which methods were not timed, and why."""
    return caption(*(f"{title} is not timed: {reason} " for title, reason in result.missing))


def _name(one: Timed) -> str:
    return f"{one.title}, merged" if one.form == "merged" else one.title


def _change(ratio: Ratio) -> str:
    """+12.3% or −4.0%."""
    change = ratio.median - 1
    return f"{'+' if change >= 0 else '−'}{percent(abs(change))}"
