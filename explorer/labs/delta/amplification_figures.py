"""How strongly W already holds what ΔW adds (LoRA, section 7.3), as pictures, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from markupsafe import Markup

from explorer.figures import SERIES, label, percent, picture, prose, strong
from explorer.labs.delta.figures import heading, module_name, number
from explorer.labs.delta.schema import AmplificationResult, RunFactors
from explorer.tables import Table

COLOURS = {"ΔW": "first", "W": "third", "random": "muted"}

PAPER = Markup(
    "<p>The paper's figures for GPT-3 175B, W<sub>q</sub> of layer 48, ‖W<sub>q</sub>‖ = 61.95 (Hu et al. 2021, section 7.3, "
    "Table 7; all norms Frobenius):</p>"
    "<table><thead><tr><th>‖UᵀW<sub>q</sub>V‖ in the directions of</th><th>ΔW<sub>q</sub></th><th>W<sub>q</sub></th>"
    "<th>random</th><th>‖ΔW<sub>q</sub>‖</th><th>factor</th></tr></thead>"
    "<tbody><tr><td>r = 4</td><td>0.32</td><td>21.67</td><td>0.02</td><td>6.91</td><td>21.5</td></tr>"
    "<tr><td>r = 64</td><td>1.90</td><td>37.71</td><td>0.33</td><td>3.57</td><td>1.88</td></tr></tbody></table>"
    "<p>Their reading: ΔW is correlated more strongly with W than random directions are; it does not repeat W's top "
    "directions but amplifies ones that W does not emphasise; and at r = 4 it does so by a large factor.</p>"
)
"""Quoted beside what is measured here; a small model after a short run need not agree, the factor grows with ‖ΔW‖."""


def amplification_table(result: AmplificationResult) -> Table:
    """directions, projected_norm, factor."""
    rows = [(entry.directions, entry.projected_norm, entry.factor) for entry in result.projections]
    return Table.of(("directions", "projected_norm", "factor"), rows)


def amplification_sentence(result: AmplificationResult) -> Markup:
    """The factor, what the same directions hold of W beside chance and beside the most that they could."""
    own, top, random = (result.of(name) for name in ("ΔW", "W", "random"))
    if own.factor is None or not random.projected_norm:
        return prose("W is zero in the directions of ΔW, so there is no factor.")
    parts = [
        f"Layer {result.layer}, {module_name(result.module)}, r = {result.r}: {_held(result)} {number(result.inside)}, and W "
        f"has {number(own.projected_norm)} in the same directions, so ΔW amplifies them ",
        strong(f"{number(own.factor)}-fold"),
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
    return prose(*parts)


def _is_whole(result: AmplificationResult) -> bool:
    """Whether the first r directions are all that ΔW has, as in the paper, where r is the rank."""
    return result.inside >= result.delta_norm * (1 - 1e-6)


def _held(result: AmplificationResult) -> str:
    return "‖ΔW‖ is" if _is_whole(result) else "in its own first directions ΔW has a norm of"


def amplification_figure(result: AmplificationResult) -> dict[str, Any]:
    """A bar from each ‖UᵀWV‖ to ΔW's norm in its first r directions on a logarithmic axis, where a length is a factor."""
    shown = [entry for entry in result.projections if entry.projected_norm > 0]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": [entry.projected_norm, result.inside],
            "y": [place, place],
            "line": {"color": f"@{COLOURS[entry.directions]}", "width": 10},
            "marker": {"size": [20, 0], "opacity": 1, "color": f"@{COLOURS[entry.directions]}"},
            "hovertemplate": "%{x:.5g}<extra>" + entry.directions + "</extra>",
        }
        for place, entry in enumerate(shown)
    ]
    names = {"ΔW": "directions of ΔW", "W": "directions of W", "random": "random directions"}
    notes = [
        {
            "text": f"{names[entry.directions]}: {number(entry.projected_norm)} (factor {number(entry.factor or 0)})",
            "xref": "paper",
            "x": 0,
            "y": place,
            "xanchor": "left",
            "yanchor": "bottom",
            "yshift": 12,
            "showarrow": False,
            "font": {"size": 17},
        }
        for place, entry in enumerate(shown)
    ]
    level = {"color": "@text", "width": 2, "dash": "dash"}
    at = result.inside
    name = "‖ΔW‖" if _is_whole(result) else f"‖UᵀΔWV‖, r = {result.r}"
    norms = [at, *(entry.projected_norm for entry in shown)]
    notes.append({**heading(f"{name} = {number(at)}", 0, 1), "xref": "x", "x": log10(at), "xanchor": "center"})
    return picture(
        traces,
        amplification_sentence(result).striptags(),
        height=330,
        annotations=notes,
        shapes=[{"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at, "line": level}],
        xaxis={
            "type": "log",
            "title": {"text": "‖UᵀWV‖, to that of ΔW at the dashed line"},
            "tickformat": "~g",
            "dtick": 1,
            "range": [floor(log10(min(norms))), ceil(log10(max(norms)) + 0.01)],
        },
        yaxis={"range": [len(shown) - 0.6, -0.75], "showticklabels": False, "showgrid": False, "zeroline": False},
    )


def factors_table(runs: Sequence[RunFactors]) -> Table:
    """run, module, r, layer, factor, energy_share, emphasis."""
    rows = [
        (run.name, run.module, run.r, entry.layer, entry.factor, entry.energy, entry.emphasis)
        for run in runs
        for entry in run.layers
    ]
    return Table.of(("run", "module", "r", "layer", "factor", "energy_share", "emphasis"), rows)


def factors_sentence(runs: Sequence[RunFactors]) -> Markup:
    """How much each run amplifies and how far it spreads, from the means over layers."""
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
    return prose(*parts)


def factors_figure(runs: Sequence[RunFactors]) -> dict[str, Any]:
    """Two panels over layers, a line a run: the factor, and the share of ΔW's energy in the directions it is of."""
    traces: list[dict[str, Any]] = []
    for place, run in enumerate(runs):
        layers = [entry.layer for entry in run.layers]
        style: dict[str, Any] = {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label(run.name),
            "legendgroup": str(place),
            "x": layers,
            "line": {"color": SERIES[place % len(SERIES)], "width": 3},
            "marker": {"size": 9, "symbol": "circle" if run.low_rank else "diamond"},
        }
        shown = "<extra>" + label(run.name) + "</extra>"
        traces.append(
            {**style, "y": [entry.factor for entry in run.layers], "hovertemplate": "layer %{x}: %{y:.4g}" + shown}
        )
        right = {"xaxis": "x2", "yaxis": "y2", "showlegend": False, "hovertemplate": "layer %{x}: %{y:.2%}" + shown}
        traces.append({**style, **right, "y": [entry.energy for entry in run.layers]})
    described = factors_sentence(runs).striptags()
    wide = picture(traces, described, **_two_panels(runs[0].r, stacked=False))
    return wide | {"narrow": picture(traces, described, **_two_panels(runs[0].r, stacked=True))["layout"]}


def _two_panels(r: int, stacked: bool) -> dict[str, Any]:
    across = {"title": {"text": "layer"}, "tickformat": "d", "nticks": 7, "tickangle": 0}
    if stacked:
        (x, y), (x2, y2) = ([0.0, 1.0], [0.58, 0.96]), ([0.0, 1.0], [0.0, 0.38])
    else:
        (x, y), (x2, y2) = ([0.0, 0.46], [0.0, 0.93]), ([0.56, 1.0], [0.0, 0.93])
    return {
        "height": 620 if stacked else 400,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.03, "yanchor": "bottom", "x": 0},
        "annotations": [
            heading("amplification factor", x[0], y[1]),
            heading(f"ΔW's energy in its first {r}", x2[0], y2[1]),
        ],
        "xaxis": {**across, "domain": x},
        "yaxis": {"type": "log", "domain": y, "tickformat": "~g", "nticks": 6},
        "xaxis2": {**across, "domain": x2, "anchor": "y2"},
        "yaxis2": {"tickformat": ".0%", "range": [0, 1.03], "domain": y2, "anchor": "x2"},
    }
