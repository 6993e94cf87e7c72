"""RoBERTa's ablations as a picture, a sentence and a table."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import SERIES, Look, Picture, Trace, axis, chart, points, rows
from explorer.charts.words import caption, prose, signed, strong
from explorer.labs.models.recipe.schema import SCORES, SIZES, STEPS, RecipeResult, Setting
from explorer.tables import Table


def recipe_table(result: RecipeResult) -> Table:
    """table, step, size, setting, squad2, mnli, sst2, perplexity, gain (on the chosen score, within its table)."""
    return Table.each(
        result.settings,
        table=lambda row: row.table,
        step=lambda row: STEPS[row.table],
        size=lambda row: SIZES[row.table],
        setting=lambda row: row.setting,
        squad2=lambda row: row.squad2,
        mnli=lambda row: row.mnli,
        sst2=lambda row: row.sst2,
        perplexity=lambda row: row.perplexity,
        gain=result.gain,
    )


def recipe_sentence(result: RecipeResult) -> Markup:
    """Which step gains most over where its table starts."""
    gains = {step: best[1] for table, step in STEPS.items() if (best := _best(result, table))}
    most = max(gains, key=lambda step: gains[step])
    gain = strong(f"{signed(gains[most], 1)} points")
    return prose(f"On {SCORES[result.score]} the step that gains most is ", strong(most), ": ", gain, ".")


def recipe_notes(result: RecipeResult) -> Markup:
    """What the best setting of each table gains over where the table starts."""
    told = []
    for table, step in STEPS.items():
        best = _best(result, table)
        told.append(f"{step} {signed(best[1], 1)} ({best[0].setting})" if best else f"{step} (not in Table {table})")
    return caption(f"The best of each step, in points: {', '.join(told)}.")


def _best(result: RecipeResult, table: int) -> tuple[Setting, float] | None:
    """The setting that gains most, the start itself and what stands before it left out."""
    tried = [row for row in result.of(table) if not row.is_start and "published" not in row.setting]
    gains = [(row, gain) for row in tried if (gain := result.gain(row)) is not None]
    return max(gains, key=lambda pair: pair[1]) if gains else None


def recipe_figure(result: RecipeResult) -> Picture:
    """A point a setting, from the top as the recipe goes; each table in a colour, the row it starts from hollow."""
    names = [row.setting for row in result.settings]
    traces: list[Trace] = []
    for table, colour in zip(STEPS, SERIES, strict=False):
        numbered = [(place, row, row.score(result.score)) for place, row in enumerate(result.settings)]
        shown = [(place, row, value) for place, row, value in numbered if row.table == table and value is not None]
        if not shown:
            continue
        look: Look = {"symbol": ["circle-open" if row.is_start else "circle" for _, row, _ in shown]}
        traces.append(
            points(
                [value for _, _, value in shown],
                [place for place, _, _ in shown],
                colour,
                f"{table} {STEPS[table]} ({SIZES[table]})",
                size=12,
                marker={**look, "line": {"width": 3}},
                mode="markers+lines+text",
                texts=[_written(result, row, value) for _, row, value in shown],
                textposition="middle right" if table < max(STEPS) else "middle left",  # the last stand at the edge
                textfont={"size": 14, "color": "@text"},
                hover="%{text}",
            )
        )
    across = axis(f"{SCORES[result.score]} (points)", span=_span(result))
    page: Look = {"height": 540, "low": 430, "phone": 620, "legend": True, "legend_size": 13}
    return chart(recipe_sentence(result), traces, across, rows(names, size=14), **page)


def _written(result: RecipeResult, row: Setting, value: float) -> str:
    gain = result.gain(row)
    return f" {value:.1f} " if row.is_start or gain is None else f" {value:.1f} ({signed(gain, 1)}) "


def _span(result: RecipeResult) -> tuple[float, float]:
    """The scores, with room for the points."""
    values = [value for row in result.settings if (value := row.score(result.score)) is not None]
    wide = max(values) - min(values)
    return min(values) - 0.06 * wide, max(values) + 0.08 * wide
