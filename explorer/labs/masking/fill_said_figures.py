"""What is said of filled masks: a blank at a time, or one word whose pieces are hidden together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from explorer.charts.words import in_quotes, ordinal, percent, prose, strong
from explorer.labs.masking.schema import FilledMask, FillResult, Prediction
from explorer.models.catalog import find_card

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class WordGuess:
    """One way to fill a word's pieces. probability: the product of theirs, for each was guessed by itself. hidden: it is the
    word that stands there."""

    text: str
    probability: float
    hidden: bool


def word_guesses(result: FillResult) -> list[WordGuess]:
    """Return the likeliest ways to fill all pieces of the one word that is hidden; [] if something else is.

    There are as many as a piece has guesses, the best first. Since the pieces are guessed independently, the best words
    are made of the best beginnings.
    """
    if not one_word(result):
        return []
    # Words to look for are not among the best.
    lists = [[guess for guess in mask.predictions if not guess.named] for mask in result.masks]
    ways: list[tuple[float, tuple[Prediction, ...]]] = [(1.0, ())]
    for guesses in lists:
        longer = [(share * guess.probability, (*way, guess)) for share, way in ways for guess in guesses]
        ways = sorted(longer, key=lambda pair: -pair[0])[: max(map(len, lists))]
    truth = [mask.hidden for mask in result.masks]
    wordpiece = any((piece or "").startswith("##") for piece in truth)
    return [
        WordGuess(_joined([guess.token for guess in way], wordpiece), share, [guess.token for guess in way] == truth)
        for share, way in ways
    ]


def _joined(pieces: list[str], wordpiece: bool) -> str:
    """Join pieces as they stand in a text: of WordPiece those with ## go on, of the others those without a space."""
    first, *rest = pieces
    text = first.strip().removeprefix("##")
    for piece in rest:
        text += piece.removeprefix("##") if piece.startswith("##") or not wordpiece else f" {piece}"
    return text


def fill_sentence(result: FillResult) -> Markup:
    """Say what the bars show, from the numbers."""
    if not result.masks:
        return prose("Nothing is hidden yet: press a token above to hide it, or type ", strong(result.mask_token), ".")
    parts = _of_a_word(result) if one_word(result) else _of_blanks(result)
    if result.in_view:
        parts.append("What was pressed stays in view, so this is what the model would have there. ")
    named = [guess for guess in result.masks[0].predictions if guess.named]
    if named:
        at = "For blank 1 " if len(result.masks) > 1 else "Among the words to look for "
        found = [
            f"“{guess.token.strip()}” is {ordinal(guess.rank)} with {percent(guess.probability)}" for guess in named
        ]
        parts.append(f"{at}{', '.join(found)}. ")
    parts.append(f"It chose from {result.vocabulary:,} word pieces.")
    unknown = [token.text for token in result.tokens if token.unknown]
    if unknown:
        parts.append(
            f" {len(unknown)} of the tokens are unknown to this vocabulary. In their place the model reads {unknown[0]}."
        )
    return prose(*parts)


def _of_a_word(result: FillResult) -> list[str]:
    """Say how one word's pieces are filled together, and what the word itself has."""
    word, best, count = one_word(result), word_guesses(result)[0], len(result.masks)
    spelled = COUNTS[count] if count < len(COUNTS) else str(count)
    pressed = "the word that stands there" if result.in_view else "the word that was hidden"
    parts: list[str] = [
        f"“{word}” is {spelled} pieces here, each guessed by itself. {possessive(result.model)} likeliest way "
    ]
    parts += ["to fill them is ", in_quotes(best.text), " (", strong(percent(best.probability)), ")"]
    if best.hidden:
        return [*parts, f", {pressed}. "]
    own = math.prod(mask.hidden_probability or 0.0 for mask in result.masks)
    return [*parts, f"; {pressed} has {percent(own)}. "]


def _of_blanks(result: FillResult) -> list[str]:
    """Say what the first guess for each of the first blanks is, and what was hidden there."""
    whose, parts = possessive(result.model), list[str]()
    for number, mask in enumerate(result.masks[:3], start=1):
        best = mask.predictions[0]
        blank = "the blank" if len(result.masks) == 1 else f"blank {number}"
        parts += [f"{whose} first guess for {blank} is " if number == 1 else f"For {blank} it is "]
        parts += [in_quotes(best.token), " (", strong(percent(best.probability)), ")", *_truth(mask, result), ". "]
    if len(result.masks) > 3:
        parts.append(f"{len(result.masks) - 3} more masks are in the table. ")
    return parts


def possessive(model: str) -> str:
    """Say whose guess it is, by the family's name if the model is a bundled one: BERT's."""
    card = find_card(model)
    return f"{card.family if card is not None and card.bundled else model}'s"


def one_word(result: FillResult) -> str:
    """Return the word whose pieces are all that is hidden; "" if something else is, or it is one piece."""
    places = [mask.position for mask in result.masks]
    if len(places) < 2 or places != list(range(places[0], places[0] + len(places))):
        return ""
    tokens = {token.position: token for token in result.tokens}
    hidden = [tokens[place] for place in places]
    if not all(token.state == "masked" and token.joined == bool(number) for number, token in enumerate(hidden)):
        return ""
    return "".join(token.shown.strip() for token in hidden)


def _truth(mask: FilledMask, result: FillResult) -> list[str]:
    """Say what stood at a blank, and where it comes in the list; nothing if the blank was typed."""
    if mask.hidden is None or mask.hidden_rank is None or mask.hidden_probability is None:
        return []
    kind = "token" if _is_piece(mask, result) else "word"
    pressed = f"{kind} that {'stands there' if result.in_view else 'was hidden'}"
    if mask.hidden_rank == 1:
        return [f", the {pressed}"]
    place = ordinal(mask.hidden_rank)
    return [f"; the {pressed}, ", in_quotes(mask.hidden), f", comes {place} with {percent(mask.hidden_probability)}"]


def _is_piece(mask: FilledMask, result: FillResult) -> bool:
    """Return whether a token is a part of a word: it goes on with the one before it, or the next one goes on with it."""
    joined = {token.position: token.joined for token in result.tokens}
    return joined.get(mask.position, False) or joined.get(mask.position + 1, False)
