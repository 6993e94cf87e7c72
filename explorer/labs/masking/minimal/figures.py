"""Thirty minimal pairs: which of them a model ranks right, as a picture, a sentence and a table."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, level, picture, rows
from explorer.charts.words import caption, fixed, label, progress_bar, prose, signed, strong
from explorer.labs.masking.minimal.examples import KINDS, PAIRS
from explorer.labs.masking.minimal.schema import MinimalPairsResult, ScoredPair
from explorer.tables import Table

STOPPED = Markup("Stopped. The pairs that were scored stay.")


def minimal_pairs_table(result: MinimalPairsResult) -> Table:
    """kind, better, worse, score_of_better, score_of_worse (nats), tokens_of_better, tokens_of_worse, difference, right."""
    return Table.each(
        result.pairs,
        kind=lambda pair: pair.kind,
        better=lambda pair: pair.better.sentence,
        worse=lambda pair: pair.worse.sentence,
        score_of_better=lambda pair: pair.better.total,
        score_of_worse=lambda pair: pair.worse.total,
        tokens_of_better=lambda pair: len(pair.better.tokens),
        tokens_of_worse=lambda pair: len(pair.worse.tokens),
        difference=lambda pair: pair.difference,
        right=lambda pair: "yes" if pair.difference > 0 else "no",
    )


def minimal_pairs_sentence(result: MinimalPairsResult) -> Markup:
    """How many are ranked right."""
    right = strong(f"{result.right()} of {len(result.pairs)}")
    return prose(label(result.model), " ranks ", right, " pairs right.")


def minimal_pairs_notes(result: MinimalPairsResult) -> Markup:
    """How many of each kind are ranked right, and which isn't."""
    kinds = [f"{result.right(kind)} of {len(result.of(kind))} on {kind}" for kind in KINDS if result.of(kind)]
    parts = [f"{', '.join(kinds)}."]
    per_token = sum(pair.better.per_token > pair.worse.per_token for pair in result.pairs)
    if per_token != result.right():
        parts.append(f" By the mean over the tokens they are {per_token}.")
    if wrong := [pair for pair in result.pairs if pair.difference <= 0]:
        furthest = min(wrong, key=lambda pair: pair.difference)
        if not furthest.difference:
            return caption(*parts, f" It finds “{furthest.worse.sentence}” as likely as “{furthest.better.sentence}”.")
        parts.append(f" Furthest off: it finds “{furthest.worse.sentence}” likelier than “{furthest.better.sentence}”")
        parts.append(f", by {fixed(-furthest.difference)} nats.")
    return caption(*parts)


def minimal_pairs_progress(result: MinimalPairsResult) -> Markup:
    """A bar while pairs are being scored."""
    if result.is_done:
        return Markup("")
    share = len(result.pairs) / len(PAIRS)
    return progress_bar(share, "pairs scored") + Markup(" {} of {} pairs").format(len(result.pairs), len(PAIRS))


def minimal_pairs_figure(result: MinimalPairsResult) -> Picture:
    """For each kind its pairs as bars: how far the better sentence is ahead, in nats."""
    furthest = max(1.0, *(abs(pair.difference) for pair in result.pairs))
    least = min(0.0, *(pair.difference for pair in result.pairs))
    span = (1.1 * least - 0.04 * furthest, 1.5 * furthest)
    panels = []
    for kind in KINDS:
        pairs, found = [pair for pair in PAIRS if pair.kind == kind], result.of(kind)
        title = f"{kind}: {result.right(kind)} of {len(pairs)}"
        down = rows([label(pair.label) for pair in pairs], size=14) | {
            "autorange": False,
            "range": [len(pairs) - 0.4, -0.6],
            "zeroline": False,
        }
        across = axis("ahead by (nats)", span=span, nticks=4)
        panels.append(Panel([_bars(found)], across, down, title, [level(0, "@muted", dash="solid", upright=True)]))
    return picture(minimal_pairs_sentence(result), panels, height=360, phone=1120, gap=0.15, bargap=0.25)


def _bars(pairs: tuple[ScoredPair, ...]) -> Trace:
    differences = [pair.difference for pair in pairs]
    colours = ["@kept" if difference > 0 else "@random" for difference in differences]
    read = [[label(pair.better.sentence, 70), label(pair.worse.sentence, 70)] for pair in pairs]
    look: Look = {
        "texts": [signed(value, 1) if value > 0 else "" for value in differences],
        "size": 14,
        "customdata": read,
    }
    hover = "%{customdata[0]}<br>%{customdata[1]}<br>%{x:.2f} nats"
    return bars(range(len(pairs)), differences, colours, hover=hover, **look)
