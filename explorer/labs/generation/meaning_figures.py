"""Texts with what they say of their meaning, and the attention of each written token to the slots."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Picture, axis, chart, colorbar, heat
from explorer.charts.words import caption, counted, in_quotes, label, percent, prose, quoted, strong
from explorer.labs.generation.continued import DECODINGS
from explorer.labs.generation.meaning import GenerateResult, Phrase

NOTHING = "–"


def generate_sentence(result: GenerateResult) -> Markup:
    """Say which text says all of its meaning, else how much the best of them says."""
    if not result.done:
        return prose(strong(result.writer), f" writes: token {result.steps} of at most {result.of}.")
    parts: list[str] = [strong(result.writer), " says "]
    if whole := _whole(result):
        return prose(*parts, strong("all of the meaning and nothing else"), f" by {_titles(whole)}.")
    best, asked = _best(result), len(result.meaning)
    parts += [strong(f"{asked - len(best.missed)} of {counted(asked, 'slot')}"), f" by {_titles([best])}"]
    return prose(*parts, ", and something that nobody asked for." if best.invented else ".")


def _whole(result: GenerateResult) -> list[Phrase]:
    """Return the texts that leave out nothing and add nothing."""
    return [one for one in result.phrases if not one.missed and not one.invented]


def _best(result: GenerateResult) -> Phrase:
    return min(result.phrases, key=lambda one: len(one.missed) + len(one.invented))


def generate_notes(result: GenerateResult) -> Markup:
    """Say how many texts say it all, or how much the best of them adds; and what the model said before training."""
    if not result.done:
        return Markup("")
    parts, whole, count = [], _whole(result), len(result.phrases)
    if whole and count > 1:
        parts.append(f"All of the meaning and nothing else: {len(whole)} of {counted(count, 'text')}. ")
    elif not whole and (invented := _best(result).invented):
        parts.append(f"Nobody asked for {counted(len(invented), 'thing')} in it. ")
    if result.untouched is not None:
        asked = len(result.meaning)
        said = asked - len(result.untouched.missed)
        parts.append(f"{result.untouched.writer} before any training says {said} of {counted(asked, 'slot')}.")
    return caption(*parts) if parts else Markup("")


def _titles(phrases: Sequence[Phrase]) -> str:
    return ", ".join(DECODINGS[one.row.decoding] for one in phrases)


def texts_view(result: GenerateResult) -> Markup:
    """Tabulate the text of each decoding, and of the model before training: what it leaves out, what it adds; then
    notes.
    """
    rows = [_cells(one, DECODINGS[one.row.decoding], result.done) for one in result.phrases]
    if result.untouched is not None:
        rows.append(_cells(result.untouched, f"{result.untouched.writer}, untouched", True))
    return quoted(("", "text", "missed", "invented"), rows, style="quoted texts") + generate_notes(result)


def _cells(phrase: Phrase, name: str, done: bool) -> tuple[object, ...]:
    going = "" if done or phrase.row.ended is not None else " …"
    if not done:  # a slot may still come
        return (name, f"{phrase.text}{going}", "", "")
    missed = (
        Markup('<span class="slot missed">{}</span>').format(", ".join(phrase.missed)) if phrase.missed else NOTHING
    )
    added = (
        Markup('<span class="slot invented">{}</span>').format(", ".join(phrase.invented))
        if phrase.invented
        else NOTHING
    )
    return (name, phrase.text or NOTHING, missed, added)


def attention_sentence(result: GenerateResult) -> Markup:
    """Say how much attention goes to the slots' values, and while which word one of them gets most."""
    looked = result.attention
    if looked is None:
        return caption("Where the heads look is drawn once all is written." if not result.done else "")
    slots = len(result.meaning)
    best, token, slot = max(
        (row[column], place, column) for place, row in enumerate(looked.shares) for column in range(slots)
    )  # the slots are the first columns
    total = sum(sum(row[:slots]) for row in looked.shares) / len(looked.shares)
    return prose(
        f"{DECODINGS[result.phrases[0].row.decoding].capitalize()}: ",
        strong(percent(total)),
        " of the attention goes to the slots' values; the largest share, ",
        strong(percent(best)),
        f", goes to the {looked.columns[slot]} while it writes ",
        in_quotes(_word_at(looked.tokens, token), bold=False),
        ".",
    )


def _word_at(tokens: Sequence[str], place: int) -> str:
    """Return the whole word that a written piece is of; punctuation stands for itself."""
    text, start = "".join(tokens), sum(map(len, tokens[:place]))
    stop = start + len(tokens[place])
    start += len(tokens[place]) - len(tokens[place].lstrip())  # without the space before the piece
    if not any(map(str.isalnum, text[start:stop])):
        return text[start:stop]
    while start > 0 and _is_of_a_word(text[start - 1]):
        start -= 1
    while stop < len(text) and _is_of_a_word(text[stop]):
        stop += 1
    return text[start:stop]


def _is_of_a_word(sign: str) -> bool:
    return sign.isalnum() or sign in "'’"


def attention_notes(result: GenerateResult) -> Markup:
    """Say over what the mean is, and where the rest goes."""
    looked = result.attention
    if looked is None:
        return Markup("")
    virtual = len(looked.columns) > len(result.meaning) + 2  # besides the slots: their names, and what is written
    rest = ", to what is written already and to the virtual tokens" if virtual else " and to what is written already"
    return caption(f"Means over layers and heads. The rest goes to the slots' names and signs{rest}.")


def attention_figure(result: GenerateResult) -> Picture | str:
    """Draw a row a slot, a column a written token."""
    looked = result.attention
    if looked is None:
        return ""
    cells = list(zip(*looked.shares, strict=True))
    across = [f"{place + 1} {label(token.strip(), 12)}" for place, token in enumerate(looked.tokens)]
    most = max(max(row) for row in cells)  # small shares on a scale to 1 would be pale
    hover = "before “%{x}”: %{z:.1%} to %{y}"
    drawn = heat(
        across,
        looked.columns,
        cells,
        MAGNITUDE,
        (0, most),
        gap=1,
        bar=colorbar("share of the<br>attention", ".0%"),
        hover=hover,
    )
    down = axis(names=True, down=True, size=15)
    side = axis("written token", names=True, size=14, tickangle=-60)
    height = 210 + 30 * len(looked.columns)
    return chart(attention_sentence(result), drawn, side, down, height=height)
