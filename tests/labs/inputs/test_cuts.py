"""The steps of a cut end where the tokenizer itself ends, for every method and in every script."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

from explorer.errors import BadInputError, ExplorerError, ModelUnavailableError
from explorer.labs.inputs.cut_compute import UNKNOWN_PENALTY, Unigram, byte_pair, merge_ranks
from explorer.labs.inputs.jobs import cut_word
from explorer.labs.inputs.schema import CutParams, WordCut
from explorer.models.tokenizer_store import OpenTokenizer
from tests.labs.inputs.samples import BUNDLED, MADE, NAMES, TEXTS, opened_of, opener
from tests.rows import each_row

ALPHABETS = (
    "abcd",
    "abcdefghijklmno ABab.'",
    "éïßçÅøñ",
    "我爱北京abc",
    "😀🐈👩‍👧",
    "0123456789.,",
    "абвгд",
    "ab\u0301\u200d ▁Ġ#",
)


def cut(name: str, word: str, after_space: bool = True) -> WordCut:
    return cut_word(opener(*MADE), CutParams(word, (name,), after_space)).cuts[0]


def own_ids(opened: OpenTokenizer, text: str) -> list[int]:
    """What the tokenizer gives for the text by itself."""
    ids: list[int] = opened.tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def words() -> list[str]:
    """The words of the texts, and made-up ones over several alphabets."""
    chosen = random.Random(0)
    made = ["".join(chosen.choices(alphabet, k=chosen.randint(1, 12))) for alphabet in ALPHABETS for _ in range(25)]
    return [word[:60] for word in (*(word for text in TEXTS for word in text.split()), *made) if word.strip()]


@each_row("name", NAMES)
@each_row("after_space", [True, False])
def test_the_steps_end_with_the_tokenizer_s_own_pieces(name: str, after_space: bool) -> None:
    opened = opened_of(name)
    for word in words():
        found = cut(name, word, after_space)
        text = f" {word.strip()}" if after_space else word.strip()
        assert list(found.ids) == own_ids(opened, text), (name, word)
        assert found.agrees
        assert found.pieces == tuple(piece for part in found.parts for piece in part.pieces)
        assert opened.tokenizer.convert_ids_to_tokens(list(found.ids)) == list(found.pieces)
        for part in found.parts:
            assert not part.steps or part.steps[-1].pieces == part.pieces


def test_a_wordpiece_step_takes_the_longest_piece_and_what_it_tried_is_not_there() -> None:
    vocabulary = opened_of("bert-small").tokenizer.get_vocab()
    for word in ("tokenization", "unbelievable", "naïve", "Donaudampfschiff", "xqzqxqq"):
        (part,) = cut("bert-small", word).parts
        rest = word
        for number, step in enumerate(part.steps):
            before = "##" if number else ""
            assert not any(tried in vocabulary for tried in step.tried)
            assert list(step.tried) == [
                before + rest[:size] for size in range(len(rest), len(rest) - len(step.tried), -1)
            ]
            assert step.pieces[-1] == before + rest[: len(rest) - len(step.tried)]
            rest = step.rest
        assert rest == ""


def test_one_letter_that_is_nowhere_makes_the_whole_word_unknown() -> None:
    found = cut("bert-small", "walk我ing")
    assert found.pieces == ("walk", "[UNK]", "ing")  # Chinese characters are split off first
    (part,) = cut("bert-small", "walkⵣing").parts
    assert part.pieces == ("[UNK]",)
    assert part.lost == "walkⵣing"
    assert part.steps[-1].rest == "ⵣing"
    assert part.steps[-2].pieces == ("walk",)


def test_a_word_that_is_too_long_is_not_looked_up() -> None:
    (part,) = cut("lower-case", "e" * 21).parts
    assert part.pieces == ("[UNK]",)
    assert part.steps[0].tried == ()
    assert cut("lower-case", "e" * 20).pieces == ("e", *["##e"] * 19)


@pytest.mark.parametrize("name", ["byte-level-bpe", "sentencepiece-bpe"])
def test_each_merge_is_the_first_of_the_list_among_the_neighbours(name: str) -> None:
    model: dict[str, Any] = opened_of(name).description["model"]
    merges = [tuple(pair) for pair in model["merges"]]
    for word in ("tokenization", "abcdno", "Österreich", "1024"):
        for part in cut(name, word).parts:
            for before, after in itertools.pairwise(part.steps):
                pairs = list(itertools.pairwise(before.pieces))
                assert after.rank is not None
                assert after.new is not None
                assert merges[after.rank - 1] == pairs[after.new]
                assert merges.index(pairs[after.new]) == min(merges.index(pair) for pair in pairs if pair in merges)
                assert after.pieces[after.new] == "".join(pairs[after.new])
            assert not any(pair in merges for pair in itertools.pairwise(part.pieces))


def test_merges_of_older_files_are_understood() -> None:
    model = {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    assert byte_pair(model, merge_ranks(model), "aab").pieces == ("a", "ab")


def every_cut(word: str) -> list[tuple[str, ...]]:
    """All ways to cut a word."""
    cuts = []
    for count in range(len(word)):
        for places in itertools.combinations(range(1, len(word)), count):
            edges = [0, *places, len(word)]
            cuts.append(tuple(word[start:stop] for start, stop in itertools.pairwise(edges)))
    return cuts


@each_row("word", ["tokens", "unable", "thethe", "qzqzq"])
def test_a_unigram_s_alternatives_are_the_best_of_all_cuts(word: str) -> None:
    model = opened_of("unigram").description["model"]
    scores = dict(model["vocab"])
    word = f"▁{word}"
    possible = [pieces for pieces in every_cut(word) if all(piece in scores for piece in pieces)]
    totals = sorted((sum(scores[piece] for piece in pieces) for pieces in possible), reverse=True)
    part = Unigram(model).cut(word)
    assert [entry.total for entry in part.alternatives] == pytest.approx(totals[:5])
    assert part.alternatives[0].pieces == part.pieces
    assert part.steps[-1].score == pytest.approx(totals[0])
    for entry in part.alternatives:
        assert entry.scores == tuple(scores[piece] for piece in entry.pieces)


def test_each_beginning_has_its_own_best_cut() -> None:
    unigram = Unigram(opened_of("unigram").description["model"])
    steps = unigram.cut("▁tokens").steps
    for stop, step in enumerate(steps, start=1):
        assert step.pieces == unigram.cut("▁tokens"[:stop]).pieces
        assert step.rest == "▁tokens"[stop:]


def test_unknown_characters_cost_ten_more_than_the_least_probable_piece_each() -> None:
    model = opened_of("unigram").description["model"]
    least = min(score for _, score in model["vocab"])
    part = Unigram(model).cut("▁😀😀")
    assert part.pieces == ("▁", "<unk>")
    assert part.lost == "😀😀"
    assert part.alternatives[0].scores[1] == pytest.approx(2 * (least - UNKNOWN_PENALTY))
    assert part.steps[-1].score == pytest.approx(part.alternatives[0].total)


def test_alternatives_are_in_order_and_differ() -> None:
    for word in words()[:60]:
        for part in cut("unigram", word).parts:
            totals = [entry.total for entry in part.alternatives]
            assert totals == sorted(totals, reverse=True)
            assert len({entry.pieces for entry in part.alternatives}) == len(totals) <= 5
            assert all(math.isfinite(total) for total in totals)


def test_a_space_before_matters_to_bytes_and_not_to_wordpiece() -> None:
    assert cut("byte-level-bpe", "the", True).pieces == ("Ġthe",)
    assert cut("byte-level-bpe", "the", False).pieces == ("the",)
    assert cut("bert-small", "the", True).pieces == cut("bert-small", "the", False).pieces


def test_what_happens_before_the_cut_is_told() -> None:
    found = cut("lower-case", "CAFÉ Naïve")
    assert found.normalized.strip() == "cafe naive"
    assert [part.text for part in found.parts] == ["cafe", "naive"]
    assert found.pieces == ("cafe", "na", "##ive")


def test_an_added_token_is_taken_whole() -> None:
    found = cut("bert-small", "a[MASK]b")
    assert found.pieces == ("a", "[MASK]", "b")
    assert [part.method for part in found.parts] == ["WordPiece", "whole", "WordPiece"]


def test_several_tokenizers_are_cut_in_the_order_in_which_they_were_named() -> None:
    result = cut_word(opener(), CutParams("word", tuple(reversed(BUNDLED))))
    assert [found.name for found in result.cuts] == list(reversed(BUNDLED))
    kinds = {found.name: found.kind for found in result.cuts}
    assert kinds == {
        "bert-small": "WordPiece",
        "byte-level-bpe": "byte-level BPE",
        "unigram": "SentencePiece unigram",
    }


def test_one_that_cannot_be_opened_is_told_beside_the_others() -> None:
    result = cut_word(opener(), CutParams("word", ("unigram", "google-bert/bert-base-uncased")))
    assert [found.name for found in result.cuts] == ["unigram"]
    ((name, why),) = result.refused
    assert name == "google-bert/bert-base-uncased"
    assert "could not be downloaded" in why


def test_where_nothing_can_be_opened_the_reasons_are_the_error() -> None:
    with pytest.raises(ExplorerError, match=r"HF_HUB_OFFLINE.*no/such/folder"):
        cut_word(opener(), CutParams("word", ("google-bert/bert-base-uncased", "/no/such/folder")))
    with pytest.raises(ModelUnavailableError):
        opener()("nobody/nothing")


@each_row(
    ("word", "says"), [("", "Type a sentence"), ("  ", "Type a sentence"), ("x" * 61, "61 characters"), (None, "Type")]
)
def test_a_word_that_cannot_be_followed_says_what_to_do(word: Any, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        CutParams(word)
