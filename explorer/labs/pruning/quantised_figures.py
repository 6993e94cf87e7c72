"""A model in fewer bits: size, time and metric side by side."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import label, layout, megabytes, picture, prose, strong
from explorer.labs.pruning.schema import FormResult, QuantiseResult
from explorer.tables import Table


def _name(form: FormResult) -> str:
    return form.form if not form.pruned else f"{100 * form.pruned:.0f}% pruned, {form.form}"


def quantised_table(result: QuantiseResult) -> Table:
    """form, share (pruned), bytes, milliseconds, metric."""
    return Table.of(
        ("form", "share", "bytes", "milliseconds", "metric"),
        [(form.form, form.pruned, form.bytes, form.milliseconds, form.metric) for form in result.forms],
    )


def quantised_sentence(result: QuantiseResult) -> Markup:
    """What each form has to say for itself against fp32."""
    whole, others = result.forms[0], result.forms[1:]
    timed = f", {whole.milliseconds:.0f} ms" if whole.milliseconds else ""
    parts: list[str] = [f"fp32: {megabytes(whole.bytes)}{timed}, {result.about.metric.lower()} {_metric(whole)}. "]
    for form in others:
        faster = (
            f", {whole.milliseconds / form.milliseconds:.1f} times as fast"
            if whole.milliseconds and form.milliseconds
            else ""
        )
        parts += [
            strong(_name(form)),
            f" is {whole.bytes / form.bytes:.1f} times smaller{faster} and has {result.about.metric.lower()} {_metric(form)}. ",
        ]  # fmt: skip
    notes = dict.fromkeys(form.note for form in result.forms if form.note)
    last = (
        f"Measured on this server's CPU at a batch of {result.batch}. "
        if result.done
        else "Still to be timed, in turns. "
    )
    return prose(*parts, last, *notes)


def _metric(form: FormResult) -> str:
    return "not defined" if form.metric is None else f"{form.metric:.3f}"


def quantised_figure(result: QuantiseResult) -> dict[str, Any]:
    """Three groups of bars, one for each measure."""
    names = [_name(form) for form in result.forms]
    measures: tuple[tuple[str, list[float | None], str, str], ...] = (
        ("size (MB)", [form.bytes / 1e6 for form in result.forms], "@first", ".0f"),
        ("milliseconds", [form.milliseconds for form in result.forms], "@second", ".1f"),
        (label(result.about.metric), [form.metric for form in result.forms], "@third", ".3f"),
    )
    traces = []
    for place, (_, values, colour, digits) in enumerate(measures):
        suffix = "" if place == 0 else str(place + 1)
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": names,
                "x": values,
                "xaxis": f"x{suffix}",
                "yaxis": f"y{suffix}",
                "marker": {"color": colour},
                "text": ["" if value is None else format(value, digits) for value in values],
                "textposition": "auto",
                "textangle": 0,
                "insidetextfont": {"color": "@inside"},
                "cliponaxis": False,
                "hovertemplate": f"%{{y}}: %{{x:{digits}}}<extra></extra>",
            }
        )
    titles = [title for title, _, _, _ in measures]
    drawn = picture(traces, quantised_sentence(result).striptags(), **_layout(titles, len(names), narrow=False))
    return {**drawn, "narrow": layout(**_layout(titles, len(names), narrow=True))}


def _layout(titles: list[str], bars: int, narrow: bool) -> dict[str, Any]:
    """Side by side with one list of names, or one below the other."""
    shape: dict[str, Any] = {
        "height": 3 * (90 + 40 * bars) if narrow else 120 + 46 * bars,
        "margin": {"l": 8, "r": 12, "t": 12, "b": 8},
    }
    for place, title in enumerate(titles):
        suffix = "" if place == 0 else str(place + 1)
        across = [0, 1] if narrow else [place * 0.345, place * 0.345 + 0.29]
        down = [1 - place * 0.38 - 0.22, 1 - place * 0.38] if narrow else [0, 1]
        shape[f"xaxis{suffix}"] = {
            "domain": across,
            "anchor": f"y{suffix}",
            "title": {"text": title},
            "rangemode": "tozero",
            "nticks": 4,
        }
        shape[f"yaxis{suffix}"] = {
            "domain": down,
            "anchor": f"x{suffix}",
            "autorange": "reversed",
            "type": "category",
            "showgrid": False,
            "showticklabels": narrow or place == 0,
        }
    return shape
