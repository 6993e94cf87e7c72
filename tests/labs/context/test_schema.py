"""Sentences, senses and words as visitors and clients write them, and the sentences that refuse them."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.context.examples import EXAMPLES, LENS_EXAMPLES, LENS_TRY, TRY
from explorer.labs.context.lens import LONGEST_FOLLOWED, MOST_GUESSES, LensParams
from explorer.labs.context.word import LONGEST_SENSE, LONGEST_WORD, MOST, ContextParams, find_word

PAIR = ("A bank of sand. | river", "The bank is shut.")


@pytest.mark.parametrize(
    "given",
    [
        "\n".join(PAIR),
        "\r\n".join(PAIR),
        "\n\n  ".join(["", *PAIR, ""]),
        PAIR,
        list(PAIR),
        str(list(PAIR)),
        '["A bank of sand. | river", "The bank is shut."]',
        '["A bank of sand. | river", "The bank is shut.",]',
    ],
)
def test_lines_lists_and_lists_as_text_are_the_same(given: Any) -> None:
    params = ContextParams(given, " bank ")
    assert params == ContextParams(PAIR, "bank")
    assert [(line.text, line.sense) for line in params.lines] == [
        ("A bank of sand.", "river"),
        ("The bank is shut.", None),
    ]


def test_params_can_be_a_key_of_the_cache() -> None:
    assert hash(ContextParams("\n".join(PAIR), "bank")) == hash(ContextParams(PAIR, "bank"))


@pytest.mark.parametrize("text", ['["a bank", "the bank', "['a bank' \"the bank\"]x", "[\"a\" + 'b bank']", '["bank"]'])
def test_brackets_and_quotes_that_are_no_list_are_a_sentence(text: str) -> None:
    """A list of one sentence is a list, and is refused as one."""
    if text == '["bank"]':
        with pytest.raises(BadInputError, match="at least two"):
            ContextParams(text, "bank")
    else:
        assert ContextParams(f"{text}\nmy bank", "bank").sentences == (text, "my bank")


@pytest.mark.parametrize(
    "text", ["['" + "-" * 50_000 + "']", "['a', " + "(" * 5_000 + "'']", "['a'" + "+'b'" * 30_000 + "]"]
)
def test_a_list_that_is_meant_to_break_the_parser_does_not(text: str) -> None:
    with pytest.raises(BadInputError):
        ContextParams(text, "bank")


@pytest.mark.parametrize(
    ("line", "text", "sense"),
    [
        ("my bank | a | b", "my bank | a", "b"),
        ("my bank|b", "my bank", "b"),
        ("my bank |", "my bank", None),
        ("| bank", "| bank", None),
        ("bank \u2028 x | s", "bank \u2028 x", "s"),
        ("my\tbank\x00 | s", "my bank", "s"),
    ],
)
def test_the_sense_stands_after_the_last_bar(line: str, text: str, sense: str | None) -> None:
    first = ContextParams((line, "a bank"), "bank").lines[0]
    assert (first.text.strip(), first.sense) == (text, sense)
    assert first.text[first.start : first.stop] == "bank"


@pytest.mark.parametrize(
    ("sentences", "word", "hint"),
    [
        ("", "bank", "at least two"),
        ("a bank", "bank", "at least two"),
        ("\n".join(["a bank"] * (MOST + 1)), "bank", f"9 sentences, and the page compares at most {MOST}"),
        ("a bank\nthe river", "bank", "Sentence 2 .“the river”. has no “bank”"),
        ("a bank\nthe banks", "bank", "Sentence 2"),
        ("embankment\na bank", "bank", "Sentence 1"),
        ("a bank\n" + "x" * 100, "bank", "Sentence 2 .“x+…”."),
        ("a bank\na bank | " + "s" * (LONGEST_SENSE + 1), "bank", "sentence 2 the sense after | has 31"),
        ("a bank\na bank" + " x" * 11_000, "bank", "22,006 characters"),
        (PAIR, "", "Type the word"),
        (PAIR, "  ", "Type the word"),
        (PAIR, None, "Type the word"),
        (PAIR, "x" * (LONGEST_WORD + 1), "61 characters"),
        (None, "bank", "one a line"),
        ((1, 2), "bank", "one a line"),
        ("x" * 1_000_000, "bank", "at least two"),
        ("x\n" * 100_000, "bank", "100,000 sentences"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence_that_says_why(sentences: Any, word: Any, hint: str) -> None:
    with pytest.raises(BadInputError, match=hint.replace("|", r"\|")):
        ContextParams(sentences, word)


@pytest.mark.parametrize("seed", [-1, 2**31, "x", None])
def test_a_seed_out_of_range_names_the_range(seed: Any) -> None:
    with pytest.raises(BadInputError, match="seed must be a whole number"):
        ContextParams(PAIR, "bank", seed)


@pytest.mark.parametrize(
    ("text", "word", "places"),
    [
        ("The bank, the Bank and the banks.", "bank", [(4, 8), (14, 18)]),
        ("He's at the e-bank.", "bank", [(14, 18)]),
        ("C++ and C.", "c++", [(0, 3)]),
        ("It costs $5 (net).", "(net)", [(12, 17)]),
        ("a.b axb", "a.b", [(0, 3)]),
        ("我在银行", "银行", [(2, 4)]),
        ("100$", "$", [(3, 4)]),
        ("Straße", "strasse", []),
        ("New York is new", "new york", [(0, 8)]),
        ("naïve", "na", []),
    ],
)
def test_a_word_is_found_as_a_word_of_its_own(text: str, word: str, places: list[tuple[int, int]]) -> None:
    assert find_word(text, word) == places


def test_the_first_of_several_is_taken_and_counted() -> None:
    line = ContextParams(("The bank by the bank.", "a bank"), "bank").lines[0]
    assert (line.start, line.stop, line.times) == (4, 8, 2)


@pytest.mark.parametrize(("_name", "word", "sentences"), [*EXAMPLES, *TRY])
def test_every_example_has_its_word_in_each_sentence(_name: str, word: str, sentences: tuple[str, ...]) -> None:
    assert len(ContextParams(sentences, word).lines) == len(sentences)


@pytest.mark.parametrize(("_name", "text", "follow"), [*LENS_EXAMPLES, *LENS_TRY])
def test_every_example_of_the_lens_has_a_mask(_name: str, text: str, follow: str) -> None:
    assert "[MASK]" in LensParams(text, follow=follow).text


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"text": ""}, "Type a sentence"),
        ({"text": None}, "Type a sentence"),
        ({"text": "x" * 30_000}, "characters"),
        ({"text": "x", "top_k": 0}, f"from 1 to {MOST_GUESSES}"),
        ({"text": "x", "top_k": 10**9}, "top_k"),
        ({"text": "x", "follow": "y" * (LONGEST_FOLLOWED + 1)}, "61 characters"),
    ],
)
def test_the_lens_refuses_in_a_sentence(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(BadInputError, match=hint):
        LensParams(**given)


@pytest.mark.parametrize("follow", [None, "", "  "])
def test_nothing_need_be_followed(follow: Any) -> None:
    assert LensParams("x", follow=follow).follow == ""
