"""Every token's place in the text: word pieces, bytes, pairs, and texts that nobody expects."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.encoding import Encoded, asked_texts, encode, replacement_ids
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models import tiny

STRANGE_TEXTS = {
    "null bytes": "the\0cat",
    "line breaks": "the\ncat\r\n\tsat",
    "emoji": "the 🙂 cat 👩‍👩‍👧",
    "Chinese": "我 the 我我",
    "right to left": "the قطة cat \u202eabc",
    "a tag": "<script>alert(1)</script>",
    "a surrogate in a text": "the \ud800 cat",
    "zero-width": "\u200b\u200d",
    "combining marks": "e\u0301\u0301\u0301 cat",
    "spaces around": "   the   cat   ",
}
NOTHING = {
    "empty": "",
    "spaces": "  \t ",
    "line breaks": "\n\n",
    "null": "\0",
    "a surrogate": "\ud800",
    "None": None,
    "a number": 3,
}


def texts(encoded: Encoded) -> list[str]:
    return [token.text for token in encoded.tokens]


class TestWordPieces:
    def test_pieces_of_a_word_are_joined_and_special_tokens_have_no_word(self, bert: LoadedModel) -> None:
        encoded = encode(bert, "The cats sitting.")
        assert texts(encoded) == ["[CLS]", "the", "cat", "##s", "sit", "##ting", ".", "[SEP]"]
        assert encoded.word_ids == (None, 0, 1, 1, 2, 2, 3, None)
        assert [token.joined for token in encoded.tokens] == [False, False, False, True, False, True, False, False]
        assert [token.position for token in encoded.tokens] == list(range(8))
        assert {token.segment for token in encoded.tokens} == {0}

    def test_tokens_are_shown_as_the_text_spells_them(self, bert: LoadedModel) -> None:
        text = "The cats sitting."
        encoded = encode(bert, text)
        assert [token.shown for token in encoded.tokens] == ["[CLS]", "The", "cat", "s", "sit", "ting", ".", "[SEP]"]
        for token in encoded.tokens[1:-1]:
            assert text[token.start : token.stop] == token.shown

    def test_the_tensors_are_what_the_model_reads(self, bert: LoadedModel) -> None:
        encoded = encode(bert, "The cats")
        assert set(encoded.inputs) == {"input_ids", "token_type_ids", "attention_mask"}
        assert {tensor.shape for tensor in encoded.inputs.values()} == {(1, 5)}
        assert encoded.input_ids.tolist() == [token.token_id for token in encoded.tokens]
        assert bert.model(**encoded.inputs).prediction_logits.shape == (1, 5, len(tiny.WORDS))

    def test_a_pair_has_two_segments_and_each_token_points_into_its_own_text(self, bert: LoadedModel) -> None:
        first, second = "the cat", "a mat on the cats"
        encoded = encode(bert, first, second)
        assert [token.segment for token in encoded.tokens] == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
        assert encoded.word_ids == (None, 0, 1, None, 0, 1, 2, 3, 4, 4, None)
        for token in encoded.tokens:
            if token.word is not None:
                assert (first, second)[token.segment][token.start : token.stop] == token.shown

    def test_a_word_that_opens_the_second_text_is_not_joined_to_the_first_text(self, bert: LoadedModel) -> None:
        assert not any(token.joined for token in encode(bert, "the", "the").tokens)

    def test_a_typed_special_token_belongs_to_no_word(self, bert: LoadedModel) -> None:
        encoded = encode(bert, "the [MASK] sat [SEP] a")
        assert texts(encoded) == ["[CLS]", "the", "[MASK]", "sat", "[SEP]", "a", "[SEP]"]
        assert [word is None for word in encoded.word_ids] == [True, False, True, False, True, False, True]

    def test_an_unknown_word_keeps_its_place(self, bert: LoadedModel) -> None:
        token = encode(bert, "the zebra sat").tokens[2]
        assert (token.text, token.shown, token.start, token.stop) == ("[UNK]", "[UNK]", 4, 9)
        assert token.word is not None

    def test_a_text_of_special_tokens_has_no_words(self, bert: LoadedModel) -> None:
        assert set(encode(bert, "[CLS] [MASK][SEP]").word_ids) == {None}

    def test_a_very_long_word_is_one_unknown_token(self, bert: LoadedModel) -> None:
        assert texts(encode(bert, "a" * 5000)) == ["[CLS]", "[UNK]", "[SEP]"]


class TestBytes:
    def test_pieces_of_a_word_are_joined_and_the_space_is_not_shown(self, roberta: LoadedModel) -> None:
        encoded = encode(roberta, "the cats hat")
        assert texts(encoded) == ["<s>", "the", "Ġcat", "s", "Ġ", "h", "at", "</s>"]
        assert encoded.word_ids == (None, 0, 1, 1, 2, 2, 2, None)
        assert [token.joined for token in encoded.tokens] == [False, False, False, True, False, True, True, False]
        assert [token.shown for token in encoded.tokens if token.text == "Ġcat"] == ["cat"]

    def test_offsets_point_at_the_characters(self, roberta: LoadedModel) -> None:
        text = "the cats hat"
        spans = {token.text: text[token.start : token.stop] for token in encode(roberta, text).tokens}
        assert (spans["the"], spans["Ġcat"], spans["s"], spans["at"]) == ("the", "cat", "s", "at")

    def test_a_pair_is_told_apart_by_its_offsets(self, roberta: LoadedModel) -> None:
        encoded = encode(roberta, "the", "the cat")
        assert texts(encoded) == ["<s>", "the", "</s>", "</s>", "the", "Ġcat", "</s>"]
        assert [token.start for token in encoded.tokens if token.word is not None] == [0, 0, 4]
        assert "token_type_ids" not in encoded.inputs

    def test_a_character_of_several_bytes_is_shown_at_each_of_them(self, roberta: LoadedModel) -> None:
        encoded = encode(roberta, "é")
        assert [token.shown for token in encoded.tokens] == ["<s>", "é", "é", "</s>"]
        assert [token.joined for token in encoded.tokens] == [False, False, True, False]


class TestStrangeTexts:
    @pytest.mark.parametrize("family", ["bert", "roberta"])
    @pytest.mark.parametrize("text", STRANGE_TEXTS.values(), ids=STRANGE_TEXTS)
    def test_they_are_read(self, family: str, text: str, request: pytest.FixtureRequest) -> None:
        loaded: LoadedModel = request.getfixturevalue(family)
        encoded = encode(loaded, text)
        assert all(0 <= token.start <= token.stop <= len(text) for token in encoded.tokens)
        assert all(token.shown for token in encoded.tokens)
        assert loaded.model(**encoded.inputs)[0].isfinite().all()

    @pytest.mark.parametrize("family", ["bert", "roberta"])
    @pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
    def test_nothing_is_refused(self, family: str, text: object, request: pytest.FixtureRequest) -> None:
        with pytest.raises(BadInputError, match="Type a sentence"):
            encode(request.getfixturevalue(family), text)

    def test_nothing_as_the_second_text_is_refused(self, bert: LoadedModel) -> None:
        with pytest.raises(BadInputError):
            encode(bert, "the cat", " ")

    def test_markup_stays_as_it_was_typed(self, bert: LoadedModel) -> None:
        assert "".join(token.shown for token in encode(bert, "<script>").tokens) == "[CLS]<script>[SEP]"

    def test_control_characters_do_not_move_the_offsets(self, bert: LoadedModel) -> None:
        text = "the\0\ud800cat"
        cat = next(token for token in encode(bert, text).tokens if token.text == "cat")
        assert text[cat.start : cat.stop] == "cat"


class TestLength:
    def test_a_text_of_the_longest_length_is_read(self, bert: LoadedModel) -> None:
        assert len(encode(bert, "cat " * (bert.longest - 2)).tokens) == bert.longest

    def test_one_token_more_is_refused_with_both_numbers(self, bert: LoadedModel) -> None:
        with pytest.raises(BadInputError) as caught:
            encode(bert, "cat " * (bert.longest - 1))
        assert f"{bert.longest + 1} tokens" in str(caught.value)
        assert f"at most {bert.longest}" in str(caught.value)

    def test_a_long_word_of_bytes_is_refused_with_its_length(self, roberta: LoadedModel) -> None:
        with pytest.raises(BadInputError, match="5,002 tokens"):
            encode(roberta, "x" * 5000)

    def test_the_longest_text_of_bytes_is_one_that_the_model_can_read(self, roberta: LoadedModel) -> None:
        encoded = encode(roberta, "x" * (roberta.longest - 2))
        assert roberta.model(**encoded.inputs).logits.isfinite().all()

    def test_a_text_too_large_to_look_at_is_refused_before_it_is_tokenised(self, bert: LoadedModel) -> None:
        with pytest.raises(BadInputError, match="characters"):
            encode(bert, "a " * 20_000)


def test_many_threads_may_share_a_tokenizer(bert: LoadedModel) -> None:
    with ThreadPoolExecutor(8) as threads:
        lengths = list(threads.map(lambda count: len(encode(bert, "cat " * count).tokens), range(1, 20)))
    assert lengths == [count + 2 for count in range(1, 20)]


def test_random_replacements_are_drawn_from_all_but_the_special_tokens(bert: LoadedModel) -> None:
    ids = replacement_ids(bert.tokenizer)
    assert ids.tolist() == list(range(len(tiny.SPECIAL), len(tiny.WORDS)))
    assert ids.dtype == torch.long


def test_a_blank_is_spelled_for_a_model_that_fills_it_and_ends_what_another_reads(
    bert: LoadedModel, tmp_path: Path
) -> None:
    assert asked_texts(bert, "the <mask> sat", "a [MASK]") == ("the [MASK] sat", "a [MASK]", False)
    causal = load_model(str(tiny.save(tmp_path, "GPT-2")), Settings(device="cpu"))
    assert asked_texts(causal, "the cat sat") == ("the cat sat", "", False)
    assert asked_texts(causal, "the cat sat on [MASK] mat.", "then") == ("the cat sat on", "", True)
    assert asked_texts(causal, "the cat", "sat <mask>.") == ("the cat", "sat", True)
    with pytest.raises(BadInputError, match="before the blank"):
        asked_texts(causal, " [MASK] cat")


def test_a_text_to_be_continued_does_not_end(tmp_path: Path) -> None:
    """ModernBERT's decoders have the encoders' tokenizer."""
    decoder = load_model(str(tiny.save(tmp_path / "decoder", "ModernBERT decoder")), Settings(device="cpu"))
    encoder = load_model(str(tiny.save(tmp_path / "encoder", "ModernBERT")), Settings(device="cpu"))
    whole = [token.text for token in encode(encoder, "the cat sat").tokens]
    assert whole == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    encoded = encode(decoder, "the cat sat")
    assert [token.text for token in encoded.tokens] == whole[:-1]
    assert {tensor.shape for tensor in encoded.inputs.values()} == {(1, 4)}
