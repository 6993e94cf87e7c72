"""Soft targets as a picture that the page redraws with the temperature, a sentence and a table."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

from explorer.figures import label, percent, picture, prose, strong
from explorer.labs.distillation.schema import COLDEST, HOTTEST, REST, SoftTargetsResult, Target
from explorer.tables import Table

TEMPERATURE_AXIS = {
    "type": "log",
    "range": [math.log10(COLDEST), math.log10(HOTTEST)],
    "tickvals": [0.1, 0.3, 1, 3, 10],
    "ticktext": ["0.1", "0.3", "1", "3", "10"],
    "title": {"text": "temperature T"},
}


def soft_targets_table(result: SoftTargetsResult) -> Table:
    """target, logit, hard, soft."""
    rows = [(target.name, target.logit, target.hard, target.soft) for target in result.targets]
    return Table.of(("target", "logit", "hard", "soft"), rows)


def soft_targets_sentence(result: SoftTargetsResult) -> Markup:
    """What stands on the answer, what on all others, and how far from certain and from even that is."""
    answer, second = result.targets[0], result.targets[1]
    runner_up = "" if second.name == REST else f", most of it on “{second.name}” ({percent(second.soft)})"
    if result.classes == 2:
        runner_up = f", “{second.name}”"
    elif second.name != REST and second.soft < result.dark / 2:
        runner_up = f", led by “{second.name}” ({percent(second.soft)})"
    several = f" The first of {result.places} masks is shown." if result.places > 1 else ""
    return prose(
        f"At T = {result.temperature:.3g} {result.teacher} gives ",
        strong(f"“{answer.name}”"),
        " ",
        strong(percent(answer.soft)),
        _hard_target(result, answer),
        strong(percent(result.dark)),
        f" goes to the {_others(result)}{runner_up}. Entropy: {result.entropy:.3g} nats of at most "
        f"{math.log(result.classes):.3g}.{several}",
    )


def _hard_target(result: SoftTargetsResult, first: Target) -> str:
    """What the hard target says instead; a sentence alone has none but the teacher's own choice."""
    if not result.truth:
        return ", which as a hard target would be 100%. "
    if result.truth == first.name.strip():
        return ", the true answer, which its label puts at 100%. "
    return f" and the true answer, “{result.truth}”, {percent(result.truth_soft)}, which its label puts at 100%. "


def _others(result: SoftTargetsResult) -> str:
    return "other class" if result.classes == 2 else f"{result.classes - 1:,} other classes"


def soft_targets_figure(result: SoftTargetsResult) -> dict[str, Any]:
    """Hard beside soft, and entropy and dark knowledge against T. The page computes again what depends on T (softening.js).

    named: how many classes stand by name; logits: all of them, packed, largest first.
    """
    data = [*_bars(result), *_curve(result, "entropy", 1, "@third"), *_curve(result, "wrong classes", 2, "@second")]
    described = soft_targets_sentence(result).striptags()
    drawn = picture(data, described, **_layout(result, narrow=False))
    return drawn | {
        "narrow": picture(data, described, **_layout(result, narrow=True))["layout"],
        "logits": result.logits,
        "named": sum(target.name != REST or target.logit is not None for target in result.targets),
        "temperature": result.temperature,
    }


def _bars(result: SoftTargetsResult) -> list[dict[str, Any]]:
    shared = {"type": "bar", "orientation": "h", "y": list(range(len(result.targets))), "cliponaxis": False}
    traces = []
    for name, values, colour, width in (
        ("hard target", [target.hard for target in result.targets], "@untouched", 0.86),
        ("soft target", [target.soft for target in result.targets], "@accent", 0.5),
    ):
        traces.append(
            {
                **shared,
                "name": name,
                "x": values,
                "text": ["" if name.startswith("hard") else percent(value) for value in values],
                "textposition": ["inside" if value > 0.7 else "outside" for value in values],
                "textfont": {"size": 15},
                "insidetextfont": {"size": 15, "color": "@inside"},
                "width": width,
                "constraintext": "none",
                "marker": {"color": colour},
                "hovertemplate": f"{name} %{{x:.4%}}<extra></extra>",
            }
        )
    return traces


def _curve(result: SoftTargetsResult, name: str, column: int, colour: str) -> list[dict[str, Any]]:
    """A line against T, and a mark at the chosen one with a line down to the axis."""
    axes = {"xaxis": f"x{column + 1}", "yaxis": f"y{column + 1}"}
    now = (result.entropy, result.dark)[column - 1]
    form = "%{y:.3f} nats" if column == 1 else "%{y:.3%}"
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": [point[0] for point in result.curve],
        "y": [point[column] for point in result.curve],
        "line": {"color": colour, "width": 3},
        "hovertemplate": f"T = %{{x:.3g}}: {form}<extra>{name}</extra>",
        "showlegend": False,
        **axes,
    }
    here = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [result.temperature] * 2,
        "y": [0, now],
        "line": {"color": "@text", "width": 1.5, "dash": "dot"},
        "marker": {"color": colour, "size": [0, 13], "line": {"color": "@text", "width": 1.5}},
        "cliponaxis": False,
        "hoverinfo": "skip",
        "showlegend": False,
        **axes,
    }
    return [line, here]


def _layout(result: SoftTargetsResult, narrow: bool) -> dict[str, Any]:
    """Side by side, or below each other on a phone."""
    rows = len(result.targets)
    bars = {"x": [0, 1], "y": [0.56, 1]} if narrow else {"x": [0, 0.5], "y": [0, 1]}
    upper, lower = ([0.3, 0.46], [0, 0.16]) if narrow else ([0.58, 1], [0, 0.42])
    across = [0, 1] if narrow else [0.66, 1]
    names = [label(target.name if target.logit is not None else _rest(result), 22) for target in result.targets]
    ticks = {"tickmode": "array", "tickvals": list(range(rows)), "ticktext": names}
    return {
        "height": 760 if narrow else max(330, 76 + 30 * rows),
        "barmode": "overlay",
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        "xaxis": {"domain": bars["x"], "range": [0, 1.06], "tickformat": ".0%", "dtick": 0.5, "anchor": "y"},
        "yaxis": {"domain": bars["y"], "autorange": "reversed", "showgrid": False, "tickfont": {"size": 16}, **ticks},
        "xaxis2": {**TEMPERATURE_AXIS, "title": {"text": ""}, "domain": across, "anchor": "y2"},
        "yaxis2": {
            "domain": upper,
            "anchor": "x2",
            "range": [0, 1.08 * math.log(result.classes)],
            "title": {"text": "entropy (nats)", "font": {"size": 14}},
            "nticks": 4,
        },
        "xaxis3": {**TEMPERATURE_AXIS, "domain": across, "anchor": "y3"},
        "yaxis3": {
            "domain": lower,
            "anchor": "x3",
            "range": [0, 1.08],
            "tickformat": ".0%",
            "dtick": 0.5,
            "title": {"text": "wrong classes", "font": {"size": 14}},
        },
        "uirevision": "softening",
    }


def _rest(result: SoftTargetsResult) -> str:
    return f"{result.classes - len(result.targets) + 1:,} others"
