"""The sentence-pair lab's pictures, sentences and tables, from plain results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Look, Picture, axis, bars, chart, colorbar, frame, heat
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, facts, fixed, label, measures, percent, prose, sentences, strong
from explorer.labs.pairs.schema import CLASSES, AllPairsResult, OrderResult, PairResult, losses_of
from explorer.models.records import Scores
from explorer.tables import Table

SUM = Markup(
    "In pretraining it is added to the loss of the masked words, <i>L</i> = <i>L</i><sub>MLM</sub> + <i>L</i><sub>NSP</sub>: see "
    '“One row” on <a href="pretrain">Pretrain</a>'
)

NAMES = ("is next", "not next")
"""What the head's classes are called."""


def pair_chips(result: PairResult) -> dict[str, Any]:
    """Return the input as BERT sees it; below each token its segment id and its position."""
    row = []
    for token in result.tokens:
        style = ("segment-a", "segment-b")[token.segment] + (" special" if token.special else "")
        title = f"{token.text}: segment {token.segment}, position {token.position}"
        below = f"{token.segment} · {token.position}"
        row.append(chip(token.shown, title, style, joined=token.joined, below=below))
    return chips("The input: tokens, with segment and position below each", row)


def pair_table(result: PairResult) -> Table:
    """class, logit, probability, loss (of the head where this class is the true one, in nats)."""
    return class_table(CLASSES, result)


def class_table(classes: Sequence[str], result: PairResult | OrderResult) -> Table:
    """Tabulate either head's classes."""
    rows = zip(classes, result.logits, result.probabilities, losses_of(result.logits), strict=True)
    return Table.of(("class", "logit", "probability", "loss"), [*rows])


def pair_sentence(result: PairResult) -> Markup:
    """Say what the head says."""
    verdicts = ("the second sentence follows the first", "the second sentence does not follow")
    return head_sentence("The [CLS] head", verdicts, "next", result)


def head_sentence(who: str, verdicts: Sequence[str], asked: str, result: PairResult | OrderResult) -> Markup:
    """Say which class either head chooses. asked: what its first probability is of."""
    said = verdicts[0] if result.probabilities[0] >= 0.5 else verdicts[1]
    share = strong(percent(result.probabilities[0]))
    return prose(who, " says that ", strong(said), f": P({asked}) = ", share, ".")


def head_notes(names: Sequence[str], result: PairResult | OrderResult) -> Markup:
    """State the two logits of either head, by the names of its classes."""
    first, second = (f"{fixed(logit)} ({name})" for logit, name in zip(result.logits, names, strict=True))
    return caption(f"The softmax of logits {first} and {second}.")


def pair_notes(result: PairResult) -> Markup:
    """State the two logits."""
    return head_notes(NAMES, result)


def pair_loss(result: PairResult) -> Markup:
    """Say what the verdict costs in pretraining, for either truth, and what it is added to."""
    return loss_line("NSP", ("if it does follow", "if it does not"), result) + caption(SUM)


def loss_line(task: str, truths: Sequence[str], result: PairResult | OrderResult) -> Markup:
    """State the head's term of the pretraining loss for each class as the true one, beside a coin's.

    truths: what each class is called.
    """
    name = Markup("<i>L</i><sub>{}</sub> = −ln <i>P</i>(true class)").format(task)
    values = [
        prose(f"{truth}: ", strong(fixed(loss, 3)))
        for truth, loss in zip(truths, losses_of(result.logits), strict=True)
    ]
    return facts(measures(*values, f"guessing: {fixed(math.log(2), 3)} nats", name=name))


def pair_trust_sentence(model: str, scores: Scores | None) -> Markup:
    """Say how far to believe the verdict on everyday sentences, by the model's held-out figures, or by BERT's own."""
    right = scores.find("nsp_everyday") if scores else None
    accepted = scores.find("nsp_everyday_accepted") if scores else None
    if right is None or accepted is None:
        said = "Not measured here. BERT's own was right on 97–98% of pairs of segments (Devlin et al. 2019, footnote 5)"
        return caption(said, "; 50% is chance.")
    count = right.over.split(",")[0].removesuffix(" pairs")
    said = f"How far to believe it: on {count} pairs of everyday sentences {label(model)} is right in {percent(right.value)}"
    return caption(said, f" (50% is chance): it accepts {percent(accepted.value)} of the unrelated ones.")


def pair_figure(result: PairResult) -> Picture:
    """Draw two bars: the probability of each class."""
    return two_bars(NAMES, result, pair_sentence(result))


def two_bars(names: Sequence[str], result: PairResult | OrderResult, said: Markup) -> Picture:
    """Draw a head's two classes as bars, each with its probability and its logit."""
    shares = result.probabilities
    texts = [f"{percent(share)}<br>logit {fixed(logit)}" for share, logit in zip(shares, result.logits, strict=True)]
    look: Look = {"texts": texts, "at": "auto", "size": 17, "hover": "%{y}: %{x:.4%}"}
    across, down = axis("probability", percent=True, span=(0, 1.02)), axis(down=True, grid=False, size=18)
    return chart(said, [bars(names, shares, ["@first", "@second"], **look)], across, down, height=240, bargap=0.2)


def all_pairs_table(result: AllPairsResult) -> Table:
    """first, second (sentence numbers from 1), probability that second follows first."""
    return Table.of(("first", "second", "probability"), _scored(result))


def _scored(result: AllPairsResult) -> list[tuple[int, int, float]]:
    return [
        (first, second, probability)
        for first, row in enumerate(result.probabilities, start=1)
        for second, probability in enumerate(row, start=1)
        if probability is not None
    ]


def all_pairs_sentence(result: AllPairsResult) -> Markup:
    """Say how often the true successor has the highest score of its row; of two sentences, how both orders score."""
    pairs, starts = _scored(result), range(1, len(result.sentences))  # the last sentence has no successor
    best = [max((pair for pair in pairs if pair[0] == first), key=lambda pair: pair[2]) for first in starts]
    right = sum(second == first + 1 for first, second, _ in best)
    if len(starts) > 1:
        return prose("The true next sentence scores highest in ", strong(f"{right} of {len(starts)}"), " rows.")
    by_place = {(first, second): probability for first, second, probability in pairs}
    own, swapped = (strong(percent(by_place[place])) for place in ((1, 2), (2, 1)))
    return prose("The pair as it stands has P(next) = ", own, ", the same two swapped ", swapped, ".")


def all_pairs_notes(result: AllPairsResult) -> Markup:
    """Say how often the true successor has the highest score of its row, and what it has on average beside other pairs."""
    pairs, starts = _scored(result), range(1, len(result.sentences))
    best = [max((pair for pair in pairs if pair[0] == first), key=lambda pair: pair[2]) for first in starts]
    right = sum(second == first + 1 for first, second, _ in best)
    true = [probability for first, second, probability in pairs if second == first + 1]
    others = [probability for first, second, probability in pairs if second != first + 1]
    own, rest = (percent(sum(shares) / len(shares)) for shares in (true, others))
    if len(starts) == 1:
        parts = ["The pair as it stands has P(next) = ", strong(own), f", the same two swapped {rest}"]
    else:
        parts = ["The true next sentence scores highest in ", strong(f"{right} of {len(starts)}")]
        parts.append(f" rows. Its mean P(next) is {own}, that of all other pairs {rest}")
    parts.append(
        ". Sentences of one text share a topic, and NSP was trained against other texts: it tells topics apart better "
        "than order (ALBERT's Table 5: a model trained on NSP gets 52.0% on order)."
    )
    return caption(*parts)


def all_pairs_figure(result: AllPairsResult) -> Picture:
    """Draw a heatmap: first sentence down, second across; the true successors are outlined."""
    count = len(result.sentences)
    numbers = [str(number) for number in range(1, count + 1)]
    marks = [frame((first + 0.5, first + 1.5), (first - 0.5, first + 0.5), width=4) for first in range(count - 1)]
    key, hover = colorbar("P(next)", ".0%"), "P(%{x} follows %{y}) = %{z:.4f}"
    look: Look = {"texts": _cell, "size": 16 if count <= 8 else 14, "bar": key, "hover": hover, "hoverongaps": False}
    cells = heat(numbers, numbers, result.probabilities, MAGNITUDE, **look)
    across, down = axis("second sentence", names=True, top=True), axis("first sentence", names=True, down=True)
    size: Look = {"height": max(340, 90 + 44 * count), "low": max(270, 70 + 36 * count), "above": 60}
    return chart(all_pairs_sentence(result), cells, across, down, marks, **size)


def _cell(probability: float) -> str:
    """Write whole percents; what is not quite certain is not shown as certain."""
    if 0 < probability < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= probability < 1 else f"{100 * probability:.0f}%"


def numbered(result: AllPairsResult) -> Markup:
    """List the sentences with the numbers that the heatmap uses."""
    return sentences(result.sentences)
