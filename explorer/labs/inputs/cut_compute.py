"""How a word is cut, step by step, from a tokenizer's own vocabulary, merges or scores (the dict of its tokenizer.json)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from explorer.labs.inputs.schema import Alternative, CutPart, Step

MOST_ALTERNATIVES = 5
UNKNOWN_PENALTY = 10.0
"""Below the least probable piece's log probability: what SentencePiece gives a character that it does not know."""

Spans = tuple[tuple[int, int], ...]
"""A cut, as the first and the last character (exclusive) of each piece."""


def word_piece(model: Mapping[str, Any], word: str) -> CutPart:
    """Cut a word by greedy longest match first, from the left (Wu et al. 2016, section 4.1; Devlin et al. 2019).

    Where nothing in the vocabulary begins the rest, the whole word is the unknown token.
    """
    vocabulary, prefix, unknown = model["vocab"], model["continuing_subword_prefix"], model["unk_token"]
    if len(word) > model["max_input_chars_per_word"]:
        return CutPart(word, "WordPiece", (Step((unknown,), 0),), (unknown,), lost=word)
    steps: list[Step] = []
    pieces: tuple[str, ...] = ()
    start = 0
    while start < len(word):
        before = prefix if start else ""
        candidates = [before + word[start:stop] for stop in range(len(word), start, -1)]
        found = next((candidate for candidate in candidates if candidate in vocabulary), None)
        if found is None:
            steps.append(Step((unknown,), 0, tuple(candidates), rest=word[start:]))
            return CutPart(word, "WordPiece", tuple(steps), (unknown,), lost=word)
        pieces = (*pieces, found)
        start += len(found) - len(before)  # "##" is none of the word's characters
        tried = tuple(candidates[: candidates.index(found)])
        steps.append(Step(pieces, len(pieces) - 1, tried, rest=word[start:]))
    return CutPart(word, "WordPiece", tuple(steps), pieces)


def byte_pair(model: Mapping[str, Any], ranks: Mapping[tuple[str, str], int], word: str) -> CutPart:
    """Merge the pair of neighbours that stands first in the list of merges, until none is in it (Sennrich et al. 2016).

    ranks: the place of each pair in the list, from 0.
    """
    if model.get("ignore_merges") and word in model["vocab"]:
        return CutPart(word, "BPE", (Step((word,), 0),), (word,))
    pieces, lost = _symbols(model, word)
    steps = [Step(tuple(pieces))]
    prefix = model.get("continuing_subword_prefix") or ""
    while True:
        ranked = [(ranks[pair], place) for place, pair in enumerate(pairwise(pieces)) if pair in ranks]
        if not ranked:
            break
        rank, place = min(ranked)  # of equal pairs the leftmost
        # A merged piece has its mark once.
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1].removeprefix(prefix)]
        steps.append(Step(tuple(pieces), place, rank=rank + 1))
    return CutPart(word, "BPE", tuple(steps), tuple(pieces), lost=lost or None)


def merge_ranks(model: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Return the place of each pair in a BPE's list of merges; files spell a pair as a list or, older ones, with a
    space.
    """
    pairs = (tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in model["merges"])
    return {(first, second): rank for rank, (first, second) in enumerate(pairs)}


def _symbols(model: Mapping[str, Any], word: str) -> tuple[list[str], str]:
    """Return what merging begins with, and what is lost: a piece a character, with the family's marks, bytes, or
    unknown.
    """
    vocabulary, unknown = model["vocab"], model.get("unk_token")
    symbols: list[str] = []
    lost = ""
    for place, character in enumerate(word):
        symbol = ((model.get("continuing_subword_prefix") or "") if place else "") + character
        symbol += (model.get("end_of_word_suffix") or "") if place == len(word) - 1 else ""
        spelled = [f"<0x{byte:02X}>" for byte in character.encode()] if model.get("byte_fallback") else []
        if symbol in vocabulary:
            symbols.append(symbol)
        elif spelled and all(byte in vocabulary for byte in spelled):
            symbols += spelled
        else:
            lost += character
            # Neighbours that are unknown become one.
            if unknown is not None and not (model.get("fuse_unk") and symbols[-1:] == [unknown]):
                symbols.append(unknown)
    return symbols, lost


class Unigram:
    """A unigram model's cut (Kudo 2018, section 3.2): the pieces whose product of probabilities is largest."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.scores: dict[str, float] = {piece: float(score) for piece, score in model["vocab"]}
        self.longest = max(map(len, self.scores))
        self.unknown = min(self.scores.values()) - UNKNOWN_PENALTY
        self.unknown_piece = None if model.get("unk_id") is None else str(model["vocab"][model["unk_id"]][0])
        self.byte_fallback = bool(model.get("byte_fallback"))

    def cut(self, word: str) -> CutPart:
        """Find the best cut of each beginning of the word (Viterbi), and the best few cuts of the whole."""
        best = self._viterbi(word)
        steps = []
        for stop in range(1, len(word) + 1):
            pieces = self._spelled(word, _walk(best, stop)).pieces
            steps.append(Step(pieces, len(pieces) - 1, rest=word[stop:], score=best[stop][0]))
        winner = self._spelled(word, _walk(best, len(word)))
        alternatives = self._alternatives(word, winner.pieces)
        return CutPart(word, "Unigram", tuple(steps), winner.pieces, alternatives, self._lost(word, winner.pieces))

    def _edges(self, word: str, start: int) -> list[tuple[int, float]]:
        """Return where a piece that begins at `start` may stop, with its log probability; one unknown character if it
        must be.
        """
        stops = range(start + 1, min(len(word), start + self.longest) + 1)
        known = [(stop, self.scores[word[start:stop]]) for stop in stops if word[start:stop] in self.scores]
        # Known stops ascend, so the first tells whether the character alone is a piece.
        return known if known and known[0][0] == start + 1 else [(start + 1, self.unknown), *known]

    def _viterbi(self, word: str) -> list[tuple[float, int]]:
        """Return, for each place, the log probability of the best cut up to it, and where that cut's last piece begins."""
        best: list[tuple[float, int] | None] = [(0.0, 0)] + [None] * len(word)
        for start in range(len(word)):
            so_far = best[start]
            assert so_far is not None  # a single character is always an edge
            for stop, score in self._edges(word, start):
                there = best[stop]
                if there is None or so_far[0] + score > there[0]:
                    best[stop] = (so_far[0] + score, start)
        return [entry for entry in best if entry is not None]

    def _alternatives(self, word: str, winner: tuple[str, ...]) -> tuple[Alternative, ...]:
        """Return the best few cuts, by keeping that many for each place; the winner is the one that Viterbi found."""
        paths: list[list[tuple[float, Spans]]] = [[] for _ in range(len(word) + 1)]
        paths[0] = [(0.0, ())]
        for start in range(len(word)):
            # Twice as many: some spell the same pieces.
            paths[start] = sorted(paths[start], key=lambda path: -path[0])[: 2 * MOST_ALTERNATIVES]
            for stop, score in self._edges(word, start):
                paths[stop] += [(so_far + score, (*spans, (start, stop))) for so_far, spans in paths[start]]
        found: dict[tuple[str, ...], Alternative] = {}
        for _, spans in sorted(paths[-1], key=lambda path: -path[0]):
            spelled = self._spelled(word, spans)
            found.setdefault(spelled.pieces, spelled)
        # A stable sort: the winner moves to the front.
        ranked = sorted(found.values(), key=lambda alternative: alternative.pieces != winner)
        return tuple(ranked[:MOST_ALTERNATIVES])

    def _spelled(self, word: str, spans: Spans) -> Alternative:
        """Return the pieces of a cut; unknown neighbours are one unknown piece, or bytes if the family has them."""
        pieces: list[tuple[str, float]] = []
        was_unknown = False
        for start, stop in spans:
            piece = word[start:stop]
            score = self.scores.get(piece, self.unknown)
            unknown = piece not in self.scores
            spelled = self._bytes(piece) if unknown else []
            if spelled:
                # The whole score stands at the first byte.
                pieces += [(byte, 0.0 if number else score) for number, byte in enumerate(spelled)]
            elif unknown and was_unknown and pieces:
                pieces[-1] = (pieces[-1][0], pieces[-1][1] + score)
            elif not unknown or self.unknown_piece is not None:
                pieces.append((str(self.unknown_piece) if unknown else piece, score))
            was_unknown = unknown and not spelled
        return Alternative(tuple(piece for piece, _ in pieces), tuple(score for _, score in pieces))

    def _bytes(self, piece: str) -> list[str]:
        """Spell an unknown character as byte pieces, in a vocabulary that has them all; [] in others."""
        spelled = [f"<0x{byte:02X}>" for byte in piece.encode()] if self.byte_fallback else []
        return spelled if all(byte in self.scores for byte in spelled) else []

    def _lost(self, word: str, pieces: tuple[str, ...]) -> str | None:
        if self.unknown_piece not in pieces:
            return None
        return "".join(character for character in word if character not in self.scores) or None


def _walk(best: list[tuple[float, int]], stop: int) -> Spans:
    """Walk back from a place along the best pieces."""
    spans = []
    while stop > 0:
        start = best[stop][1]
        spans.append((start, stop))
        stop = start
    return tuple(reversed(spans))


def whole(model: Mapping[str, Any], word: str) -> CutPart:
    """Cut by a vocabulary of whole words: each is looked up or unknown."""
    known = word in model["vocab"]
    piece = word if known else str(model.get("unk_token"))
    return CutPart(word, "whole", (Step((piece,), 0),), (piece,), lost=None if known else word)
