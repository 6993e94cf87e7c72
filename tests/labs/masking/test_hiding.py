"""What `also_mask` and `spans` hide."""

from __future__ import annotations

import pytest
from markupsafe import Markup

import explorer
from explorer.charts.chips import hidden_for
from explorer.errors import BadInputError
from explorer.labs.masking.fill_figures import fill_chips
from explorer.labs.masking.jobs import fill_masks
from explorer.labs.masking.schema import FillParams
from explorer.models.loaded_model import LoadedModel
from tests.rows import each_row

TEXT = "The cat sat at the mat."
"""[CLS] The cat sat at the mat . [SEP]: each word is one token."""


def hidden(loaded: LoadedModel, *places: int | str, text: str = TEXT, **more: object) -> list[tuple[int, str | None]]:
    result = fill_masks(loaded, FillParams(text, also_mask=places, **more))  # type: ignore[arg-type]
    return [(mask.position, mask.hidden) for mask in result.masks]


def test_a_position_is_hidden(loaded: LoadedModel) -> None:
    assert hidden(loaded, 2) == [(2, "cat")]


def test_a_word_is_hidden(loaded: LoadedModel) -> None:
    assert hidden(loaded, "mat") == [(6, "mat")]


def test_a_word_is_found_as_a_word_before_a_part_of_one(loaded: LoadedModel) -> None:
    assert hidden(loaded, "at") == [(4, "at")]
    assert hidden(loaded, "he") == [(1, "The")]


def test_all_pieces_of_a_word_are_hidden(loaded: LoadedModel) -> None:
    tokens = loaded.tokenizer.tokenize("antidisestablishmentarianism")
    assert len(tokens) > 1
    places = [
        place
        for place, _ in hidden(loaded, "antidisestablishmentarianism", text="I like antidisestablishmentarianism.")
    ]
    assert places == list(range(3, 3 + len(tokens)))


@each_row("places", ["2, 6", " 2 ,6,", ["2", "6"], (2, 6), ["cat", 6], "cat,mat", "6, 2, cat"])
def test_lists_and_strings_with_commas_say_the_same(loaded: LoadedModel, places: object) -> None:
    result = fill_masks(loaded, FillParams(TEXT, also_mask=places))  # type: ignore[arg-type]
    assert [mask.position for mask in result.masks] == [2, 6]


def test_characters_are_hidden_by_spans(loaded: LoadedModel) -> None:
    start = TEXT.index("cat")
    assert hidden(loaded, spans=((start, start + 3),)) == [(2, "cat")]
    assert hidden(loaded, spans=((start + 1, start + 2), (0, 1))) == [(1, "The"), (2, "cat")]
    assert hidden(loaded, spans=((3, 4),)) == []


def test_a_typed_mask_and_hidden_tokens_go_together(loaded: LoadedModel) -> None:
    assert hidden(loaded, "cat", text="The cat sat on the [MASK].") == [(2, "cat"), (6, None)]


def test_hiding_a_position_twice_hides_it_once(loaded: LoadedModel) -> None:
    assert hidden(loaded, 2, 2, "cat") == [(2, "cat")]


@pytest.mark.parametrize("place", [0, 8, 9, 10**8, "-1", "dog", pytest.param("9" * 5000, id="huge"), "1.5", "<script>"])
def test_a_place_that_holds_no_token_says_so(loaded: LoadedModel, place: int | str) -> None:
    with pytest.raises(BadInputError) as caught:
        hidden(loaded, place)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\n\x00", None, 5, pytest.param("word " * 600, id="600 words"), pytest.param("x" * 20_001, id="long")],
)
def test_a_text_that_cannot_be_read_says_so(loaded: LoadedModel, text: object) -> None:
    with pytest.raises(BadInputError):
        fill_masks(loaded, FillParams(text))  # type: ignore[arg-type]


def test_a_script_without_masks_is_told_what_to_do() -> None:
    with pytest.raises(BadInputError, match=r"\[MASK\]"):
        explorer.run("fill_masks", text="Nothing is hidden here.")


def test_pressed_chips_hold_while_text_and_model_do(loaded: LoadedModel) -> None:
    chips = fill_chips(fill_masks(loaded, FillParams(TEXT, also_mask="2, mat")))
    assert [chip["text"] for chip in chips["chips"] if chip["pressed"]] == ["[MASK]", "[MASK]"]
    assert not any(isinstance(chip["text"], Markup) for chip in chips["chips"])
    assert hidden_for(chips, loaded.model_id, TEXT, "2, mat") == {"also_mask": "2, mat"}


def test_for_another_text_only_words_that_it_has_stay_hidden(loaded: LoadedModel) -> None:
    chips = fill_chips(fill_masks(loaded, FillParams(TEXT, also_mask="2, mat")))
    assert hidden_for(chips, loaded.model_id, "The mat is red.", "2, mat, cat") == {"also_mask": ("mat",)}


def test_for_another_model_hidden_tokens_are_handed_on_as_characters(loaded: LoadedModel) -> None:
    chips = fill_chips(fill_masks(loaded, FillParams(TEXT, also_mask="2, mat")))
    request = hidden_for(chips, "another", TEXT, "2, mat")
    assert [TEXT[start:stop] for start, stop in request["spans"]] == ["cat", "mat"]
    assert hidden(loaded, *request["also_mask"], spans=request["spans"]) == [(2, "cat"), (6, "mat")]
