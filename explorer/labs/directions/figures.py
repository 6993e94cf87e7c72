"""Encoder, decoder and encoder-decoder as drawings: what stands in a row looks at the row below it along the lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from markupsafe import Markup

from explorer.models.catalog import CATALOG, ModelCard
from explorer.models.families import Capability

STEP, HEIGHT, TOP, BOTTOM = 58, 62, 44, 168
"""Pixels between columns and between rows; how far down a stack's last row stands, and its lowest."""

LOWER = HEIGHT // 2
"""How much lower an encoder stands beside a decoder, so that lines between them meet no other node."""

Point = tuple[int, int]


def bundled_encoders() -> list[str]:
    """Return the bundled models that look both ways."""
    return [card.model_id for card in _bundled() if Capability.CAUSAL not in card.capabilities]


def bundled_decoders() -> list[str]:
    """Return the bundled models that look back alone."""
    return [card.model_id for card in _bundled() if Capability.CAUSAL in card.capabilities]


def _bundled() -> Iterable[ModelCard]:
    return (card for card in CATALOG if card.bundled)


def stacks() -> Markup:
    """Return three drawings beside each other, each with a sentence and the bundled models of its kind."""
    encoders, decoders = (", ".join(names) for names in (bundled_encoders(), bundled_decoders()))
    found = (
        (
            "Encoder",
            _encoder(),
            "Every position looks at every other: made to understand a text, and trained by hiding words of it; "
            "ELECTRA's discriminator by telling which were replaced.",
            f"Here: {encoders}.",
        ),
        (
            "Decoder",
            _decoder(),
            "Each position looks back alone and says the next word: made to write, and trained on every word in turn.",
            f"Here: {decoders}.",
        ),
        (
            "Encoder-decoder",
            _both(),
            "An encoder reads one text; a decoder writes another and looks, in every layer, at all that was read.",
            "Here: none. The first Transformer, T5 and BART are made so, for translating and summarising.",
        ),
    )
    parts = Markup("").join(
        Markup(
            '<figure class="stack">{}<figcaption><strong>{}.</strong> {} <span>{}</span></figcaption></figure>'
        ).format(drawn, title, said, which)
        for title, drawn, said, which in found
    )
    return Markup('<div class="stacks">{}</div>').format(parts)


def _encoder() -> Markup:
    columns, answers = _columns(4, 0), {1}
    every = list(product(range(4), range(4)))
    parts = _stack(columns, every, ("the", "[MASK]", "sat", "."), {1: "cat"}, answers)
    said = "Encoder: two layers over four words. Each position has a line to every position below; the answer stands over [MASK]."
    return _svg(4 * STEP, parts, said)


def _decoder() -> Markup:
    every = [(i, j) for i, j in product(range(4), range(4)) if j <= i]
    parts = _stack(
        _columns(4, 0), every, ("<s>", "the", "cat", "sat"), dict(enumerate(("the", "cat", "sat", "…"))), {3}
    )
    said = "Decoder: two layers over four words. Each position has lines to itself and to those before it, none to those after."
    return _svg(4 * STEP, parts, said)


def _both() -> Markup:
    left, right = _columns(3, 0), _columns(3, 3 * STEP + 14)
    back = [(i, j) for i, j in product(range(3), range(3)) if j <= i]
    parts = _stack(left, list(product(range(3), range(3))), ("wir", "gehen", "heim"), {}, set(), LOWER)
    parts += _stack(right, back, ("<s>", "we", "go"), {0: "we", 1: "go", 2: "home"}, {0})
    for row in (1, 2):  # every layer of the decoder looks at the encoder's last states
        # Before the nodes, which then cover their ends.
        parts[:0] = [_line((x, TOP + LOWER), (right[0], _row(row)), row == 2) for x in left]
    said = "Encoder-decoder: an encoder over three words; beside it a decoder, with lines to the encoder's last states."
    return _svg(6 * STEP + 14, parts, said)


def _columns(count: int, start: int) -> list[int]:
    return [start + STEP // 2 + STEP * place for place in range(count)]


def _row(number: int) -> int:
    """Return how far down a row stands; 0 is what is read."""
    return BOTTOM - HEIGHT * number


def _stack(
    columns: Sequence[int],
    looks: Sequence[tuple[int, int]],
    read: Sequence[str],
    said: dict[int, str],
    lit: set[int],
    lower: int = 0,
) -> list[Markup]:
    """Draw lines, then nodes, then words.

    looks: (who looks, at whom). lit: whose lines into the top row stand out. lower: by so many pixels.
    """
    parts = [
        _line((columns[j], _row(row) + lower), (columns[i], _row(row + 1) + lower), row == 1 and i in lit)
        for row in (0, 1)
        for i, j in looks
    ]
    for row, (place, x) in product((0, 1, 2), enumerate(columns)):
        style = "lit" if row == 2 and place in lit else "node"
        parts.append(Markup('<circle class="{}" cx="{}" cy="{}" r="9"/>').format(style, x, _row(row) + lower))
    parts += [_word(x, BOTTOM + 30 + lower, word) for x, word in zip(columns, read, strict=True)]
    return parts + [_word(columns[place], TOP - 20, word) for place, word in said.items()]


def _line(start: Point, end: Point, lit: bool) -> Markup:
    style = ' class="lit"' if lit else ""
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}"{}/>').format(*start, *end, Markup(style))


def _word(x: int, y: int, word: str) -> Markup:
    return Markup('<text x="{}" y="{}">{}</text>').format(x, y, word)


def _svg(width: int, parts: Iterable[Markup], said: str) -> Markup:
    drawing = '<svg viewBox="0 0 {0} {3}" width="{0}" height="{3}" role="img" aria-label="{1}">{2}</svg>'
    return Markup(drawing).format(width, said, Markup("").join(parts), BOTTOM + 40 + LOWER)
