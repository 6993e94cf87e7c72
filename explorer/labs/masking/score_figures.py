"""Scored sentences as pictures, sentences and tables, from plain results."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import Axis, Look, Panel, Picture, Trace, axis, bars, picture
from explorer.charts.words import caption, compact, counted, fixed, in_quotes, label, prose, quoted, signed, strong
from explorer.labs.masking.score import Aligned, ScoredSentence, ScoredToken, ScoreResult, Scores, aligned, differences
from explorer.tables import Table

COLUMNS = 2
"""Sentences beside each other, where they aren't two."""

TOLD = 3
"""Tokens that a sentence names."""

LONGEST = 40
"""Characters of a sentence where it is named in another."""


def score_table(result: ScoreResult) -> Table:
    """sentence (its number, from 1), position, token, log_probability: of the chosen model."""
    rows = [
        (place, token.position, token.text, token.log_probability)
        for place, sentence in enumerate(result.own.sentences, start=1)
        for token in sentence.tokens
    ]
    return Table.of(("sentence", "position", "token", "log_probability"), rows)


def score_sentence(result: ScoreResult) -> Markup:
    """Say what the scores tell of one sentence, of two beside each other, or of several."""
    tell = {1: _one_said, 2: _two_said}.get(len(result.own.sentences), _several_said)
    return prose(*tell(result.own))


def score_notes(result: ScoreResult) -> Markup:
    """Say what scores are behind the headline, what the true log-likelihood says, and which tokens are unknown."""
    own = result.own
    tell = {1: _one_noted, 2: _two_noted}.get(len(own.sentences), _several_noted)
    unknown = [token.text for sentence in own.sentences for token in sentence.tokens if token.unknown]
    parts = tell(own)
    if result.beside:
        parts += [" ", *_beside_said(own, result.beside)]
    if unknown:
        parts.append(f" {counted(len(unknown), 'token')} of them read as {unknown[0]}: the vocabulary has none for it.")
    return caption(*parts)


def _named(scores: Scores) -> str:
    return "log-likelihood" if scores.causal else "pseudo-log-likelihood"


def _one_said(own: Scores) -> list[str]:
    total = strong(fixed(own.sentences[0].total))
    least = in_quotes(_word(_least_expected(own)))
    return [f"{label(own.model)} gives the sentence a {_named(own)} of ", total, " nats and expects least ", least, "."]


def _one_noted(own: Scores) -> list[str]:
    sentence, least = own.sentences[0], _least_expected(own)
    how = "ln p of each token after those before it" if own.causal else "ln p of each token where it is masked"
    means = f"{fixed(sentence.per_token)} a token, a perplexity of {compact(sentence.perplexity)}"
    word = in_quotes(_word(least), bold=False)
    return [f"It is the sum of {how}: {means}. Of ", word, f" −ln p = {fixed(-least.log_probability)}."]


def _least_expected(own: Scores) -> ScoredToken:
    return min(own.sentences[0].tokens, key=lambda token: token.log_probability)


def _two_said(own: Scores) -> list[str]:
    first, second = own.sentences
    apart = first.total - second.total
    if not apart:
        alike = [token.text for token in first.tokens] == [token.text for token in second.tokens]
        why = ": they read as the same tokens" if alike else ""
        return [f"{label(own.model)} finds ", strong("both equally likely"), f"{why}."]
    likelier = strong(f"the {'first' if apart > 0 else 'second'} likelier")
    return [f"{label(own.model)} finds ", likelier, ", by ", strong(f"{fixed(abs(apart))} nats"), "."]


def _two_noted(own: Scores) -> list[str]:
    first, second = own.sentences
    named = f"{_named(own)[0].upper()}{_named(own)[1:]}"
    parts: list[str] = [f"{named}: {fixed(first.total)} against {fixed(second.total)}"]
    if len(first.tokens) != len(second.tokens):
        parts.append(f" ({fixed(first.per_token)} against {fixed(second.per_token)} a token)")
    rows = aligned(first, second)
    gains = sorted(zip(differences(rows), rows, strict=True), key=lambda pair: -abs(pair[0]))[:TOLD]
    # A smaller gain would be written as 0.
    told = [prose(_row_said(row), f" {signed(gain)}") for gain, row in gains if abs(gain) >= 0.005]
    return [*parts, prose(". Where it comes from: ", Markup(", ").join(told), ".") if told else "."]


def _several_said(own: Scores) -> list[str]:
    order = _likeliest_first(own)
    if order[0].total == order[-1].total:
        return [f"{label(own.model)} finds ", strong(f"all {len(order)} equally likely"), "."]
    most, least = in_quotes(_short(order[0].sentence)), in_quotes(_short(order[-1].sentence), bold=False)
    return [f"Of the {len(order)} ", most, " is likeliest, ", least, " least."]


def _several_noted(own: Scores) -> list[str]:
    order = _likeliest_first(own)
    per_token = max(own.sentences, key=lambda sentence: sentence.per_token)
    parts: list[str] = [f"The likeliest has {fixed(order[0].total)} nats"]
    if order[0].total > order[-1].total:
        parts.append(f", the least likely {fixed(order[-1].total)}")
    if per_token.per_token > order[0].per_token:
        parts += ["; by the mean over its tokens ", in_quotes(_short(per_token.sentence), bold=False), " leads"]
    # Each text once: a sentence that is given twice is one event.
    total = math.fsum(math.exp(score) for score in {one.sentence: one.total for one in own.sentences}.values())
    if total > 1:
        parts.append(f". Read as probabilities these scores add up to {total:.2f}, more than 1: they are none")
    return [*parts, "."]


def _likeliest_first(own: Scores) -> list[ScoredSentence]:
    return sorted(own.sentences, key=lambda sentence: -sentence.total)


def _beside_said(own: Scores, beside: Scores) -> list[str]:
    """Say whether the true log-likelihood orders the sentences alike."""
    totals = [fixed(sentence.total) for sentence in beside.sentences]
    if len(totals) == 1:
        return [f"{label(beside.model)}, from the left alone, gives a true log-likelihood of {totals[0]}."]
    first, second = (_likeliest(scores) for scores in (own, beside))
    if len(second) == len(totals):
        agrees = "is the same for all"
    elif first == second:
        agrees = "agrees"
    else:
        agrees = f"prefers number {' and '.join(str(place + 1) for place in second)}"
    numbers = f": {totals[0]} against {totals[1]}" if len(totals) == 2 else ""
    return [f"The true log-likelihood of {label(beside.model)} {agrees}{numbers}."]


def _likeliest(scores: Scores) -> list[int]:
    """Return the places of the sentences with the highest score, all of them if several have it."""
    most = max(sentence.total for sentence in scores.sentences)
    return [place for place, sentence in enumerate(scores.sentences) if sentence.total == most]


def score_facts(result: ScoreResult) -> Markup:
    """Tabulate sums, means over the tokens and perplexities, of both models."""
    both = [result.own, *([result.beside] if result.beside else [])]
    heads = ["sentence"]
    for scores in both:
        heads += [f"{label(scores.model)}: {'ln p' if scores.causal else 'PLL'}", "tokens", "a token", "perplexity"]
    rows = [
        [f"{place}. {alike[0].sentence}", *(value for one in alike for value in _measures(one))]
        for place, alike in enumerate(zip(*(scores.sentences for scores in both), strict=True), start=1)
    ]
    return quoted(heads, rows) + caption(
        "Nats. Sums grow with the length: compare sentences of several lengths by the mean over their tokens. Two models cut a "
        "sentence into other tokens, and a PLL is no ln p, so compare sentences and not models."
    )


def _measures(sentence: ScoredSentence) -> list[str]:
    count = str(len(sentence.tokens))
    return [fixed(sentence.total), count, fixed(sentence.per_token), compact(sentence.perplexity)]


def score_figure(result: ScoreResult) -> Picture:
    """Draw −ln p of each token as bars: two sentences aligned with their difference beside, or a panel a sentence."""
    sentences, said = result.own.sentences, score_sentence(result)
    if len(sentences) == 2:
        return _two(aligned(*sentences), sentences, said)
    most = max(len(sentence.tokens) for sentence in sentences)
    high = _highest(sentences)
    panels = [
        _panel(sentence.tokens, ["@first"] * len(sentence.tokens), most, high, _title(place, sentence), True)
        for place, sentence in enumerate(sentences, start=1)
    ]
    columns = min(COLUMNS, len(sentences))
    lines, each = -(-len(sentences) // columns), 26 * most + 76
    look: Look = {"height": max(200, lines * each + 70), "phone": len(sentences) * (each + 40) if columns > 1 else 0}
    return picture(said, panels, columns=columns, gap=0.16, bargap=0.25, **look)


def _two(rows: Sequence[Aligned], sentences: Sequence[ScoredSentence], said: Markup) -> Picture:
    """Draw row by row: a token of the first, one of the second, and what the two add to the difference."""
    count, high = len(rows), _highest(sentences)
    changed = [left is None or right is None or left.text != right.text for left, right in rows]
    colours = ["@highlight" if differs else "@first" for differs in changed]
    panels = [
        _panel([row[side] for row in rows], colours, count, high, _title(side + 1, sentence))
        for side, sentence in enumerate(sentences)
    ]
    gains = differences(tuple(rows))
    furthest = 1.8 * max(0.1, *map(abs, gains))  # tiny differences stay small
    look: Look = {"texts": [signed(gain) for gain in gains], "size": 14, "hover": "%{text} nats"}
    drawn = bars(range(count), gains, ["@first" if gain > 0 else "@second" for gain in gains], **look)
    across = axis("for 1 (+), for 2 (−)", span=(-furthest, furthest), nticks=4, zeroline=True)
    names = [label(_row_name(row), 24) for row in rows]
    alone = Panel((), across, _down(names, count), "Difference")
    panels.append(Panel([drawn], across, _down([""] * count, count), "Difference", alone=alone))
    return picture(said, panels, height=26 * count + 110, phone=3 * (26 * count + 100), gap=0.11, bargap=0.25)


def _highest(sentences: Sequence[ScoredSentence]) -> float:
    return max(0.1, *(-token.log_probability for sentence in sentences for token in sentence.tokens))


def _panel(
    tokens: Sequence[ScoredToken | None],
    colours: Sequence[str],
    rows: int,
    high: float,
    title: str,
    outer: bool = False,
) -> Panel:
    """Draw −ln p of one sentence's tokens from the top; None leaves a gap. outer: as an axis's."""
    standing = [(row, token) for row, token in enumerate(tokens) if token is not None]
    drawn: list[Trace] = [
        bars(
            [row for row, _ in standing],
            [-token.log_probability for _, token in standing],
            [colours[row] for row, _ in standing],
            texts=[fixed(-token.log_probability) for _, token in standing],
            size=14,
            hover="%{x:.3f} nats",
        )
    ]
    names = [label(_word(token), 18) if token else "" for token in tokens]
    return Panel(drawn, axis("−ln p (nats)", span=(0, 1.35 * high), nticks=4, outer=outer), _down(names, rows), title)


def _down(names: Sequence[str], rows: int) -> Axis:
    """Return rows from the top, as many in every panel, so that those beside each other stand on one line."""
    places = list(range(len(names)))
    return axis(
        grid=False,
        tickmode="array",
        tickvals=places,
        ticktext=list(names),
        span=(rows - 0.4, -0.6),
        size=15,
        zeroline=False,
    )


def _title(place: int, sentence: ScoredSentence) -> str:
    return f"{place}: {fixed(-sentence.total)} ({fixed(-sentence.per_token)} a token)"


def _row_name(row: Aligned) -> str:
    """Name the token of a row, or both if they differ."""
    return " / ".join(_words(row))


def _row_said(row: Aligned) -> Markup:
    """Name the token of a row in a sentence, or both if they differ."""
    return Markup(" / ").join(in_quotes(word, bold=False) for word in _words(row))


def _words(row: Aligned) -> list[str]:
    return list(dict.fromkeys(_word(token) for token in row if token is not None))


def _word(token: ScoredToken) -> str:
    """Write a token as it looks in its sentence; a piece that goes on shows that it does."""
    shown = token.shown.strip() or repr(token.text)
    return f"··{shown}" if token.joined else shown


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
