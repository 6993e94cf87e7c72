"""Finds the tokens of a text that a visitor hides, by their positions, by a word, or by characters."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from explorer.charts.chips import TokenView
from explorer.errors import BadInputError
from explorer.models.encoding import Encoded, Token
from explorer.models.loaded_model import LoadedModel


def hidden_positions(
    encoded: Encoded, text: str, places: Iterable[int | str], spans: Iterable[tuple[int, int]] = ()
) -> set[int]:
    """Return the positions that are named. places: positions, or words of the text. spans: (start, stop) characters.

    Raises BadInputError for a place that holds no token of the text.
    """
    positions: set[int] = set()
    for place in places:
        if isinstance(place, int):
            if place >= len(encoded.tokens) or encoded.tokens[place].word is None:
                raise BadInputError(f"Position {place} holds no token of the text, so it cannot be masked.")
            positions.add(place)
        else:
            start = _find_word(text, place)
            if start < 0:
                raise BadInputError(f"The text has no {place[:60]!r} to mask.")
            positions |= _overlapping(encoded, start, start + len(place))
    for start, stop in spans:
        positions |= _overlapping(encoded, start, stop)
    return positions


def _find_word(text: str, word: str) -> int:
    """Return where a word stands first, as a word of its own before as a part of another; -1 if it doesn't."""
    whole = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return whole.start() if whole else text.find(word)


def _overlapping(encoded: Encoded, start: int, stop: int) -> set[int]:
    return {t.position for t in encoded.tokens if t.word is not None and t.start < stop and t.stop > start}


def token_view(loaded: LoadedModel, token: Token, typed: Container[int], hidden: Container[int]) -> TokenView:
    """Return one token as a page offers it for hiding. typed: the positions of masks in the text itself."""
    if token.position in typed:
        state = "blank"
    elif token.position in hidden:
        state = "masked"
    else:
        state = "special" if token.word is None else "plain"
    unknown = token.token_id == loaded.tokenizer.unk_token_id
    return TokenView(token.position, token.text, token.shown, token.joined, state, unknown, token.start, token.stop)
