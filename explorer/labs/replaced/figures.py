"""The replaced-tokens lab's pictures, sentences and tables of one text, from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from markupsafe import Markup

from explorer.charts import Axis, Look, Mark, Panel, Picture, Trace, axis, bars, level, picture, points
from explorer.charts.words import caption, counted, in_quotes, label, percent, prose, quoted, strong
from explorer.labs.replaced.chips_figures import NAMES
from explorer.labs.replaced.schema import THRESHOLD, VERDICTS, JudgedToken, ReplacedResult
from explorer.tables import Table

COLOURS = {"hit": "@third", "miss": "@second", "alarm": "@fifth", "right": "@muted"}

MOST_TOLD = 4
"""Words replaced by hand that are told one by one."""

MOST_NAMES, MOST_NAMES_ON_A_PHONE = 60, 14
"""Tokens whose names stand below a figure; of a longer text the pointer reads them."""

WEIGHT = 50
"""Of the discriminator's loss beside the generator's (Clark et al. 2020, appendix A)."""

TABLE_5 = quoted(
    ("what learns from what", "GLUE"),
    (
        ("ELECTRA: replaced or not, at all tokens", "85.0"),
        ("all-tokens MLM: the generator's tokens are shown, and all tokens predicted", "84.3"),
        ("replace MLM: as BERT, with the generator's tokens in place of [MASK]", "82.4"),
        ("ELECTRA 15%: the discriminator's loss at the masked tokens alone", "82.4"),
        ("BERT: [MASK] is shown, and 15% predicted", "82.2"),
    ),
    "Where the gain comes from (Clark et al. 2020, Table 5)",
)


def draw_table(result: ReplacedResult) -> Table:
    """position, original, masked, shown, is_replaced, probability (of being replaced); the text's own tokens."""
    columns = ("position", "original", "masked", "shown", "is_replaced", "probability")
    rows = [
        (token.position, token.original, token.chosen, token.shown, token.is_replaced, token.probability)
        for token in result.tokens
    ]
    return Table.of(columns, rows)


def hand_table(result: ReplacedResult) -> Table:
    """position, original, shown, is_replaced, probability (of being replaced); the text's own tokens."""
    columns = ("position", "original", "shown", "is_replaced", "probability")
    return Table.of(columns, [tuple(getattr(token, name) for name in columns) for token in result.tokens])


def replaced_sentence(result: ReplacedResult) -> Markup:
    """Say how many of the tokens that the generator replaced the discriminator finds."""
    if not result.chosen:
        return prose("Nothing is masked at this rate, so every token is the original one.")
    return _found(result) or prose(
        "The generator wrote what stood there, which counts as original, so there is nothing to find."
    )


def replaced_notes(result: ReplacedResult) -> Markup:
    """Say how many tokens were masked, what the generator wrote there, and the false alarms."""
    count, guessed = len(result.chosen), sum(token.guessed for token in result.tokens)
    verb = "was" if count == 1 else "were"
    parts = [f"{count} of {counted(len(result.tokens), 'token')} {verb} masked. "]
    if 0 < guessed < count:
        parts.append(
            f"The generator wrote {guessed} as it was, which counts as original, and {count - guessed} otherwise. "
        )
    elif count:
        written = "what stood there" if guessed else f"{'another one' if count == 1 else 'others'} than stood there"
        parts.append(f"The generator wrote {written}. ")
    return caption(*parts, _alarms(result))


def hand_sentence(result: ReplacedResult) -> Markup:
    """Say whether the visitor's word is caught; of several, how many are."""
    changed = [token for token in result.tokens if token.is_replaced]
    if not changed:
        return prose("No token differs from the text, so there is nothing to find.")
    if len(changed) > 1:
        return _found(result)
    (token,) = changed
    caught = strong("caught" if token.verdict == "hit" else "not caught")
    return prose(in_quotes(token.text), _stood(token), " is ", caught, f": P(replaced) = {percent(token.probability)}.")


def hand_notes(result: ReplacedResult) -> Markup:
    """State each word that was replaced, beside what stood there; the false alarms, and what is left out."""
    told: list[str] = []
    for token in [token for token in result.tokens if token.is_replaced][:MOST_TOLD]:
        caught = "caught" if token.verdict == "hit" else "not caught"
        was = in_quotes(token.was, bold=False) if token.was else ""
        itself = "" if token.before is None else prose(" (", was, f" itself {percent(token.before)})")
        told += [in_quotes(token.text, bold=False), _stood(token), f": P(replaced) = {percent(token.probability)}"]
        told += [itself, f", {caught}. "]
    gone = " have" if result.left_out > 1 else " has"
    left = (
        f" {counted(result.left_out, 'token')} of the text{gone} no place in what is shown." if result.left_out else ""
    )
    return caption(*told, _alarms(result), left)


def _stood(token: JudgedToken) -> Markup:
    return prose(" in place of ", in_quotes(token.was, bold=False)) if token.was else Markup("")


def _found(result: ReplacedResult) -> Markup:
    """Say how many replaced tokens the discriminator finds; nothing if none is replaced."""
    hits, misses = len(result.of("hit")), len(result.of("miss"))
    if hits + misses == 1:
        return prose("The discriminator ", strong("finds" if hits else "misses"), " the one token that was replaced.")
    if not hits + misses:
        return Markup("")
    return prose("The discriminator finds ", strong(f"{hits} of {hits + misses}"), " replaced tokens.")


def _alarms(result: ReplacedResult) -> Markup:
    """Say how many original tokens the discriminator takes for replaced ones."""
    alarms, right = len(result.of("alarm")), len(result.of("right"))
    if not alarms + right:
        return prose("No token is the original one.")
    return prose(f"The discriminator takes {alarms} of {counted(alarms + right, 'original token')} for replaced.")


def replaced_figure(result: ReplacedResult) -> Picture:
    """Draw a bar for each token: its probability of being replaced, in the colour of what that is worth."""
    return _judged_figure(result, replaced_sentence(result))


def hand_figure(result: ReplacedResult) -> Picture:
    """Draw the same bars of a text that a visitor has changed."""
    return _judged_figure(result, hand_sentence(result))


def _judged_figure(result: ReplacedResult, said: Markup) -> Picture:
    traces = []
    hover = "%{customdata}: P(replaced) = %{y:.2%}"
    for verdict in VERDICTS:
        if tokens := result.of(verdict):
            told = [
                label(token.text, 20) + (f", was {label(token.was, 20)}" if token.is_replaced else "")
                for token in tokens
            ]
            look: Look = {"upright": True, "hover": hover, "customdata": told}
            places, shares = [token.position for token in tokens], [token.probability for token in tokens]
            traces.append(bars(places, shares, COLOURS[verdict], NAMES[verdict], **look))
    if guessed := [token for token in result.tokens if token.guessed]:
        # The star stands above its bar.
        places, above = [token.position for token in guessed], [token.probability + 0.06 for token in guessed]
        traces.append(points(places, above, "@first", "guessed by the generator", symbol="star", size=12))
    up = axis("P(replaced)", percent=True, span=(0, 1.04), tickvals=[0, 0.25, 0.5, 0.75, 1])
    marks = [level(THRESHOLD, "@muted", dash="dot")]
    return _over_tokens(said, traces, result.tokens, up, marks, height=260, low=200)


def _over_tokens(
    said: Markup,
    traces: Sequence[Trace],
    tokens: Sequence[JudgedToken],
    up: Axis,
    marks: Sequence[Mark] = (),
    **more: Any,
) -> Picture:
    """Draw bars over the tokens by their positions; the names stand below if there is room for them."""
    span = (tokens[0].position - 0.7, tokens[-1].position + 0.7)
    places, names = [token.position for token in tokens], [label(token.text, 12) for token in tokens]
    named: Look = {"tickmode": "array", "tickvals": places, "ticktext": names, "tickangle": -55}
    numbered = axis("position", grid=False, span=span)
    wide = axis(grid=False, size=14, span=span, **named) if len(tokens) <= MOST_NAMES else numbered
    narrow = wide if len(tokens) <= MOST_NAMES_ON_A_PHONE else numbered
    panel = Panel(traces, wide, up, marks=marks, alone=Panel((), narrow, up, marks=marks))
    return picture(said, [panel], **{"phone": 320, "above": 8, "bargap": 0.15, **more})


def signal_sentence(result: ReplacedResult) -> Markup:
    """Say at how many tokens each of the two models has a loss."""
    count, chosen = len(result.tokens), len(result.chosen)
    everywhere = strong(f"all {count:,} tokens" if count > 1 else "the one token")
    masked = prose("at the ", strong(f"{chosen:,} masked")) if chosen else "at none"
    return prose("The discriminator has a loss at ", everywhere, ", the generator ", masked, ".")


def signal_notes(result: ReplacedResult) -> Markup:
    """State how large the two losses are, and their sum."""
    masked = result.masked_loss
    parts = [f"The discriminator's is a mean binary cross-entropy of {result.loss:.3f} nats; the generator"]
    if masked is None:
        return caption(
            *parts, ", as any masked language model, has one at masked tokens alone, of which there are none."
        )
    total = masked + WEIGHT * result.loss
    return caption(
        *parts,
        f"'s, as any masked language model's, is a mean −ln p of {masked:.3f} at the masked "
        f"{percent(len(result.chosen) / len(result.tokens))} of the tokens. Both are trained at once on their sum, "
        f"{masked:.2f} + {WEIGHT} · {result.loss:.3f} = {total:.1f} (Clark et al. 2020, section 2 and appendix A).",
    )


def signal_figure(result: ReplacedResult) -> Picture:
    """Draw the discriminator's loss at every token as bars, the generator's at the masked ones as points."""
    hover = "%{customdata}: %{y:.3f} nats"
    places, losses = [token.position for token in result.tokens], [token.loss for token in result.tokens]
    look: Look = {"upright": True, "hover": hover, "customdata": [label(token.text, 20) for token in result.tokens]}
    traces = [bars(places, losses, "@first", "discriminator: −ln P(right answer)", **look)]
    if chosen := result.chosen:
        at, terms = [token.position for token in chosen], [token.surprisal for token in chosen]
        mark: Look = {
            "symbol": "diamond",
            "size": 13,
            "hover": hover,
            "customdata": [label(token.was, 20) for token in chosen],
        }
        traces.append(points(at, terms, "@second", "generator: −ln p(original)", **mark))
    up = axis("loss (nats)", zero=True)
    return _over_tokens(signal_sentence(result), traces, result.tokens, up, height=290, legend=True)


def steps_table(result: ReplacedResult) -> Markup:
    """Tabulate the loop at each masked position."""
    if not result.chosen:
        return Markup("")
    heads = ("at", "stood there", "its p", "generator wrote", "its p", "P(replaced)")
    rows = [
        (
            token.position,
            token.was,
            percent(exp(-(token.surprisal or 0.0))),
            token.text,
            percent(token.drawn or 0.0),
            percent(token.probability),
        )
        for token in result.chosen
    ]
    return quoted(heads, rows, "Each masked position: the generator's p, the discriminator's P(replaced)")


def pair_line(result: ReplacedResult) -> Markup:
    """Say which two models are at work."""
    return caption(f"{result.generator} writes, {result.model} judges and never sees [MASK].")
