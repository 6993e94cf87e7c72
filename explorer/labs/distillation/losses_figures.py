"""A teacher and a student on one sentence: their distributions, the losses, and why the soft one is multiplied by T²."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Picture, axis, chart, line, rows
from explorer.charts.words import caption, in_quotes, label, percent, prose, strong
from explorer.labs.distillation.schema import REST, LossesResult
from explorer.labs.distillation.soft_figures import class_bars
from explorer.tables import Table


def losses_table(result: LossesResult) -> Table:
    """loss, value (empty if it cannot be had), note."""
    return Table.each(result.losses, loss="slug", value="value", note="note")


def gradients_table(result: LossesResult) -> Table:
    """temperature, without_factor, with_factor: norms of the gradient with respect to the student's logits."""
    return Table.of(("temperature", "without_factor", "with_factor"), result.gradients)


def losses_list(result: LossesResult) -> str:
    """Write Markdown: each loss with its formula and value. Nothing in it comes from a visitor."""
    lines = ["| loss | formula | value |", "|---|---|---|"]
    for loss in result.losses:
        value = f"**{loss.value:.4g}**" if loss.value is not None else f"not here: {loss.note}"
        lines.append(f"| {loss.title} | ${loss.formula}$ | {value} |")
    return "\n".join(lines)


def losses_sentence(result: LossesResult) -> Markup:
    """Say whether the student gives its teacher's answer, and state the soft loss."""
    soft = _values(result)["soft"]
    if _is_copy(result):
        return prose(strong(result.student), " says what its teacher says: ", strong("every soft loss is 0"), ".")
    # The rest is many classes and no answer.
    top = max(result.classes, key=lambda row: row.student if row.name != REST else -1.0)
    agreed = "the same" if top.name == result.answer else in_quotes(top.name, bold=False)
    return prose(
        "Where ", strong(result.teacher), " answers ", in_quotes(result.answer, bold=False), ", ", strong(result.student),
        " answers ", agreed, ": the soft loss is ", strong(f"{soft:.3g}"), ".",
    )  # fmt: skip


def losses_notes(result: LossesResult) -> Markup:
    """State the student's share for the teacher's answer, the hard loss, and the average of both."""
    values, against = _values(result), _hard_label(result)
    if _is_copy(result):
        return caption("Against ", against, f" it still pays {values['hard']:.3g}, as the teacher would.")
    share = percent(next(row.student for row in result.classes if row.name == result.answer))
    gives = prose(in_quotes(result.answer, bold=False), f" {share} at T = {result.temperature:.3g}")
    average = f"with α = {result.alpha:.3g} the average of both losses is {values['weighted']:.3g}"
    return caption(
        "The student gives ", gives, ". The hard loss (against ", against, f") is {values['hard']:.3g}; {average}."
    )


def _values(result: LossesResult) -> dict[str, float]:
    return {loss.slug: loss.value or 0.0 for loss in result.losses}


def _is_copy(result: LossesResult) -> bool:
    """Return whether the student's logits are the teacher's."""
    return not _values(result)["l2"]


def _hard_label(result: LossesResult) -> Markup:
    """Name what stands in a label's place: the true answer if it is known, else what the teacher thinks likeliest."""
    if result.truth:
        return prose("the true answer ", in_quotes(result.truth, bold=False))
    return prose("the teacher's own ", in_quotes(result.answer, bold=False))


def losses_figure(result: LossesResult) -> Picture:
    """Draw each class twice: the teacher's soft target and the student's."""
    classes = result.classes
    traces = [
        class_bars("teacher", [row.teacher for row in classes], "@accent"),
        class_bars("student", [row.student for row in classes], "@second"),
    ]
    across = axis(f"softmax(z / T) at T = {result.temperature:.3g}", percent=True, span=(0, 1.05))
    down, said = rows([label(row.name, 22) for row in classes]), losses_sentence(result)
    return chart(said, traces, across, down, height=110 + 38 * len(classes), legend=True, barmode="group", bargap=0.25)


def gradients_sentence(result: LossesResult) -> Markup:
    """Say what the gradient does as T grows, without the factor and with it."""
    if not result.limit:  # what autograd leaves of zero is rounding
        return prose(
            "The student gives its teacher's logits, so the soft loss has ", strong("no gradient at any T"), "."
        )
    tends = strong(f"{result.limit:.3g}")
    return prose("As T grows the gradient of the plain KL goes to zero; times T² it tends to ", tends, ".")


def gradients_notes(result: LossesResult) -> Markup:
    """State how far the gradient's norm falls over the drawn range, and when the soft and the hard loss keep their
    proportion.
    """
    if not result.limit:
        return Markup("")
    # The curve has no points at the round numbers, so the nearest are taken.
    at_ten = min(result.gradients, key=lambda point: abs(point[0] - 10))
    at_one = min(result.gradients, key=lambda point: abs(point[0] - 1))
    last = result.gradients[-1]
    fall = at_ten[1] / last[1]
    moves = f"falls to 1/{fall:.3g}" if fall > 1 else f"rises to {1 / fall:.3g} times as much"
    return caption(
        f"From T = {at_ten[0]:.3g} to {last[0]:.3g} the gradient of the plain KL {moves} (1/T² alone would be "
        f"1/{(last[0] / at_ten[0]) ** 2:.3g}). Times T² it is {last[2]:.3g} there; what it tends to is the norm of (zₛ − zₜ)/N "
        "with means taken off: for large T the soft and the hard loss keep their proportion. For small T they do not: at T = 1 "
        f"it is {at_one[2]:.3g}."
    )


def gradients_figure(result: LossesResult) -> Picture:
    """Draw both norms against T on logarithmic axes, with the limit."""
    points = result.gradients if result.limit else ()
    lines = (
        ("without T²", [point[1] for point in points], "@second", ""),
        ("times T²", [point[2] for point in points], "@accent", ""),
        ("its limit", [result.limit] * len(points), "@muted", "dash"),
    )
    temperatures = [point[0] for point in points]
    traces = [
        line(temperatures, values, colour, name, dash=dash, hover="T = %{x:.3g}: %{y:.3g}", aside=name)
        for name, values, colour, dash in lines
    ]
    across = axis("temperature T", log=True, tickvals=[0.1, 1, 10, 100], ticktext=["0.1", "1", "10", "100"])
    up = axis("norm of ∂L/∂zₛ", log=True, exponentformat="power", dtick=1)
    return chart(gradients_sentence(result), traces, across, up, height=330, legend=True)
