"""A model in fewer bits: size, time and metric side by side."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Panel, Picture, axis, bars, picture
from explorer.charts.words import caption, label, megabytes, prose, strong
from explorer.labs.pruning.importance_figures import metric_text
from explorer.labs.pruning.schema import FormResult, QuantiseResult
from explorer.tables import Table


def _name(form: FormResult) -> str:
    return form.form if not form.pruned else f"{100 * form.pruned:.0f}% pruned, {form.form}"


def quantised_table(result: QuantiseResult) -> Table:
    """form, share (pruned), bytes, milliseconds, metric."""
    return Table.each(result.forms, "form", share="pruned", bytes="bytes", milliseconds="milliseconds", metric="metric")


def quantised_sentence(result: QuantiseResult) -> Markup:
    """Say how much smaller the smallest form is than fp32, and what it still reaches."""
    whole = result.forms[0]
    least = min(result.forms, key=lambda form: form.bytes)
    if least is whole:
        return prose("No form is smaller than fp32.")
    smaller, metric = strong(f"{whole.bytes / least.bytes:.1f} times smaller"), result.about.metric.lower()
    return prose(
        strong(_name(least)),
        " is ",
        smaller,
        f" than fp32 and has {metric} ",
        metric_text(least.metric, result.about.metric),
        ".",
    )


def quantised_notes(result: QuantiseResult) -> Markup:
    """Say what each form gains and loses against fp32."""
    whole, others = result.forms[0], result.forms[1:]
    timed, metric = f", {whole.milliseconds:.0f} ms" if whole.milliseconds else "", result.about.metric.lower()
    parts: list[str] = [
        f"fp32: {megabytes(whole.bytes)}{timed}, {metric} {metric_text(whole.metric, result.about.metric)}. "
    ]
    for form in others:
        times = whole.milliseconds / form.milliseconds if whole.milliseconds and form.milliseconds else None
        faster = "" if times is None else f", {times:.1f} times as fast"
        reached = metric_text(form.metric, result.about.metric)
        smaller = f" is {whole.bytes / form.bytes:.1f} times smaller{faster} and has {metric} {reached}. "
        parts += [strong(_name(form)), smaller]
    if any(form.form == "int8" and 4 * form.bytes > whole.bytes for form in others):
        parts.append("Embeddings and LayerNorms stay in fp32, so int8 is no quarter of it. ")
    notes = dict.fromkeys(form.note for form in result.forms if form.note)
    last = (
        f"Measured on this server's CPU at a batch of {result.batch}. "
        if result.done
        else "Still to be timed, in turns. "
    )
    return caption(*parts, last, *notes)


def quantised_figure(result: QuantiseResult) -> Picture:
    """Draw three groups of bars, one for each measure."""
    forms = result.forms
    panels = [
        _measure(result, "size (MB)", [form.bytes / 1e6 for form in forms], "@first", ".0f"),
        _measure(result, "milliseconds", [form.milliseconds for form in forms], "@second", ".1f"),
        _measure(result, label(result.about.metric), [form.metric for form in forms], "@third", ".3f"),
    ]
    tall, phone = 120 + 46 * len(forms), 3 * (90 + 40 * len(forms))
    return picture(quantised_sentence(result), panels, height=tall, phone=phone, gap=0.055, above=12)


def _measure(result: QuantiseResult, title: str, values: list[float | None], colour: str, form: str) -> Panel:
    texts = ["" if value is None else format(value, form) for value in values]
    names, hover = [_name(one) for one in result.forms], f"%{{y}}: %{{x:{form}}}"
    drawn = bars(names, values, colour, texts=texts, at="auto", textangle=0, hover=hover)
    return Panel([drawn], axis(title, zero=True, nticks=4), axis(names=True, down=True, outer=True))
