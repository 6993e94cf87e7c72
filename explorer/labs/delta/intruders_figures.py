"""Intruder dimensions as pictures, sentences and tables."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import (
    MAGNITUDE,
    Look,
    Panel,
    Picture,
    Trace,
    axis,
    colorbar,
    heat,
    level,
    line,
    note,
    picture,
    points,
    series,
)
from explorer.charts.words import caption, counted, label, number, percent, prose, strong
from explorer.labs.delta.intruders import IntruderResult, LayerCosines, RunIntruders, TrainedIntruders
from explorer.labs.delta.spectrum_figures import module_name
from explorer.runs.record import told_apart

CELLS_WITH_TEXT = 6
"""A heatmap with more columns than this has no room for numbers."""

THRESHOLDS = tuple(place / 50 for place in range(51))
"""Of the curve that counts intruders."""


def cosines_sentence(result: IntruderResult) -> Markup:
    """Say how many intruders each run has in the chosen matrix."""
    place = f"Layer {result.layer}, {module_name(result.module)}: "
    return prose(place, *_counted(result, result.layer), ".")


def _counted(result: IntruderResult, layer: int | None = None) -> list[str]:
    parts: list[str] = []
    for place, run in enumerate(result.runs):
        count = run.count(result.epsilon) if layer is None else run.count(result.epsilon, layer)
        parts += [", " if place else "", _name(run, result), " has ", strong(_intruders(count))]
    return parts


def cosines_notes(result: IntruderResult) -> Markup:
    """Say how many intruders each run has in the chosen matrix, and how far the furthest is from all that W had."""
    parts: list[str] = [f"Layer {result.layer}, {module_name(result.module)}. Of W + ΔW's first {result.k} directions "]
    for place, run in enumerate(result.runs):
        parts += [
            " " if place else "",
            _name(run, result),
            " has ",
            strong(_intruders(run.count(result.epsilon, result.layer))),
        ]
        (chosen,) = (one for one in run.layers if one.layer == result.layer)
        parts.append(f"{_furthest(chosen)}{';' if place + 1 < len(result.runs) else '.'}")
    return caption(*parts)


def _name(run: RunIntruders, result: IntruderResult) -> str:
    return told_apart(run.name, (one.name for one in result.runs))


def _intruders(count: int) -> str:
    return counted(count, "intruder") if count else "no intruder"


def _furthest(one: LayerCosines) -> str:
    cosine = min(one.largest)
    return f" (the largest |cos| of direction {one.largest.index(cosine) + 1} with any of W's is {number(cosine)})"


def cosines_figure(result: IntruderResult) -> Picture:
    """Draw
    cos
    of W + ΔW's first directions, down, with W's first, across: a panel a run; on a phone one above the other.
    """
    numbers = axis(grid=False, tickformat="d", nticks=9)
    panels = []
    for run in result.runs:
        count = len(run.grid)
        small = count <= CELLS_WITH_TEXT
        look: Look = {"texts": [[f"{cosine:.2f}" for cosine in row] for row in run.grid], "size": 14} if small else {}
        hover = "direction %{y} of W + ΔW, %{x} of W: |cos| %{z:.3f}"
        places = range(1, count + 1)
        cells = heat(
            places, places, run.grid, MAGNITUDE, (0, 1), shared=True, gap=1 if small else 0, hover=hover, **look
        )
        across = axis("direction of W") | numbers
        down = axis("of W + ΔW", down=True, outer=True) | numbers
        panels.append(Panel(cells, across, down, label(_name(run, result), 26)))
    scale = {"colorscale": MAGNITUDE, "cmin": 0, "cmax": 1, "colorbar": colorbar("|cos|")}
    phone = 340 * len(panels)
    return picture(cosines_sentence(result), panels, height=400, phone=phone, coloraxis=scale, gap=0.1)


def counts_sentence(result: IntruderResult) -> Markup:
    """Say how many intruders each run has in all layers."""
    return prose(f"In {module_name(result.module)} of {_layers(result)} ", *_counted(result), ".")


def counts_notes(result: IntruderResult) -> Markup:
    """Say how many intruders there are in all layers, beside what a random direction is, and what the paper has found."""
    parts: list[str] = [f"Below ε = {result.epsilon:g}, in {module_name(result.module)} of {_layers(result)}: "]
    for place, run in enumerate(result.runs):
        count, of = run.count(result.epsilon), run.looked_at
        parts += [
            ", " if place else "",
            _name(run, result),
            " has ",
            strong(_intruders(count)),
            f" ({percent(count / of)} of {of})",
        ]
    parts.append(f". The largest |cos| of a random direction is {number(result.runs[0].chance)}.")
    return caption(*parts, _as_found(result))


def _layers(result: IntruderResult) -> str:
    return counted(result.of, "layer") if result.done == result.of else f"{result.done} of {result.of} layers so far"


def _as_found(result: IntruderResult) -> str:
    """Say how the two runs agree with the paper's finding, if they are of the two kinds."""
    low = [run for run in result.runs if run.low_rank]
    full = [run for run in result.runs if not run.low_rank]
    if not low or not full:
        return ""
    ours, theirs = (run.count(result.epsilon) / run.looked_at for run in (low[0], full[0]))
    if ours > theirs:
        return " LoRA has more of them, as Shuttleworth et al. found."
    return (
        " Shuttleworth et al. found more of them in LoRA than in full fine-tuning; these two runs do not show that"
        f"{', with none in either' if ours == theirs == 0 else ''}."
    )


def counts_figure(result: IntruderResult) -> Picture:
    """Draw each direction's largest |cos| in the chosen layer, and how many in all layers are below every ε."""
    largest: list[Trace] = []
    counts: list[Trace] = []
    for place, run in enumerate(result.runs):
        (chosen,) = (one for one in run.layers if one.layer == result.layer)
        name, colour = label(_name(run, result)), series(place)
        across = list(range(1, len(chosen.largest) + 1))
        symbol = ("circle", "diamond")[place % 2]
        hover = "direction %{x}: |cos| %{y:.3f} with W's direction %{customdata}"
        largest.append(
            points(
                across,
                chosen.largest,
                colour,
                name,
                size=11,
                symbol=symbol,
                hover=hover,
                aside=name,
                customdata=list(chosen.closest),
                legendgroup=str(place),
            )
        )
        below = [run.count(epsilon) for epsilon in THRESHOLDS]
        said = "ε = %{x:.2f}: %{y} directions"
        counts.append(line(THRESHOLDS, below, colour, name, hover=said, aside=name, legendgroup=str(place)))
    most = max(run.looked_at for run in result.runs)
    chance = result.runs[0].chance  # of the first run's W
    marks = [level(result.epsilon), level(chance, "@muted", dash="dot"), *_said(result.epsilon, chance, result.k)]
    panels = [
        Panel(
            largest,
            axis("direction of W + ΔW", tickformat="d", nticks=9, span=(0.3, result.k + 0.7)),
            axis("largest |cos| with W's", span=(0, 1.04)),
            f"layer {result.layer}",
            marks,
        ),
        Panel(
            counts,
            axis("threshold ε", span=(0, 1)),
            axis("intruders", span=(0, 1.04 * most), tickformat="d"),
            f"{_layers(result)}, {most} directions",
            [level(result.epsilon, upright=True)],
        ),
    ]
    return picture(counts_sentence(result), panels, height=400, phone=680, legend=True, legend_size=14, gap=0.12)


def _said(epsilon: float, chance: float, k: int) -> list[dict[str, object]]:
    """Label the two levels."""
    look = {"xanchor": "right", "yanchor": "bottom", "font": {"size": 14}}
    return [note("ε", k + 0.6, epsilon, **look), note("chance", k + 0.6, chance, **look)]


def trained_standing(trained: TrainedIntruders) -> str:
    """Say how far the two runs are."""
    standing = [
        f"{run.name}: {run.status.value}, step {run.step} of {run.steps or '?'}" for run in trained.compared.records
    ]
    return ". ".join(standing) + "."
