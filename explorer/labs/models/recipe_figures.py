"""RoBERTa's recipe: the staircase, every row of the tables, sentences and the table."""

from __future__ import annotations

from textwrap import wrap

from markupsafe import Markup

from explorer.charts import (
    SERIES,
    Axis,
    Look,
    Panel,
    Picture,
    Trace,
    axis,
    bars,
    chart,
    level,
    note,
    picture,
    points,
    rows,
    texts,
)
from explorer.charts.words import caption, prose, signed, strong
from explorer.labs.models.recipe_schema import SCORES, SIZES, STEPS, RecipeResult, Setting, Step
from explorer.tables import Table

LAST = max(STEPS)
"""The table of the large model, whose step is climbed in three."""

APART = 0.4
"""Of a step, between the flights: what lies between them is the size's gain and not the recipe's."""


def recipe_table(result: RecipeResult) -> Table:
    """table, step, size, setting, squad2, mnli, sst2, perplexity, gain (on the chosen score, within its table)."""
    return Table.each(
        result.settings,
        "table",
        step=lambda row: STEPS[row.table],
        size=lambda row: SIZES[row.table],
        setting="setting",
        squad2="squad2",
        mnli="mnli",
        sst2="sst2",
        perplexity="perplexity",
        gain=result.gain,
    )


def recipe_sentence(result: RecipeResult) -> Markup:
    """Say what the last step is worth on about the same text, and in all: BERT had too little of everything."""
    gained = [step.gain for step in result.climbed() if step.table == LAST]
    same, whole = strong(signed(gained[0], 1)), strong(signed(sum(gained), 1))
    gains = prose(same, " points on about the same text, ", whole, " with more text and more steps")
    return prose(f"On {SCORES[result.score]} the large model gains ", gains, ": BERT was ", strong("undertrained"), ".")


def recipe_notes(result: RecipeResult) -> Markup:
    """Say what each change alone gains at base size, and whose word undertrained is."""
    found = {step.table: f"{step.change} {signed(step.gain, 1)}" for step in result.climbed()}
    _, more, longer = (signed(step.gain, 1) for step in result.climbed() if step.table == LAST)
    alone = [found.get(table, f"{step} (not in Table {table})") for table, step in STEPS.items() if table < LAST]
    return caption(
        f"Of it {more} come with ten times as much text, {longer} with more steps. One change at a time, at base size, in "
        f"points: {'; '.join(alone)}. The large model has all three at once: on "
        "about BERT's text, its 100K steps of 8K read 3.2 times as many sequences as BERT's 1M of 256. “Significantly "
        "undertrained” is the paper's word (Liu et al. 2019, abstract)."
    )


def recipe_figure(result: RecipeResult, view: str = "stairs") -> Picture:
    """Draw the staircase, or a point for every row of the tables."""
    return _every_row(result) if view == "rows" else _staircase(result)


def _staircase(result: RecipeResult) -> Picture:
    """Draw two flights: each step goes from the score before it to the one after, over the pale rise up to there."""
    steps = result.climbed()
    base = [step for step in steps if step.table < LAST]
    large = [step for step in steps if step.table == LAST]
    behind = len(base) + APART
    flights = ((base, 0.0, "one at a time<br>base size"), (large, behind, "all together<br>large size"))
    traces = [trace for flight, first, _ in flights for trace in _flight(flight, first)]
    low, high = _span([score for step in steps for score in (step.before, step.after)])
    top = high + 0.3 * (high - low)  # room for the flights' names
    marks = [
        note(f"{name}<br>{flight[0].before} → {flight[-1].after}", first + (len(flight) - 1) / 2, top, yanchor="top")
        for flight, first, name in flights
    ]
    marks.append(level(behind - (1 + APART) / 2, "@muted", dash="dot", upright=True))
    up = axis(f"{SCORES[result.score]} (points)", span=(low, top))
    places = [first + place for flight, first, _ in flights for place in range(len(flight))]
    wide = _named(places, [step.change for step in steps], 11)
    narrow = _named(places, [step.short for step in steps], 5)
    panel = Panel(traces, wide, up, marks=marks, alone=Panel((), narrow, {**up, "title": {}}, marks=marks))
    return picture(recipe_sentence(result), [panel], height=440, low=410, phone=440, barmode="overlay", above=8)


def _named(places: list[float], names: list[str], letters: int) -> Axis:
    """Return the axis on which each step's name stands below it, in lines of so many letters."""
    written = ["<br>".join(wrap(name, letters, break_long_words=False)) for name in names]
    return axis(grid=False, zeroline=False, tickmode="array", tickvals=places, ticktext=written, tickangle=0, size=14)


def _flight(flight: list[Step], first: float) -> list[Trace]:
    """Draw one size's steps, side by side, with what each gains above it."""
    ground = flight[0].before
    places = [first + place for place in range(len(flight))]
    lower, upper = ([end(step.before, step.after) for step in flight] for end in (min, max))
    look: Look = {"upright": True, "width": 1.0}
    rises = bars(places, [max(0.0, score - ground) for score in lower], "@untouched", base=ground, **look)
    heights = [above - below for above, below in zip(upper, lower, strict=True)]
    colours = ["@second" if step.gain < 0 else "@first" for step in flight]
    read = [f"{step.change}: {step.before} → {step.after}" for step in flight]
    gains = bars(places, heights, colours, base=lower, customdata=read, hover="%{customdata}", **look)
    font: Look = {"size": 15, "color": "@text"}
    written = [f"<b>{signed(step.gain, 1)}</b>" for step in flight]
    return [rises, gains, texts(places, upper, written, textposition="top center", textfont=font)]


def _every_row(result: RecipeResult) -> Picture:
    """Draw a point a setting, from the top as the recipe goes; each table in a colour, the row it starts from hollow."""
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
                textposition="middle right" if table < LAST else "middle left",  # the last stand at the edge
                textfont={"size": 14, "color": "@text"},
                hover="%{text}",
            )
        )
    scores = [value for row in result.settings if (value := row.score(result.score)) is not None]
    across = axis(f"{SCORES[result.score]} (points)", span=_span(scores))
    page: Look = {"height": 540, "low": 430, "phone": 620, "legend": True, "legend_size": 13}
    return chart(recipe_sentence(result), traces, across, rows(names, size=14), **page)


def _written(result: RecipeResult, row: Setting, value: float) -> str:
    gain = result.gain(row)
    return f" {value:.1f} " if row.is_start or gain is None else f" {value:.1f} ({signed(gain, 1)}) "


def _span(scores: list[float]) -> tuple[float, float]:
    """Return the scores' range, with room for what is drawn there."""
    wide = max(scores) - min(scores)
    return min(scores) - 0.06 * wide, max(scores) + 0.08 * wide
