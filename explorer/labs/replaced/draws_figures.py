"""Many draws as pictures, sentences and tables: the ROC curve, and hits and false alarms against the threshold."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Panel, Picture, axis, level, line, note, picture, points
from explorer.charts.words import caption, counted, fixed, percent, progress_bar, prose, strong
from explorer.labs.replaced.schema import THRESHOLD, DrawsResult
from explorer.models.records import Scores
from explorer.tables import Table


def draws_table(result: DrawsResult) -> Table:
    """threshold, hits (share of the replaced tokens at or above it), false_alarms (share of the original ones)."""
    rows = zip(result.thresholds, result.hits, result.false_alarms, strict=True)
    return Table.of(("threshold", "hits", "false_alarms"), list(rows))


def draws_sentence(result: DrawsResult) -> Markup:
    """State the area under the curve, in words."""
    if result.auc is None:
        all_or_none = "Every token differs" if result.replaced else "No token differs"
        return prose(all_or_none, " from the original, so there is nothing to tell apart.")
    return prose("A replaced token scores above an original one with a chance of ", strong(fixed(result.auc, 3)), ".")


def draws_notes(result: DrawsResult) -> Markup:
    """Say what was drawn, the area's spread over the draws, and what the usual threshold gives."""
    verb = "was" if result.chosen == 1 else "were"
    counts = f"In {counted(result.draws, 'draw')} {counted(result.chosen, 'token')} {verb} masked, and {result.replaced:,} of "
    counts += f"{result.tokens:,} differ{'s' if result.replaced == 1 else ''} from the original."
    if result.auc is None:
        return caption(counts)
    hits, alarms = result.at_half
    single = [value for value in result.aucs if value is not None]
    spread = f", {fixed(min(single))} to {fixed(max(single))} in single draws" if len(single) > 1 else ""
    return caption(
        counts,
        f" That chance is the area under the curve, the AUC{spread}. At a threshold of {THRESHOLD:.0%} the discriminator "
        f"finds {percent(hits)} of the replaced tokens and takes {percent(alarms)} of the original ones for replaced.",
    )


def card_line(model: str, scores: Scores | None) -> Markup:
    """State what was measured of the discriminator on held-out text, to compare with."""
    area = scores.find("rtd_auc") if scores else None
    if scores is None or area is None:
        return caption("No figures on held-out text are kept for ", model, ".")
    found, alarms = scores.find("rtd_found"), scores.find("rtd_false")
    told = f": {percent(found.value)} found, {percent(alarms.value)} false alarms" if found and alarms else ""
    return caption(f"{model} on held-out Wikipedia text ({area.over}): AUC {fixed(area.value, 3)}{told}.")


def progress_line(result: DrawsResult) -> Markup:
    """Return a bar while draws are still to come."""
    return progress_bar(result.draws / result.of, "draws") if result.draws < result.of else Markup("")


def draws_figure(result: DrawsResult) -> Picture:
    """Draw the ROC curve; beside it hits and false alarms against the threshold."""
    hits, alarms = result.at_half
    told = "hits %{y:.1%}, false alarms %{x:.1%}"
    curve = [
        line([0, 1], [0, 1], "@muted", "chance", width=2, dash="dot"),
        # (0, 0) is the threshold that nothing reaches.
        line([0, *result.false_alarms], [0, *result.hits], "@first", "ROC", hover=told),
        points([alarms], [hits], "@fifth", "threshold 50%", size=13, symbol="diamond", hover=told),
    ]
    area = "" if result.auc is None else f"AUC {result.auc:.3f}"
    share = axis(percent=True, span=(-0.02, 1.02))
    roc = Panel(
        curve, axis("false alarms") | share, axis("hits") | share, "ROC", [note(area, 0.62, 0.2, font={"size": 18})]
    )
    against = "threshold %{x:.2%}: %{y:.1%}"
    lines = [
        line(result.thresholds, result.hits, "@third", "hits", hover=against),
        line(result.thresholds, result.false_alarms, "@second", "false alarms", hover=against),
    ]
    across = axis("threshold on P(replaced)") | share
    marks = [level(THRESHOLD, "@muted", dash="dot", upright=True)]
    return picture(
        draws_sentence(result),
        [roc, Panel(lines, across, share, "at or above the threshold", marks)],
        gap=0.12,
        height=380,
        low=330,
        phone=680,
        legend=True,
    )
