"""The jobs on tokenizers: a text in pieces by several of them, and one word cut step by step."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from explorer.errors import ExplorerError
from explorer.labs.inputs.cut_compute import Unigram, byte_pair, merge_ranks, whole, word_piece
from explorer.labs.inputs.schema import (
    CutParams,
    CutPart,
    CutResult,
    Piece,
    TokenizedText,
    TokenizeParams,
    TokenizeResult,
    WordCut,
)
from explorer.labs.inputs.spelling import BYTE_PIECE, bytes_of, knows_unknown, readable
from explorer.models.tokenizer_store import OpenTokenizer, is_byte_level, kind_of
from explorer.text import checked_text

Answer = TypeVar("Answer")
OpenTokenizerOf = Callable[[str], OpenTokenizer]


def tokenize(open_tokenizer: OpenTokenizerOf, params: TokenizeParams) -> TokenizeResult:
    """Cut a text as each tokenizer gives it to its model, special tokens included."""
    text = checked_text(params.text)
    words = tuple(found.span() for found in re.finditer(r"\S+", text))
    done, refused = _each(open_tokenizer, params.models, lambda opened: _tokenized(opened, text, words))
    respaced = sum(before != after for before, after in zip(params.text, text, strict=True))
    return TokenizeResult(text, words, done, refused, respaced)


def cut_word(open_tokenizer: OpenTokenizerOf, params: CutParams) -> CutResult:
    """Show how each tokenizer comes to its cut of the word."""
    text = f" {params.word}" if params.after_space else params.word
    done, refused = _each(open_tokenizer, params.models, lambda opened: _cut(opened, text))
    return CutResult(params.word, params.after_space, done, refused)


def _each(
    open_tokenizer: OpenTokenizerOf, names: Sequence[str], work: Callable[[OpenTokenizer], Answer]
) -> tuple[tuple[Answer, ...], tuple[tuple[str, str], ...]]:
    """Work on what can be opened, and say why the others cannot. Raises ExplorerError if nothing can be opened."""
    done: list[Answer] = []
    refused: list[tuple[str, str]] = []
    for name in names:
        try:
            done.append(work(open_tokenizer(name)))
        except ExplorerError as error:
            refused.append((name, str(error)))
    if not done:
        raise ExplorerError(" ".join(why for _, why in refused))
    return tuple(done), tuple(refused)


def _tokenized(opened: OpenTokenizer, text: str, words: tuple[tuple[int, int], ...]) -> TokenizedText:
    tokenizer, description = opened.tokenizer, opened.description
    batch = tokenizer(text, return_offsets_mapping=True, truncation=False, verbose=False)
    ids: list[int] = batch["input_ids"]
    unknown_id = tokenizer.unk_token_id if knows_unknown(description) else None
    special = set(tokenizer.all_special_ids) - {unknown_id}  # the unknown token stands for some of the text
    byte_level = is_byte_level(description)
    word_of = {place: number for number, (start, stop) in enumerate(words) for place in range(start, stop)}
    pieces: list[Piece] = []
    for position, (token_id, spelled, span) in enumerate(
        zip(ids, tokenizer.convert_ids_to_tokens(ids), batch["offset_mapping"], strict=True)
    ):
        start, stop = span
        while start < stop and text[start].isspace():  # a byte-level piece holds the space before its word
            start += 1
        if not spelled.strip("▁") and text[start:stop].strip("▁"):
            stop = start  # a space that was put before the word, which claims the word's first letter as well
        outside = token_id in special
        word = None if outside else word_of.get(start)
        joined = word is not None and bool(pieces) and pieces[-1].word == word
        utf8 = () if outside else _utf8(spelled, text[start:stop], byte_level)
        pieces.append(
            Piece(
                position,
                token_id,
                spelled,
                spelled if outside else readable(spelled, byte_level),
                joined,
                word,
                outside,
                token_id == unknown_id,
                start,
                stop,
                utf8,
            )
        )
    return TokenizedText(opened.name, kind_of(description), len(tokenizer), tuple(pieces))


def _utf8(spelled: str, source: str, byte_level: bool) -> tuple[int, ...]:
    """Return the bytes of a piece: its own if it is made of bytes, else those of the characters that it stands for."""
    own = bytes_of(spelled) if byte_level else None
    found = BYTE_PIECE.fullmatch(spelled)
    if found:
        own = bytes([int(found[1], 16)])
    return tuple(source.encode() if own is None else own)


def _cut(opened: OpenTokenizer, text: str) -> WordCut:
    description, backend = opened.description, opened.backend
    parts: list[CutPart] = []
    normalized = ""
    for segment, is_token in _around_added(description["added_tokens"], text):
        if is_token:
            parts.append(CutPart(segment, "whole", (), (segment,)))
            normalized += segment
            continue
        normal = backend.normalizer.normalize_str(segment) if backend.normalizer else segment
        normalized += normal
        split = backend.pre_tokenizer.pre_tokenize_str(normal) if backend.pre_tokenizer else [(normal, None)]
        parts += [_method(opened)(word) for word, _ in split if word]
    pieces = tuple(piece for part in parts for piece in part.pieces)
    unknown = backend.token_to_id(str(opened.tokenizer.unk_token))
    ids = tuple(backend.token_to_id(piece) for piece in pieces)
    own = backend.encode(text, add_special_tokens=False).ids
    return WordCut(
        opened.name,
        kind_of(description),
        is_byte_level(description),
        normalized,
        tuple(parts),
        pieces,
        tuple(unknown if number is None else number for number in ids),
        str(opened.tokenizer.unk_token) if knows_unknown(description) else None,
        list(ids) == list(own),  # how this tab cuts is checked against the tokenizer
    )


def _around_added(added: Sequence[dict[str, Any]], text: str) -> list[tuple[str, bool]]:
    """Split a text at the tokens that are taken whole before anything else, such as [MASK]; empty stretches are left
    out.
    """
    tokens = {str(token["content"]): token for token in added}
    if not tokens:
        return [(text, False)]
    # The longest first: one may begin another.
    pattern = "|".join(re.escape(content) for content in sorted(tokens, key=len, reverse=True))
    stretches = [(stretch, stretch in tokens) for stretch in re.split(f"({pattern})", text)]
    for place, (stretch, is_token) in enumerate(stretches):
        if is_token and tokens[stretch]["lstrip"] and place:
            stretches[place - 1] = (stretches[place - 1][0].rstrip(), False)
        if is_token and tokens[stretch]["rstrip"] and place + 1 < len(stretches):
            stretches[place + 1] = (stretches[place + 1][0].lstrip(), False)
    return [(stretch, is_token) for stretch, is_token in stretches if stretch]


@lru_cache(maxsize=8)
def _method(opened: OpenTokenizer) -> Callable[[str], CutPart]:
    """Return how this tokenizer's model cuts what has been split off."""
    model = opened.description["model"]
    if model["type"] == "WordPiece":
        return lambda word: word_piece(model, word)
    if model["type"] == "BPE":
        ranks = merge_ranks(model)
        return lambda word: byte_pair(model, ranks, word)
    if model["type"] == "Unigram":
        unigram = Unigram(model)
        return unigram.cut
    return lambda word: whole(model, word)
