"""Numbers as a visitor reads them, sentences, and small pieces of HTML: everything that stands beside a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup

_BRACKETED = re.compile(r"\[[A-Z]+\]|<[a-z|/_]+>")
"""Matches tokens of models' own, such as [CLS] and <s>."""

_SPACES = " \t\n\r\xa0Ġ▁"
"""Spaces, and the signs by which byte-level and unigram tokenizers write the one before a piece."""


def percent(share: float) -> str:
    """Return a share as a percentage with three significant digits; what would round to nothing is said to be below."""
    value = 100.0 * share
    if 0 < value < 1e-4:
        return "<0.0001%"
    if value >= 99.95 and share < 1:  # never 100% for less than all
        return f"{min(value, 99.9999):.4f}".rstrip("0") + "%"
    return f"{value:#.3g}".rstrip(".") + "%"


def fixed(value: float, digits: int = 2) -> str:
    """Return a value with this many decimals, with a minus sign, and no minus before a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # + 0.0 turns -0.0 into 0.0


def signed(value: float, digits: int = 2) -> str:
    """Return `fixed` with a plus before what is more than zero."""
    text = fixed(value, digits)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"


def number(value: float) -> str:
    """Return three significant digits, without an exponent if a plain number is as short."""
    return f"{value:.3g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.2e}"


def compact(count: float) -> str:
    """Return a count in three significant digits with K, M or B."""
    for size, sign in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if abs(count) >= 0.9995 * size:  # 0.9995: what would be rounded up to 1,000 of the smaller unit
            return f"{count / size:.3g}{sign}"
    return f"{count:.3g}"


def megabytes(count: float) -> str:
    """Return bytes as KB, MB or GB, with three significant digits."""
    for size, sign in ((1e9, "GB"), (1e6, "MB")):
        if count >= 0.9995 * size:
            return f"{count / size:.3g} {sign}"
    return f"{count / 1e3:.3g} KB"


def duration(seconds: float) -> str:
    """Return seconds as a visitor reads them."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min"


def milliseconds(value: float, form: str = ".3g") -> str:
    """Return whole milliseconds from 100 on; below that in the format `form`."""
    return f"{value:,.0f} ms" if value >= 100 else f"{value:{form}} ms"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 word, 2 words."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ordinal(place: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th") if place % 100 not in (11, 12, 13) else "th"
    return f"{place:,}{ending}"


def label(text: str, longest: int = 40) -> str:
    """Return a name for a legend or an axis: never markup (Plotly reads <b> and the like in labels), never long."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def inside(title: str) -> str:
    """Return a title as it stands inside a sentence: “adapters”, but “LoRA”."""
    return title[:1].lower() + title[1:] if title.split(" ")[0][1:].islower() else title


def strong(text: str) -> Markup:
    """Return a token or a number that a sentence points at, escaped."""
    return Markup("<strong>{}</strong>").format(text)


def in_quotes(token: str, bold: bool = True) -> Markup:
    """Return a token as a sentence names it: in quotation marks, without the space or the sign for one that it begins
    with, escaped.

    A token of the model's own, [CLS] or <s>, has its brackets already; one that is all blanks is described.
    """
    text = token.strip(_SPACES)
    if not text:
        return Markup("a line break" if "\n" in token else "a space")
    name = strong(text) if bold else Markup.escape(text)
    return name if _BRACKETED.fullmatch(text) else Markup("“{}”").format(name)


def prose(*parts: str) -> Markup:
    """Return safe HTML: parts that are Markup already are kept, plain text is escaped."""
    return Markup("").join(parts)


def caption(*parts: str) -> Markup:
    """Return a line in small type below or beside a picture."""
    return Markup('<p class="caption">{}</p>').format(prose(*parts))


def cells(values: Iterable[object], tag: str = "td") -> Markup:
    """Return the cells of one row of an HTML table, escaped."""
    return Markup("").join(Markup("<{0}>{1}</{0}>").format(tag, value) for value in values)


def quoted(heads: Iterable[object], rows: Iterable[Iterable[object]], title: str = "", style: str = "quoted") -> Markup:
    """Return a small HTML table for the page itself: numbers from a paper, or runs side by side. A row may be Markup
    already.
    """
    above = Markup("<caption>{}</caption>").format(title) if title else ""
    head = Markup("").join(cells([name], "th" if name else "td") for name in heads)  # an empty <th> names nothing
    made = [row if isinstance(row, Markup) else cells(row) for row in rows]
    body = Markup("").join(Markup("<tr>{}</tr>").format(row) for row in made)
    table = Markup('<table class="{}">{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table>')
    return table.format(style, above, head, body)


def sentences(items: Iterable[str]) -> Markup:
    """Return sentences in a list, with the numbers by which a picture names them."""
    return Markup('<ol class="sentences">{}</ol>').format(Markup("").join(map(Markup("<li>{}</li>").format, items)))


def facts(*lines: Markup) -> Markup:
    """Return measures in short lines below a picture; each line is made by `measures`."""
    return Markup('<ul class="facts">{}</ul>').format(Markup("").join(lines))


def measures(*values: str, name: str = "") -> Markup:
    """Return one line of `facts`: several measures, after the name of what they belong to."""
    spans = cells(values, "span")
    return Markup("<li>{}{}</li>").format(Markup("<b>{}</b>").format(name) if name else "", spans)


def progress_bar(share: float, of: str = "progress") -> Markup:
    """Return a progress bar. of: its name for a screen reader."""
    return Markup('<progress class="run-progress" value="{:.4f}" max="1" aria-label="{}"></progress>').format(share, of)
