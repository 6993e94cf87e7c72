"""A text in pieces: ids, words, bytes and unknown pieces against the tokenizers themselves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.inputs.jobs import tokenize
from explorer.labs.inputs.schema import DEFAULT_TOKENIZERS, LONGEST_TEXT, TokenizedText, TokenizeParams
from explorer.text import checked_text
from tests.labs.inputs.samples import BUNDLED, MADE, NAMES, TEXTS, opened_of, opener
from tests.rows import each_row


def tokenized(name: str, text: str) -> TokenizedText:
    return tokenize(opener(*MADE), TokenizeParams(text, (name,))).tokenized[0]


@each_row("name", NAMES)
@each_row("text", TEXTS)
def test_ids_and_tokens_are_the_tokenizer_s_own(name: str, text: str) -> None:
    tokenizer = opened_of(name).tokenizer
    ids = tokenizer(checked_text(text))["input_ids"]
    pieces = tokenized(name, text).pieces
    assert [piece.token_id for piece in pieces] == ids
    assert [piece.text for piece in pieces] == tokenizer.convert_ids_to_tokens(ids)
    assert [piece.position for piece in pieces] == list(range(len(ids)))


@each_row("name", NAMES)
@each_row("text", TEXTS)
def test_every_piece_of_the_text_has_its_word_and_words_go_on_without_a_gap(name: str, text: str) -> None:
    text = checked_text(text)
    result = tokenize(opener(*MADE), TokenizeParams(text, (name,)))
    assert [text[start:stop] for start, stop in result.words] == text.split()
    before = None
    for piece in result.tokenized[0].pieces:
        if piece.word is not None:
            start, stop = result.words[piece.word]
            assert start <= piece.start <= stop
        assert piece.joined == (piece.word is not None and piece.word == before)
        before = piece.word
    assert all(piece.word is None for piece in result.tokenized[0].pieces if piece.special)


@each_row("text", [text for text in TEXTS if "<" not in text])
def test_a_byte_level_tokenizer_loses_no_byte(text: str) -> None:
    done = tokenized("byte-level-bpe", text)
    assert bytes(byte for piece in done.own for byte in piece.utf8) == checked_text(text).encode()
    assert done.unknown == 0


@pytest.mark.parametrize("name", ["bert-small", "unigram"])
def test_other_pieces_have_the_bytes_of_the_characters_that_they_stand_for(name: str) -> None:
    text = "naïve café 我 😀 x"
    done = tokenized(name, text)
    for piece in done.own:
        assert bytes(piece.utf8) == text[piece.start : piece.stop].encode()
    assert bytes(byte for piece in done.own for byte in piece.utf8) == "".join(text.split()).encode()


def test_byte_pieces_of_a_sentencepiece_tokenizer_are_one_byte_each() -> None:
    done = tokenized("unigram-bytes", "abé")
    assert [piece.text for piece in done.own] == ["▁ab", "<0xC3>", "<0xA9>"]
    assert [piece.utf8 for piece in done.own] == [(0x61, 0x62), (0xC3,), (0xA9,)]
    assert done.unknown == 0


@each_row(
    ("name", "text", "lost"),
    [
        ("bert-small", "I love 😀 and ⵣ", ["😀", "ⵣ"]),
        ("bert-small", "walkⵣing", ["walkⵣing"]),
        ("bert-small", "plain words", []),
        ("unigram", "I love 😀 and *", ["😀", "*"]),
        ("unigram", "我爱北京", ["我爱北京"]),
        ("unigram", "plain words", []),
        ("byte-level-bpe", "I love 😀 and ⵣ", []),
        ("whole-words", "a c b", ["c"]),
        ("suffixed-True", "abxyd", ["xy"]),
        ("sentencepiece-bpe", "ab z", []),
    ],
)
def test_what_becomes_unknown(name: str, text: str, lost: list[str]) -> None:
    done = tokenized(name, text)
    unknown_id = opened_of(name).tokenizer.unk_token_id
    assert [text[piece.start : piece.stop] for piece in done.pieces if piece.unknown] == lost
    assert done.unknown == len(lost) == [piece.token_id for piece in done.own].count(unknown_id)


def test_the_special_tokens_that_a_model_reads_are_there_and_stand_for_nothing() -> None:
    special = {name: [piece.text for piece in tokenized(name, "a word").pieces if piece.special] for name in BUNDLED}
    assert special == {
        "bert-small": ["[CLS]", "[SEP]"],
        "byte-level-bpe": ["<s>", "</s>"],
        "unigram": ["[CLS]", "[SEP]"],
    }
    assert all(piece.utf8 == () for piece in tokenized("bert-small", "a word").pieces if piece.special)


def test_pieces_a_word_are_counted_as_in_each_word_alone() -> None:
    text = "unbelievable tokenization of antidisestablishmentarianism"
    counts = Counter(piece.word for piece in tokenized("bert-small", text).own)
    assert [counts[number] for number in range(4)] == [len(tokenized("bert-small", word).own) for word in text.split()]


@each_row(
    ("text", "shown"),
    [
        ("é", ["é"]),
        ("a é", ["a", "Ġ", "é"]),
        ("😀", ["F0", "9F", "98", "80"]),
        ("the", ["the"]),
    ],
)
def test_bytes_are_shown_as_letters_where_they_make_one(text: str, shown: list[str]) -> None:
    pieces = tokenized("byte-level-bpe", text).own
    assert "".join(piece.shown for piece in pieces).replace("Ġ", "") == "".join(shown).replace("Ġ", "")


def test_the_default_shows_the_three_methods_offline() -> None:
    result = tokenize(opener(), TokenizeParams("a text"))
    assert [done.name for done in result.tokenized] == list(DEFAULT_TOKENIZERS) == list(BUNDLED)
    assert [done.kind for done in result.tokenized] == ["WordPiece", "byte-level BPE", "SentencePiece unigram"]
    assert [done.vocabulary for done in result.tokenized] == [28_996, 16_000, 16_000]


def test_the_kinds_of_other_tokenizers_are_named() -> None:
    kinds = {opened.name: tokenized(opened.name, "a").kind for opened in MADE}
    assert kinds["sentencepiece-bpe"] == "SentencePiece BPE"
    assert kinds["suffixed-True"] == "BPE"
    assert kinds["unigram-bytes"] == "SentencePiece unigram"
    assert kinds["lower-case"] == "WordPiece"
    assert kinds["whole-words"] == "WordLevel"


def test_a_tokenizer_that_is_not_here_leaves_the_others() -> None:
    result = tokenize(opener(), TokenizeParams("a text", ("FacebookAI/roberta-base", "unigram", "/no/such/folder")))
    assert [done.name for done in result.tokenized] == ["unigram"]
    assert [name for name, _ in result.refused] == ["FacebookAI/roberta-base", "/no/such/folder"]
    assert "bert-small" in result.refused[0][1]


@each_row(
    ("text", "models", "says"),
    [
        ("", BUNDLED, "Type a sentence"),
        (" \n", BUNDLED, "Type a sentence"),
        (None, BUNDLED, "Type a sentence"),
        ("a" * 10_000_000, BUNDLED, "10,000,000 characters"),
        ("a" * (LONGEST_TEXT + 1), BUNDLED, "5,001 characters.*at most 5,000"),
        ("a", (), "at least one tokenizer"),
        ("a", "", "at least one tokenizer"),
        ("a", " , ", "at least one tokenizer"),
        ("a", ("a", "b", "c", "d", "e"), "5 tokenizers, and 4 fit"),
        ("a", ("x" * 301,), "hub id"),
        ("a", 7, "names of tokenizers"),
        ("a", None, "names of tokenizers"),
    ],
)
def test_what_cannot_be_compared_says_what_to_do(text: Any, models: Any, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        TokenizeParams(text, models)


@pytest.mark.parametrize(
    "models", ["unigram, bert-small", ["unigram", "bert-small", "unigram"], ("unigram", "bert-small")]
)
def test_names_come_as_a_list_or_with_commas_and_each_once(models: Any) -> None:
    assert TokenizeParams("a", models).models == ("unigram", "bert-small")


def test_a_text_of_the_largest_size_is_taken() -> None:
    assert len(tokenized("byte-level-bpe", "我" * LONGEST_TEXT).own) == 3 * LONGEST_TEXT
