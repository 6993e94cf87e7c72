"""The spectrum of ΔW as pictures, sentences and tables, and what the lab's other figures share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from markupsafe import Markup

from explorer.figures import CIVIDIS, cell_texts, label, percent, picture, prose, strong
from explorer.labs.delta.schema import KEPT, SiteSpectrum, SpectrumResult
from explorer.tables import Table

MODULES = {"output": "attention output", "ffn_in": "feed-forward in", "ffn_out": "feed-forward out"}
"""How a figure names the roles of explorer.tuning.spec; any other name stands for itself."""

DEPTHS = (("early layers", "first"), ("middle layers", "third"), ("late layers", "second"))
"""The thirds of the model by depth and their colours."""

MEASURES: dict[str, tuple[str, Callable[[SiteSpectrum], float | None]]] = {
    "norm": ("norm ‖ΔW‖", lambda site: site.norm),
    "relative": ("‖ΔW‖ / ‖W‖", lambda site: site.norm / site.weight_norm if site.weight_norm else None),
    "effective_rank": ("effective rank", lambda site: site.effective_rank),
    "stable_rank": ("stable rank", lambda site: site.stable_rank),
    "first": ("energy in the first direction", lambda site: site.energy[0]),
}
"""What the heatmap over layers and modules can show, with its title."""

SHORTEST = 8
"""Directions on the axis of a figure of updates of lower rank."""

NO_BASE = "The base model is not on this machine, so W is left out."
STILL_ZERO = "ΔW is still zero: LoRA starts with B = 0, so nothing has been added to W yet."


def number(value: float) -> str:
    """Three significant digits, and no exponent where a plain number is as short."""
    return f"{value:.3g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.2e}"


def module_name(module: str) -> str:
    """A module for people."""
    return MODULES.get(module, module)


def heading(text: str, x: float, y: float) -> dict[str, Any]:
    """The title of a panel, at its upper left corner; x and y as shares of the figure."""
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, **place, "showarrow": False, "font": {"size": 15}}


def spectrum_table(result: SpectrumResult) -> Table:
    """layer, module, index (from 1), singular_value."""
    rows = [
        (site.layer, site.module, index, value)
        for site in result.sites
        for index, value in enumerate(site.values, start=1)
    ]
    return Table.of(("layer", "module", "index", "singular_value"), rows)


def spectrum_sentence(result: SpectrumResult, module: str) -> Markup:
    """How large the updates are, how few directions they use, and what chance alone would give."""
    sites = result.of(module)
    if not any(site.norm for site in sites):
        return prose(STILL_ZERO)
    strongest, weakest = max(sites, key=lambda site: site.norm), min(sites, key=lambda site: site.norm)
    sharpest = max(sites, key=lambda site: site.energy[0])
    chance = _chance(sharpest)
    parts: list[str] = [f"In {module_name(module)}, the (Frobenius) norm ‖ΔW‖ is "]
    if len(sites) > 1:
        parts += ["largest in layer ", strong(f"{strongest.layer} ({number(strongest.norm)})")]
        parts += [f" and smallest in layer {weakest.layer} ({number(weakest.norm)}). Layer {sharpest.layer} holds "]
    else:
        parts += [strong(number(strongest.norm)), f" in layer {strongest.layer}, the only one adapted. It holds "]
    kind = "a random BA of its rank" if sharpest.low_rank else "a random matrix"
    parts += [strong(percent(sharpest.energy[0])), " of its energy in its first direction "]
    parts += [
        f"({kind}: {percent(chance)}); its effective rank is {number(sharpest.effective_rank)} of {sharpest.rank}."
    ]
    if strongest.weight_norm:
        parts.append(
            f" In layer {strongest.layer} ΔW has {percent(strongest.norm / strongest.weight_norm)} of W's norm."
        )
    elif strongest.weight_norm is None:
        parts.append(f" {NO_BASE}")
    return prose(*parts)


def _chance(site: SiteSpectrum) -> float:
    """The first direction's share of the energy by chance alone."""
    return ((site.random_product or site.random)[0] / site.norm) ** 2


def spectrum_figure(result: SpectrumResult, module: str, layer: int | None = None) -> dict[str, Any]:
    """Singular values on a logarithmic axis, a line a layer, with W's and those of random matrices of ΔW's norm.

    layer: None colours the layers by depth and draws the means of the references; a number picks one out with its own.
    """
    sites = result.of(module)
    chosen = [site for site in sites if site.layer == layer] or list(sites)
    references = [("W", "dash", [site.weight for site in chosen if site.weight]), *_random(chosen)]
    lines = _layer_lines(sites, layer, lambda site: site.values)
    shown = _width(sites)
    lines += [_reference(title, dash, [row[:shown] for row in rows]) for title, dash, rows in references if rows]
    axis = {"type": "log", "title": {"text": "singular value"}, "tickformat": "~g", "nticks": 8}
    return _curves(lines, spectrum_sentence(result, module), axis)


def energy_figure(result: SpectrumResult, module: str, layer: int | None = None) -> dict[str, Any]:
    """The share of ‖ΔW‖² in the first i directions, a line a layer, beside what random matrices have."""
    sites = result.of(module)
    chosen = [site for site in sites if site.layer == layer] or list(sites)
    lines = _layer_lines(sites, layer, lambda site: site.energy)
    for title, dash, spectra in _random(chosen):
        shares = [_energy(values, site.norm)[: _width(sites)] for values, site in zip(spectra, chosen, strict=True)]
        lines.append(_reference(title, dash, shares))
    axis = {"tickformat": ".0%", "range": [0, 1.03], "title": {"text": "energy in the first i directions"}}
    return _curves(lines, energy_sentence(result, module), axis)


def energy_sentence(result: SpectrumResult, module: str) -> Markup:
    """How many directions carry 90% of each update's energy."""
    sites = [site for site in result.of(module) if site.norm]
    if not sites:
        return prose(STILL_ZERO)
    needed = sorted(_directions_for(site, 0.9) for site in sites)
    counts = [str(count) if count <= KEPT else f"more than {KEPT}" for count in (needed[0], needed[-1])]
    return prose(
        f"In {module_name(module)}, ",
        strong(" to ".join(dict.fromkeys(counts))),
        f" of the {sites[0].rank} directions carr{'ies' if counts == ['1', '1'] else 'y'} 90% of the update's energy"
        f"{', depending on the layer' if counts[0] != counts[1] else ''}. Energy is the squared norm, the sum of the squared "
        "singular values.",
    )


def _directions_for(site: SiteSpectrum, share: float) -> int:
    """The fewest directions with that share of the energy; KEPT + 1 where those that are kept do not reach it."""
    return next((count for count, held in enumerate(site.energy, start=1) if held >= share), KEPT + 1)


def _width(sites: Sequence[SiteSpectrum]) -> int:
    """How many directions a figure is wide: those that the updates have, but room enough to see how a reference falls."""
    return max(SHORTEST, *(len(site.values) for site in sites))


def _random(sites: Sequence[SiteSpectrum]) -> list[tuple[str, str, list[tuple[float, ...]]]]:
    """The random references: title, dash and a spectrum a site."""
    products = [site.random_product for site in sites if site.random_product]
    made = [("random BA, same norm", "dot", products)] if len(products) == len(sites) else []
    return [*made, ("random matrix, same norm", "dashdot", [site.random for site in sites])]


def _energy(values: Sequence[float], norm: float) -> tuple[float, ...]:
    """Running shares of the squared norm; zeros for a zero matrix."""
    return tuple(held / norm**2 if norm else 0.0 for held in accumulate(value**2 for value in values))


def _reference(title: str, dash: str, spectra: Sequence[Sequence[float]]) -> dict[str, Any]:
    """One line for what the layers are compared with: their mean where there are several."""
    hover = title if len(spectra) == 1 else f"{title}, mean of the layers"
    means = [sum(column) / len(column) for column in zip(*spectra, strict=False)]
    return _line(title, means, {"color": "@text", "width": 2.5, "dash": dash}, hover)


def _layer_lines(
    sites: Sequence[SiteSpectrum], layer: int | None, values: Callable[[SiteSpectrum], Sequence[float]]
) -> list[dict[str, Any]]:
    """A line a layer: by thirds of the depth, or one in colour above the others; each colour once in the legend."""
    lines: list[dict[str, Any]] = []
    named: set[str] = set()
    picked = any(site.layer == layer for site in sites)
    ordered = sorted(sites, key=lambda site: (picked and site.layer == layer, site.layer))
    for place, site in enumerate(ordered):
        if picked:
            group, colour = ("other layers", "muted") if site.layer != layer else (f"layer {layer}", "accent")
        else:
            group, colour = DEPTHS[place * len(DEPTHS) // len(ordered)]
        width = 4 if picked and site.layer == layer else 2
        line = _line(group, values(site), {"color": f"@{colour}", "width": width}, f"layer {site.layer}")
        lines.append({**line, "legendgroup": group, "showlegend": group not in named})
        named.add(group)
    return lines


def _line(name: str, values: Sequence[float], line: dict[str, Any], hover: str = "") -> dict[str, Any]:
    """Values over 1, 2, 3, ...; what is not positive is left out, since a logarithmic axis has no place for it."""
    return {
        "type": "scatter",
        "mode": "lines" if "dash" in line or len(values) > 16 else "lines+markers",
        "name": name,
        "x": list(range(1, len(values) + 1)),
        "y": [value if value > 0 else None for value in values],
        "line": line,
        "marker": {"size": 7},
        "hovertemplate": "i = %{x}: %{y:.4g}<extra>" + (hover or name) + "</extra>",
    }


def _curves(lines: list[dict[str, Any]], said: Markup, vertical: dict[str, Any]) -> dict[str, Any]:
    """Lines over the index of the direction; on a phone the legend takes more rows."""
    most = max(len(line["x"]) for line in lines)
    changes: dict[str, Any] = {
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "title": {"text": "direction i, from the strongest"},
            "range": [1 - 0.02 * most, 1.02 * most],
            "tickformat": "d",
            "nticks": 9,
        },
        "yaxis": vertical,
    }
    wide = picture(lines, said.striptags(), height=430, **changes)
    return wide | {"narrow": picture(lines, "", height=480, **changes)["layout"]}


def measure_table(result: SpectrumResult) -> Table:
    """layer, module, norm, weight_norm, effective_rank, stable_rank, first_share."""
    rows = [
        (s.layer, s.module, s.norm, s.weight_norm, s.effective_rank, s.stable_rank, s.energy[0]) for s in result.sites
    ]
    columns = ("layer", "module", "norm", "weight_norm", "effective_rank", "stable_rank", "first_share")
    return Table.of(columns, rows)


def measure_sentence(result: SpectrumResult, measure: str) -> Markup:
    """Where one measure is highest and lowest."""
    title, of = MEASURES[measure]
    found = [(value, site) for site in result.sites if (value := of(site)) is not None]
    if not found:
        return prose(NO_BASE)
    if not any(value for value, _ in found):
        return prose(STILL_ZERO)
    (most, high), (least, low) = max(found, key=lambda pair: pair[0]), min(found, key=lambda pair: pair[0])
    return prose(
        f"The {title} is highest in layer {high.layer}, {module_name(high.module)}: ",
        strong(number(most)),
        f", and lowest in layer {low.layer}, {module_name(low.module)}: {number(least)}.",
        " Effective rank is exp of the entropy of the singular values divided by their sum (Roy & Vetterli 2007)."
        if measure == "effective_rank"
        else "",
    )


def measure_figure(result: SpectrumResult, measure: str) -> dict[str, Any]:
    """Heatmap of one of MEASURES: layers down, modules across."""
    title, of = MEASURES[measure]
    layers = sorted({site.layer for site in result.sites})
    values = {(site.layer, site.module): of(site) for site in result.sites}
    grid = [[values.get((layer, module)) for module in result.modules] for layer in layers]
    trace = {
        "type": "heatmap",
        "z": grid,
        "x": [label(module, 18) for module in result.modules],
        "y": [str(layer) for layer in layers],
        "colorscale": CIVIDIS,
        "zmin": 0,
        "zmax": max((value for row in grid for value in row if value), default=1),
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "hovertemplate": "layer %{y}, %{x}: %{z:.5g}<extra></extra>",
        "colorbar": {"title": {"text": title, "side": "right"}, "thickness": 14},
    }
    texts = [["" if value is None else number(value) for value in row] for row in grid]
    return picture(
        [trace, cell_texts(trace, texts)],
        measure_sentence(result, measure).striptags(),
        height=max(240, 90 + 28 * len(layers)),
        xaxis={"type": "category", "side": "top", "showgrid": False},
        yaxis={"type": "category", "autorange": "reversed", "showgrid": False, "title": {"text": "layer"}},
        margin={"l": 8, "r": 8, "t": 40, "b": 8},
    )
