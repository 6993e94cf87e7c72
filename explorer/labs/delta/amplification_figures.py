"""How strongly W already holds what ΔW adds (LoRA, section 7.3), as pictures, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, chart, level, line, note, picture, series
from explorer.charts.words import caption, label, number, percent, prose, strong
from explorer.labs.delta.schema import AmplificationResult, RunFactors
from explorer.labs.delta.spectrum_figures import module_name
from explorer.tables import Table

COLOURS = {"ΔW": "@first", "W": "@third", "random": "@muted"}


def amplification_table(result: AmplificationResult) -> Table:
    """directions, projected_norm, factor."""
    return Table.each(result.projections, "directions projected_norm factor")


def amplification_sentence(result: AmplificationResult) -> Markup:
    """Say how much stronger ΔW is in its own directions than W."""
    own, random = result.of("ΔW"), result.of("random")
    if own.factor is None or not random.projected_norm:
        return prose("W is zero in the directions of ΔW, so there is no factor.")
    place = f"Layer {result.layer}, {module_name(result.module)}: in its own directions ΔW is "
    if own.factor > 1:
        return prose(place, strong(f"{number(own.factor)} times"), " as strong as W.")
    return prose(place, "no stronger than W: it has ", strong(number(own.factor)), " of W's strength there.")


def amplification_notes(result: AmplificationResult) -> Markup:
    """State the factor, and how much of W the same directions hold, beside chance and beside the most that they could
    hold.
    """
    own, top, random = (result.of(name) for name in ("ΔW", "W", "random"))
    if own.factor is None or not random.projected_norm:
        return Markup("")
    parts = [
        f"Layer {result.layer}, {module_name(result.module)}, r = {result.r}: {_held(result)} {number(result.inside)}, and W "
        f"has {number(own.projected_norm)} in the same directions, so ΔW ",
        *(("amplifies them ", strong(f"{number(own.factor)}-fold")) if own.factor > 1 else _weaker(own.factor)),
        ". W holds them ",
        strong(f"{number(own.projected_norm / random.projected_norm)} times"),
        f" as strongly as random directions ({number(random.projected_norm)}); its own first {result.r} hold "
        f"{number(top.projected_norm)} of its norm of {number(result.weight_norm)}.",
    ]
    if not _is_whole(result):
        share = (result.inside / result.delta_norm) ** 2
        parts.append(
            f" These directions hold {percent(share)} of the energy of ΔW, whose norm is {number(result.delta_norm)} in all."
        )
    return caption(*parts)


def _weaker(factor: float) -> tuple[str, str]:
    """Say what holds for an update that is no stronger than W in the directions that it takes."""
    return "does not amplify them: it has ", strong(f"{number(factor)} of W's strength there")


def _is_whole(result: AmplificationResult) -> bool:
    """Return whether the first r directions are all that ΔW has, as in the paper, whose r is the rank."""
    return result.inside >= result.delta_norm * (1 - 1e-6)  # but for rounding


def _held(result: AmplificationResult) -> str:
    return "‖ΔW‖ is" if _is_whole(result) else "in its own first directions ΔW has a norm of"


def amplification_figure(result: AmplificationResult) -> Picture:
    """Draw a bar from each ‖UᵀWV‖ to ΔW's norm in its first r directions on a logarithmic axis, whose lengths are
    factors.
    """
    shown = [entry for entry in result.projections if entry.projected_norm > 0]  # 0 has no place on a logarithmic axis
    names = {"ΔW": "directions of ΔW", "W": "directions of W", "random": "random directions"}
    whole, at = "‖ΔW‖" if _is_whole(result) else f"‖UᵀΔWV‖, r = {result.r}", result.inside
    traces: list[Trace] = []
    marks = [level(at, upright=True)]
    for place, entry in enumerate(shown):
        norm, colour = entry.projected_norm, COLOURS[entry.directions]
        ends = {"size": [20, 0], "opacity": 1, "color": colour}  # a mark at W's end alone
        look: Look = {"width": 10, "size": 20, "marker": ends, "hover": "%{x:.5g}", "aside": entry.directions}
        traces.append(line([norm, at], [place, place], colour, **look))
        said = f"{names[entry.directions]}: {number(norm)} (factor {number(entry.factor or 0)})"
        marks.append(note(said, 0, place, xref="paper", xanchor="left", yanchor="bottom", yshift=12, font={"size": 17}))
    # Plotly places an annotation on a logarithmic axis by its logarithm.
    marks.append(note(f"{whole} = {number(at)}", log10(at), 1, yref="paper", yanchor="bottom", font={"size": 15}))
    norms = [at, *(entry.projected_norm for entry in shown)]
    span = (floor(log10(min(norms))), ceil(log10(max(norms)) + 0.01))  # an exact power gets the next one too
    across = axis("‖UᵀWV‖, to that of ΔW at the dashed line", log=True, tickformat="~g", dtick=1, span=span)
    down = axis(span=(len(shown) - 0.6, -0.75), showticklabels=False, grid=False, zeroline=False)
    return chart(amplification_sentence(result), traces, across, down, marks, height=330)


def factors_table(runs: Sequence[RunFactors]) -> Table:
    """run, module, r, layer, factor, energy_share, emphasis."""
    rows = [
        (run.name, run.module, run.r, entry.layer, entry.factor, entry.energy, entry.emphasis)
        for run in runs
        for entry in run.layers
    ]
    return Table.of(("run", "module", "r", "layer", "factor", "energy_share", "emphasis"), rows)


def factors_sentence(runs: Sequence[RunFactors]) -> Markup:
    """Say how much each run amplifies, from the means over layers."""
    parts: list[str] = []
    for place, run in enumerate(runs):
        factor = sum(entry.factor for entry in run.layers) / len(run.layers)
        parts += [", " if place else "Mean over layers: ", run.name, " amplifies ", strong(f"{number(factor)}-fold")]
    return prose(*parts, ".")


def factors_notes(runs: Sequence[RunFactors]) -> Markup:
    """Say how much each run amplifies and how far it spreads, from the means over layers."""
    parts: list[str] = []
    for place, run in enumerate(runs):
        count = len(run.layers)
        factor, energy, emphasis = (
            sum(getattr(entry, name) for entry in run.layers) / count for name in ("factor", "energy", "emphasis")
        )
        parts += [
            "Mean over layers: " if not place else "; ",
            run.name,
            " amplifies ",
            strong(f"{number(factor)}-fold"),
        ]
        parts.append(f" in its first {run.r} directions, with ")
        parts += [strong(percent(energy)), " of its energy there"]
        parts.append(f" (W has {number(emphasis)} times what it has in random directions)")
    parts.append(
        ". A LoRA update of rank r has all its energy in r directions by construction; a full update that has little there "
        "spreads over many more. Whether that makes it the more general one, on other texts, this does not measure."
    )
    return caption(*parts)


def factors_figure(runs: Sequence[RunFactors]) -> Picture:
    """Draw two panels over layers, a line a run: the factor, and the share of ΔW's energy in the directions it is of."""
    across = axis("layer", tickformat="d", nticks=7, tickangle=0)
    factors = Panel(
        _over_layers(runs, "factor", ".4g"), across, axis(log=True, tickformat="~g", nticks=6), "amplification factor"
    )
    title = f"ΔW's energy in its first {runs[0].r}"
    energies = Panel(_over_layers(runs, "energy", ".2%"), across, axis(percent=True, span=(0, 1.03)), title)
    return picture(factors_sentence(runs), [factors, energies], gap=0.1, phone=620, legend=True)


def _over_layers(runs: Sequence[RunFactors], measure: str, form: str) -> list[Trace]:
    return [
        line(
            [entry.layer for entry in run.layers],
            [getattr(entry, measure) for entry in run.layers],
            series(place),
            label(run.name),
            size=9,
            marker={"symbol": "circle" if run.low_rank else "diamond"},
            legendgroup=str(place),
            hover=f"layer %{{x}}: %{{y:{form}}}",
            aside=label(run.name),
        )
        for place, run in enumerate(runs)
    ]
