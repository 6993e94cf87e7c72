"""The spectrum of ΔW as pictures, sentences and tables, and what the lab's other figures share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Axis, Picture, Trace, axis, chart, colorbar, heat, line
from explorer.charts.words import caption, label, number, percent, prose, strong
from explorer.labs.delta.schema import KEPT, SiteSpectrum, SpectrumResult
from explorer.tables import Table

MODULES = {"output": "attention output", "ffn_in": "feed-forward in", "ffn_out": "feed-forward out"}
"""How a figure names the roles of explorer.tuning.spec; any other name stands for itself."""

DEPTHS = (("early layers", "@first"), ("middle layers", "@third"), ("late layers", "@second"))
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


def module_name(module: str) -> str:
    """Name a module for people."""
    return MODULES.get(module, module)


def spectrum_table(result: SpectrumResult) -> Table:
    """layer, module, index (from 1), singular_value."""
    rows = [
        (site.layer, site.module, index, value)
        for site in result.sites
        for index, value in enumerate(site.values, start=1)
    ]
    return Table.of(("layer", "module", "index", "singular_value"), rows)


def spectrum_sentence(result: SpectrumResult, module: str) -> Markup:
    """Say how much of the sharpest update is in its first direction, and what chance alone would give."""
    sites = result.of(module)
    if not any(site.norm for site in sites):
        return prose(STILL_ZERO)
    sharpest = max(sites, key=lambda site: site.energy[0])
    share, chance = strong(percent(sharpest.energy[0])), percent(_chance(sharpest))
    start = f"In {module_name(module)}, ΔW of layer {sharpest.layer} has "
    return prose(start, share, f" of its energy in its first direction (chance: {chance}).")


def spectrum_notes(result: SpectrumResult, module: str) -> Markup:
    """Say how large the updates are, how few directions they use, and what chance alone would give."""
    sites = result.of(module)
    if not any(site.norm for site in sites):
        return Markup("")
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
    elif strongest.weight_norm is None:  # None: W is not here; 0 would have no share
        parts.append(f" {NO_BASE}")
    return caption(*parts)


def _chance(site: SiteSpectrum) -> float:
    """Return the first direction's share of the energy by chance alone."""
    return ((site.random_product or site.random)[0] / site.norm) ** 2  # B A of LoRA's rank is the fair comparison


def spectrum_figure(result: SpectrumResult, module: str, layer: int | None = None) -> Picture:
    """Draw singular values on a logarithmic axis, a line a layer, with W's and those of random matrices of ΔW's norm.

    layer: None colours the layers by depth and draws the means of the references; a number picks one out with its own.
    """
    sites = result.of(module)
    chosen = [site for site in sites if site.layer == layer] or list(sites)
    references = [("W", "dash", [site.weight for site in chosen if site.weight]), *_random(chosen)]
    lines = _layer_lines(sites, layer, lambda site: site.values)
    shown = _width(sites)  # W's 64 values would squeeze LoRA's 8
    lines += [_reference(title, dash, [row[:shown] for row in rows]) for title, dash, rows in references if rows]
    vertical = axis("singular value", log=True, tickformat="~g", nticks=8)
    return _curves(lines, spectrum_sentence(result, module), vertical)


def energy_figure(result: SpectrumResult, module: str, layer: int | None = None) -> Picture:
    """Draw the share of ‖ΔW‖² in the first i directions, a line a layer, beside what random matrices have."""
    sites = result.of(module)
    chosen = [site for site in sites if site.layer == layer] or list(sites)
    lines = _layer_lines(sites, layer, lambda site: site.energy)
    for title, dash, spectra in _random(chosen):
        shares = [_energy(values, site.norm)[: _width(sites)] for values, site in zip(spectra, chosen, strict=True)]
        lines.append(_reference(title, dash, shares))
    vertical = axis("energy in the first i directions", percent=True, span=(0, 1.03))
    return _curves(lines, energy_sentence(result, module), vertical)


def energy_sentence(result: SpectrumResult, module: str) -> Markup:
    """Say how many directions carry nine tenths of each update's energy."""
    counts = _needed(result, module)
    if not counts:
        return prose(STILL_ZERO)
    directions = "direction carries" if counts == ["1"] else "directions carry"
    said = f" {directions} nine tenths of the update's energy."
    return prose(f"In {module_name(module)}, ", strong(" to ".join(counts)), said)


def _needed(result: SpectrumResult, module: str) -> list[str]:
    """Return how many directions 90% of the energy takes, in the layer that needs fewest and in the one that needs
    most.

    It is one number if they are the same; [] if the update is zero.
    """
    needed = sorted(_directions_for(site, 0.9) for site in result.of(module) if site.norm)
    ends = (needed[0], needed[-1]) if needed else ()
    # Only KEPT of each layer are known.
    return list(dict.fromkeys(str(count) if count <= KEPT else f"more than {KEPT}" for count in ends))


def energy_notes(result: SpectrumResult, module: str) -> Markup:
    """Say of how many directions these are, and what energy is."""
    counts = _needed(result, module)
    if not counts:
        return Markup("")
    rank = next(site.rank for site in result.of(module) if site.norm)
    of = f"{' to '.join(counts)} of {rank}{', depending on the layer' if len(counts) > 1 else ''}"
    return caption(f"{of}, for 90%. Energy is the squared norm, the sum of the squared singular values.")


def _directions_for(site: SiteSpectrum, share: float) -> int:
    """Return the fewest directions with that share of the energy; KEPT + 1 if those that are kept do not reach it."""
    return next((count for count, held in enumerate(site.energy, start=1) if held >= share), KEPT + 1)


def _width(sites: Sequence[SiteSpectrum]) -> int:
    """Return how many directions a figure shows: as many as the updates have, but enough to see how a reference falls."""
    return max(SHORTEST, *(len(site.values) for site in sites))


def _random(sites: Sequence[SiteSpectrum]) -> list[tuple[str, str, list[tuple[float, ...]]]]:
    """Return the random references: title, dash and a spectrum a site."""
    products = [site.random_product for site in sites if site.random_product]
    # A mean over some of the layers would mislead.
    made = [("random BA, same norm", "dot", products)] if len(products) == len(sites) else []
    return [*made, ("random matrix, same norm", "dashdot", [site.random for site in sites])]


def _energy(values: Sequence[float], norm: float) -> tuple[float, ...]:
    """Return running shares of the squared norm; zeros for a zero matrix."""
    return tuple(held / norm**2 if norm else 0.0 for held in accumulate(value**2 for value in values))


def _reference(title: str, dash: str, spectra: Sequence[Sequence[float]]) -> Trace:
    """Draw one line for what the layers are compared with: the mean if there are several."""
    hover = title if len(spectra) == 1 else f"{title}, mean of the layers"
    # Matrices of different shapes have different counts.
    means = [sum(column) / len(column) for column in zip(*spectra, strict=False)]
    return _line(title, means, hover, "@text", width=2.5, dash=dash)


def _layer_lines(
    sites: Sequence[SiteSpectrum], layer: int | None, values: Callable[[SiteSpectrum], Sequence[float]]
) -> list[Trace]:
    """Draw a line a layer: by thirds of the depth, or one in colour above the others; each colour once in the legend."""
    lines: list[Trace] = []
    picked = any(site.layer == layer for site in sites)
    # The picked one last, above the others.
    ordered = sorted(sites, key=lambda site: (picked and site.layer == layer, site.layer))
    for place, site in enumerate(ordered):
        if picked:
            group, colour = ("other layers", "@muted") if site.layer != layer else (f"layer {layer}", "@accent")
        else:
            group, colour = DEPTHS[place * len(DEPTHS) // len(ordered)]
        first = group not in {one["name"] for one in lines}
        width = 4 if picked and site.layer == layer else 2
        look = {"width": width, "legendgroup": group, "showlegend": first}
        lines.append(_line(group, values(site), f"layer {site.layer}", colour, **look))
    return lines


def _line(name: str, values: Sequence[float], aside: str, colour: str, **look: Any) -> Trace:
    """Draw values over 1, 2, 3, ...; what is not positive is left out, since a logarithmic axis has no place for it."""
    shown = [value if value > 0 else None for value in values]
    size = 0 if "dash" in look or len(values) > 16 else 7
    return line(
        range(1, len(values) + 1), shown, colour, name, size=size, hover="i = %{x}: %{y:.4g}", aside=aside, **look
    )


def _curves(lines: list[Trace], said: Markup, vertical: Axis) -> Picture:
    """Draw lines over the index of the direction; on a phone the legend takes more rows."""
    most = max(len(line["x"]) for line in lines)
    span = (1 - 0.02 * most, 1.02 * most)
    across = axis("direction i, from the strongest", span=span, tickformat="d", nticks=9)
    return chart(said, lines, across, vertical, height=430, phone=480, legend=True)


def measure_sentence(result: SpectrumResult, measure: str) -> Markup:
    """Say which layer and module has the highest value of a measure, and which the lowest."""
    title, of = MEASURES[measure]
    found = [(value, site) for site in result.sites if (value := of(site)) is not None]
    if not found:
        return prose(NO_BASE)
    if not any(value for value, _ in found):
        return prose(STILL_ZERO)
    (most, high), (least, low) = max(found, key=lambda pair: pair[0]), min(found, key=lambda pair: pair[0])
    if most == least:
        where = f"in layer {high.layer}, {module_name(high.module)}" if len(found) == 1 else "everywhere"
        return prose(f"The {title} is ", strong(number(most)), f" {where}.")
    return prose(
        f"The {title} is highest in layer {high.layer}, {module_name(high.module)}: ",
        strong(number(most)),
        f", and lowest in layer {low.layer}, {module_name(low.module)}: {number(least)}.",
    )


def measure_notes(result: SpectrumResult, measure: str) -> Markup:
    """Say what an effective rank is; nothing of the other measures, and of an update that has none."""
    if measure != "effective_rank" or not any(site.norm for site in result.sites):
        return Markup("")
    return caption(
        "Effective rank is exp of the entropy of the singular values divided by their sum (Roy & Vetterli 2007)."
    )


def measure_figure(result: SpectrumResult, measure: str) -> Picture:
    """Draw a heatmap of one of MEASURES: layers down, modules across."""
    title, of = MEASURES[measure]
    layers = sorted({site.layer for site in result.sites})
    values = {(site.layer, site.module): of(site) for site in result.sites}
    grid = [[values.get((layer, module)) for module in result.modules] for layer in layers]
    modules, most = [label(module, 18) for module in result.modules], max(filter(None, values.values()), default=1)
    key, hover = colorbar(title, side="right"), "layer %{y}, %{x}: %{z:.5g}"
    cells = heat(
        modules, map(str, layers), grid, MAGNITUDE, (0, most), texts=number, bar=key, hover=hover, hoverongaps=False
    )
    across, down = axis(names=True, top=True), axis("layer", names=True, down=True)
    return chart(measure_sentence(result, measure), cells, across, down, height=max(240, 90 + 28 * len(layers)))
