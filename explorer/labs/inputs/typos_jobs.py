"""Typos made by a seed, and how they change what models make of a text's other words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import fsum
from random import Random
from statistics import fmean, stdev

from transformers import PreTrainedModel

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.inputs.typos import (
    MOST_TOKENS,
    SENTENCES,
    SHARES,
    AskedWord,
    ModelRead,
    SharePoint,
    SharesParams,
    SharesResult,
    TypoPiece,
    TyposParams,
    TyposResult,
)
from explorer.models.batching import InTurn, in_turn
from explorer.models.encoding import Encoded, encode
from explorer.models.families import Capability
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.text import checked_text

LEAST_LETTERS = 4
"""A shorter word gets no typo."""

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""The letters of an American keyboard, each row half a key to the right of the one above it."""

_LETTERS = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]+")


@dataclass(frozen=True)
class Part:
    """A word of a text, or the punctuation between two: its characters from start to stop."""

    text: str
    start: int
    stop: int


def parts_of(text: str) -> list[Part]:
    """Return words and punctuation in their order."""
    return [Part(found.group(), *found.span()) for found in _PART.finditer(text)]


def untouched(clean: Sequence[Part], typed: Sequence[Part]) -> list[tuple[int, int]]:
    """Return the words that stand in both texts, by their places in each; punctuation is left out."""
    one, other = ([part.text for part in parts] for parts in (clean, typed))
    # difflib's autojunk would skip a long text's frequent words.
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    pairs = [(block.a + place, block.b + place) for block in blocks for place in range(block.size)]
    return [(left, right) for left, right in pairs if any(map(str.isalnum, one[left]))]


def misspelt(text: str, share: float, seed: int, kinds: Collection[str]) -> str:
    """Return the text with one typo in a share of its words of four or more letters; the first letter stays.

    With the same seed a larger share adds typos to those of a smaller one: each word has its place in one order, and
    its typo.
    """
    words = [found for found in _LETTERS.finditer(text) if _possible(found.group(), kinds)]
    order = [*range(len(words))]
    Random(seed).shuffle(order)
    for place in sorted(order[: int(share * len(words) + 0.5)], reverse=True):  # from the end, so that places stay
        start, stop = words[place].span()
        # A str as seed is the same in every process.
        draw, options = Random(f"{seed}, word {place}"), _possible(words[place].group(), kinds)
        # Sorted, as the order of kinds is the visitor's.
        text = text[:start] + draw.choice(options[draw.choice(sorted(options))]) + text[stop:]
    return text


def _possible(word: str, kinds: Collection[str]) -> dict[str, list[str]]:
    """Return by kind what may become of a word; kinds that can't be made are left out, and a short word has none."""
    if len(word) < LEAST_LETTERS:
        return {}
    return {kind: made for kind in kinds if (made := misspellings(word, kind))}


def misspellings(word: str, kind: str) -> list[str]:
    """Return every way to make one typo of a kind in a word, its first letter left as it is."""
    inside = range(1, len(word))
    if kind == "swap":
        # Two equal letters swapped are no typo.
        pairs = [place for place in inside[:-1] if word[place] != word[place + 1]]
        return [word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in pairs]
    if kind == "drop":
        return [word[:place] + word[place + 1 :] for place in inside]
    if kind == "double":
        return [word[: place + 1] + word[place:] for place in inside]
    return [word[:place] + key + word[place + 1 :] for place in inside for key in neighbours(word[place])]


def neighbours(letter: str) -> str:
    """Return the keys around a letter's, in its case; "" for a letter that the keyboard lacks."""
    row = next((row for row, keys in enumerate(KEYS) if letter.lower() in keys), None)
    if row is None:
        return ""
    at = KEYS[row].index(letter.lower())
    # Half a key to the right: a key touches two in the row above and two in the row below.
    around = ((row - 1, at), (row - 1, at + 1), (row, at - 1), (row, at + 1), (row + 1, at - 1), (row + 1, at))
    found = "".join(KEYS[r][c] for r, c in around if 0 <= r < len(KEYS) and 0 <= c < len(KEYS[r]))
    return found.upper() if letter.isupper() else found


Outputs = dict[int, list[int]]
"""By the place of a word in its text the positions of its tokens."""


@dataclass(frozen=True)
class Side:
    """A text as one model reads it."""

    parts: list[Part]
    encoded: Encoded
    places: Outputs


def typos(resources: Resources, params: TyposParams) -> Iterator[TyposResult | None]:
    """Read a text, and the same text with typos, by every model; they take turns.

    Raises BadInputError, MissingCapabilityError.
    """
    clean = checked_text(params.text)
    typed = checked_text(params.typed) if params.typed else misspelt(clean, params.share, params.seed, params.kinds)
    loaded_models = [resources.model(name) for name in params.models]
    sides = [(_side(loaded, clean), _side(loaded, typed)) for loaded in loaded_models]
    pairs = _asked(loaded_models, sides)
    reads = []
    for loaded, both in zip(loaded_models, sides, strict=True):
        reads.append(_read(loaded, *both, pairs))
        yield None  # a turn for other questions
    parts = sides[0][0].parts, sides[0][1].parts
    total = sum(any(map(str.isalnum, part.text)) for part in parts[0])
    yield TyposResult(clean, typed, total, _changed(clean, typed, *parts), tuple(reads))


def typos_over_shares(resources: Resources, params: SharesParams) -> Iterator[SharesResult | None]:
    """Read the bundled sentences with more and more typos; each result adds a share, and others get a turn after each
    model.

    The words that are asked for are those without a typo at the largest share, so that they are the same at every
    share.
    """
    loaded_models = [resources.model(name) for name in params.models]
    names = tuple(loaded.model_id for loaded in loaded_models)
    asked = _asked_throughout(loaded_models, params)
    trees = [private_tree(loaded.model) for loaded in loaded_models]
    points: list[SharePoint] = []
    start: dict[str, list[float]] = {}
    for share in SHARES:
        texts = {misspelt(sentence, share, params.seed, params.kinds): words for sentence, words in asked.items()}
        for loaded, tree in zip(loaded_models, trees, strict=True):
            losses = [_mean_loss(loaded, tree, text, words) for text, words in texts.items()]
            before = start.setdefault(loaded.model_id, losses)  # the first share is 0
            added = [value - old for value, old in zip(losses, before, strict=True)]
            error = stdev(added) / len(added) ** 0.5  # of a mean over sentences
            points.append(SharePoint(loaded.model_id, share, fmean(losses), fmean(added), error))
            yield None
        yield SharesResult(names, len(asked), sum(map(len, asked.values())), tuple(points))


def _asked_throughout(loaded_models: Sequence[LoadedModel], params: SharesParams) -> dict[str, list[int]]:
    """Return the sentences with the places of the words that have no typo at any share, the same in every version."""
    found = {}
    for sentence in SENTENCES[: params.sentences]:
        worst = misspelt(sentence, SHARES[-1], params.seed, params.kinds)
        pairs = _asked(loaded_models, [(_side(one, sentence), _side(one, worst)) for one in loaded_models])
        found[sentence] = [place for place, _ in pairs]
    asked = {sentence: words for sentence, words in found.items() if words}
    if len(asked) < 2:  # one sentence has no deviation
        raise BadInputError(
            "Hardly a word of these sentences is known to all chosen models: choose models of English text."
        )
    return asked


def _mean_loss(loaded: LoadedModel, tree: PreTrainedModel, text: str, words: Collection[int]) -> float:
    answers = _in_turn(loaded, _side(loaded, text), words, tree)
    return fmean(-fsum(token.log_probability for token in tokens) for tokens in answers.values())


def _side(loaded: LoadedModel, text: str) -> Side:
    """Read a text as a model does. Raises BadInputError for a text that is too long, or has nothing to mask."""
    loaded.require(Capability.MLM)
    encoded, parts = encode(loaded, text), parts_of(text)
    count = sum(token.word is not None for token in encoded.tokens)
    if count > MOST_TOKENS:
        raise BadInputError(
            f"This is {count} tokens for {loaded.model_id}, and at most {MOST_TOKENS} are masked in turn: take a sentence of it."
        )
    places: Outputs = {}
    for token in encoded.tokens:
        for number, part in enumerate(parts):
            # By its end: it may begin with the space before.
            if token.word is not None and part.start < token.stop <= part.stop:
                places.setdefault(number, []).append(token.position)
    return Side(parts, encoded, places)


def _asked(loaded_models: Sequence[LoadedModel], sides: Sequence[tuple[Side, Side]]) -> list[tuple[int, int]]:
    """Return the words, by their places in both texts, that are untouched and that every model reads as the same known
    tokens.
    """
    pairs = untouched(sides[0][0].parts, sides[0][1].parts)
    for loaded, (clean, typed) in zip(loaded_models, sides, strict=True):
        unknown = loaded.tokenizer.unk_token_id
        kept = []
        for one, other in pairs:
            ids = _ids(clean, one)
            if ids and ids == _ids(typed, other) and unknown not in ids:
                kept.append((one, other))
        pairs = kept
    return pairs


def _ids(side: Side, word: int) -> list[int]:
    return [side.encoded.tokens[position].token_id for position in side.places.get(word, ())]


def _in_turn(
    loaded: LoadedModel, side: Side, words: Collection[int], tree: PreTrainedModel | None = None
) -> dict[int, list[InTurn]]:
    """Return the answers for some words' pieces, each masked with those that follow in its word."""
    word_at = {position: word for word in words for position in side.places[word]}
    asked = [word_at.get(token.position) for token in side.encoded.tokens]
    found: dict[int, list[InTurn]] = {word: [] for word in words}
    for answer in in_turn(loaded, side.encoded, True, asked, tree):
        found[word_at[answer.position]].append(answer)
    return found


def _read(loaded: LoadedModel, clean: Side, typed: Side, pairs: Sequence[tuple[int, int]]) -> ModelRead:
    before = _in_turn(loaded, clean, [one for one, _ in pairs])
    after = _in_turn(loaded, typed, [other for _, other in pairs])
    same = untouched(clean.parts, typed.parts)
    words = []
    for one, other in pairs:
        losses = [-fsum(answer.log_probability for answer in answers) for answers in (before[one], after[other])]
        guesses = [_spelled(loaded, answers[0].likeliest) for answers in (before[one], after[other])]
        words.append(AskedWord(clean.parts[one].text, losses[0], losses[1], guesses[0], guesses[1]))
    return ModelRead(
        loaded.model_id,
        _pieces(loaded, clean, before, {one for one, _ in same}),
        _pieces(loaded, typed, after, {other for _, other in same}),
        tuple(words),
    )


def _pieces(
    loaded: LoadedModel, side: Side, answers: dict[int, list[InTurn]], same: Collection[int]
) -> tuple[TypoPiece, ...]:
    known = {answer.position: answer for found in answers.values() for answer in found}
    word_of = {position: word for word, positions in side.places.items() for position in positions}
    made = []
    for token in side.encoded.tokens:
        if token.word is None:
            continue
        word, answer = word_of.get(token.position), known.get(token.position)
        is_word = word is not None and any(map(str.isalnum, side.parts[word].text))
        asked = (answer.log_probability, _spelled(loaded, answer.likeliest)) if answer else (None, "")
        touched = is_word and word not in same
        made.append(TypoPiece(token.position, token.text, token.shown, token.joined, touched, *asked))
    return tuple(made)


def _spelled(loaded: LoadedModel, token_id: int) -> str:
    return str(loaded.tokenizer.convert_ids_to_tokens(token_id))


def _changed(clean: str, typed: str, before: Sequence[Part], after: Sequence[Part]) -> tuple[tuple[str, str], ...]:
    """Return what differs, as it stands in each text: word by word if there are as many in both."""
    one, other = ([part.text for part in parts] for parts in (before, after))
    found: list[tuple[str, str]] = []
    for kind, start, stop, first, last in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "replace" and stop - start == last - first:
            found += zip(one[start:stop], other[first:last], strict=True)
        elif kind != "equal":
            found.append((_stretch(clean, before[start:stop]), _stretch(typed, after[first:last])))
    return tuple(found)


def _stretch(text: str, parts: Sequence[Part]) -> str:
    return text[parts[0].start : parts[-1].stop] if parts else ""
