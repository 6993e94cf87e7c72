"""Soft targets as a picture that the page redraws with the temperature, a sentence and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import Axis, Look, Panel, Picture, Trace, axis, bars, line, picture, rows
from explorer.charts.words import caption, in_quotes, label, percent, prose, strong
from explorer.labs.distillation.schema import COLDEST, HOTTEST, REST, SoftTargetsResult, Target
from explorer.tables import Table


def soft_targets_table(result: SoftTargetsResult) -> Table:
    """target, logit, hard, soft."""
    return Table.each(result.targets, target="name", logit="logit", hard="hard", soft="soft")


def soft_targets_sentence(result: SoftTargetsResult) -> Markup:
    """State the answer's probability, and where a hard target would put everything."""
    answer = result.targets[0]
    hard = in_quotes(result.truth, bold=False) if _is_wrong(result) else "it"
    start = f"At T = {result.temperature:.3g} {result.teacher} gives "
    said = prose("; a hard target would give everything to ", hard, ".")
    return prose(start, in_quotes(answer.name), " ", strong(percent(answer.soft)), said)


def soft_targets_notes(result: SoftTargetsResult) -> Markup:
    """State the probability of all other classes, what the label says, and how far the answer is from certain and from
    uniform.
    """
    second = result.targets[1]
    parts: list[str] = [_label(result), f"{percent(result.dark)} goes to the {_others(result)}"]
    if second.name != REST:
        parts += [_leading(result, second), in_quotes(second.name, bold=False)]
        parts.append(f" ({percent(second.soft)})" if result.classes > 2 else "")
    parts.append(f". Entropy: {result.entropy:.3g} nats of at most {math.log(result.classes):.3g}.")
    parts.append(f" The first of {result.places} masks is shown." if result.places > 1 else "")
    return caption(*parts)


def _leading(result: SoftTargetsResult, second: Target) -> str:
    """Say how the second class stands among the others; of two classes it is the only one."""
    if result.classes == 2:
        return ", "
    return ", most of it on " if second.soft > result.dark / 2 else ", led by "


def _is_wrong(result: SoftTargetsResult) -> bool:
    """Return whether the true answer is known and isn't the teacher's."""
    return bool(result.truth) and result.truth != result.targets[0].name.strip()


def _label(result: SoftTargetsResult) -> str:
    """Say what the hard target is; a sentence alone has none but the teacher's own choice."""
    if not result.truth:
        return ""
    if _is_wrong(result):
        return f"The label puts 100% on “{result.truth}”, to which the teacher gives {percent(result.truth_soft)}. "
    return "The label puts 100% on the same answer. "


def _others(result: SoftTargetsResult) -> str:
    return "other class" if result.classes == 2 else f"{result.classes - 1:,} other classes"


def soft_targets_figure(result: SoftTargetsResult) -> Picture:
    """Draw hard beside soft, and entropy and dark knowledge against T. The page computes again what depends on T
    (softening.js).

    named: how many classes stand by name; logits: all of them, packed, largest first.
    """
    hard, soft = [target.hard for target in result.targets], [target.soft for target in result.targets]
    names = [label(target.name if target.logit is not None else _rest(result), 22) for target in result.targets]
    shares, nats = axis(percent=True, dtick=0.5), (0, 1.08 * math.log(result.classes))
    drawn = [
        bars(range(len(names)), hard, "@untouched", "hard target", width=0.86, hover="hard target %{x:.4%}"),
        class_bars("soft target", soft, "@accent", width=0.5),
    ]
    panels: list[Panel | list[Panel]] = [
        Panel(drawn, shares | axis(span=(0, 1.06)), rows(names, size=16), width=1.5, height=2.75),
        [
            Panel(
                _curve(result, "entropy", 1, "@third", "%{y:.3f} nats"),
                _temperatures(),
                axis("entropy (nats)", title_size=14, span=nats, nticks=4),
            ),
            Panel(
                _curve(result, "wrong classes", 2, "@second", "%{y:.3%}"),
                _temperatures("temperature T"),
                axis("wrong classes", title_size=14, span=(0, 1.08)) | shares,
            ),
        ],
    ]
    look: Look = {"height": max(330, 76 + 30 * len(names)), "phone": 760, "gap": 0.16, "right": 24}
    # One name: what the slider set stays when another answer is drawn.
    look |= {"legend": True, "barmode": "overlay", "uirevision": "softening"}
    return picture(soft_targets_sentence(result), panels, **look) | {  # beside the picture, for softening.js
        "logits": result.logits,
        "named": sum(target.name != REST or target.logit is not None for target in result.targets),
        "temperature": result.temperature,
    }


def class_bars(name: str, values: Sequence[float], colour: str, **look: Any) -> Trace:
    """Draw a bar a class, with its percentage: inside if the bar is long."""
    at = ["inside" if value > 0.7 else "outside" for value in values]  # no room is left outside
    texts, hover = [percent(value) for value in values], f"{name} %{{x:.4%}}"
    look = {"constraintext": "none", "hover": hover, **look}
    return bars(range(len(values)), values, colour, name, texts=texts, at=at, size=15, **look)


def _temperatures(title: str = "") -> Axis:
    """Return the axis of temperatures, logarithmic."""
    ticks = [0.1, 0.3, 1, 3, 10]
    span = (math.log10(COLDEST), math.log10(HOTTEST))
    # Plotly takes the ends of a logarithmic axis as powers of ten.
    return axis(title, log=True, span=span, tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])


def _curve(result: SoftTargetsResult, name: str, column: int, colour: str, form: str) -> list[Trace]:
    """Draw a line against T, and a mark at the chosen one with a line down to the axis."""
    across, up = [point[0] for point in result.curve], [point[column] for point in result.curve]
    marker = {"color": colour, "size": [0, 13], "line": {"color": "@text", "width": 1.5}}  # no mark at the foot
    at, now = [result.temperature] * 2, [0, (result.entropy, result.dark)[column - 1]]
    return [
        line(across, up, colour, hover=f"T = %{{x:.3g}}: {form}", aside=name, showlegend=False),
        line(at, now, "@text", width=1.5, dash="dot", size=13, marker=marker, cliponaxis=False, showlegend=False),
    ]


def _rest(result: SoftTargetsResult) -> str:
    return f"{result.classes - len(result.targets) + 1:,} others"
