"""Which answer is explained, where, against which baseline; and what is said where none can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError, ExplorerError, MissingCapabilityError
from explorer.labs.attribution.scoring import baseline_kind
from explorer.models.encoding import encode
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.labs.attribution.bench import asked_of
from tests.models.tiny import save_byte_level
from tests.rows import each_row

Family = Callable[[str], LoadedModel]


def test_without_a_target_the_models_own_answer_is_explained(bert: LoadedModel) -> None:
    asked = asked_of(bert, "the cat [MASK] on a mat")
    with torch.inference_mode():
        logits = bert.model(**encode(bert, "the cat [MASK] on a mat").inputs).prediction_logits[0, 3]
    assert asked.fixed.target == int(logits.argmax())
    assert asked.fixed.place == 3
    assert asked.places == (3,)
    assert asked.is_top


@pytest.mark.parametrize("target", ["cat", " cat ", "CAT"])
def test_a_word_can_be_named(bert: LoadedModel, target: str) -> None:
    asked = asked_of(bert, "the [MASK] sat on a mat", target=target.strip())
    assert asked.answer == "cat"


def test_any_mask_can_be_asked_and_no_other_position(bert: LoadedModel) -> None:
    assert asked_of(bert, "the [MASK] sat on a [MASK]").places == (2, 6)
    assert asked_of(bert, "the [MASK] sat on a [MASK]", position=6).fixed.place == 6
    with pytest.raises(BadInputError, match="asked at 2, 6"):
        asked_of(bert, "the [MASK] sat on a [MASK]", position=3)


def test_masks_are_understood_in_either_spelling(bert: LoadedModel) -> None:
    one, other = (asked_of(bert, f"the {mask} sat") for mask in ("<mask>", "[MASK]"))
    assert (one.tokens, one.score, one.fixed.target) == (other.tokens, other.score, other.fixed.target)


def test_replaced_tokens_start_with_the_most_suspicious_one(family: Family) -> None:
    loaded = family("ELECTRA discriminator")
    asked = asked_of(loaded, "the cat script on a mat")
    with torch.inference_mode():
        logits = loaded.model(**encode(loaded, "the cat script on a mat").inputs).logits[0]
    assert asked.fixed.place == 1 + int(logits[1:-1].argmax())
    assert asked.places == (1, 2, 3, 4, 5, 6)
    original, replaced = (asked_of(loaded, "the cat", position=1, target=name) for name in ("original", "replaced"))
    assert original.score == pytest.approx(-replaced.score, abs=1e-5)


@pytest.mark.parametrize(("target", "answer"), [("not_next", "not_next"), ("IS_NEXT", "is_next"), ("1", "not_next")])
def test_classes_are_named_or_numbered(bert: LoadedModel, target: str, answer: str) -> None:
    assert asked_of(bert, "the cat", "a mat", target=target).answer == answer


def test_the_two_classes_of_a_pair_are_each_others_opposite(bert: LoadedModel) -> None:
    one, other = (asked_of(bert, "the cat", "a mat", target=name) for name in ("is_next", "not_next"))
    assert one.score == pytest.approx(-other.score, abs=1e-5)
    assert {one.is_top, other.is_top} == {True, False}


@each_row(
    ("text", "second", "changes", "says"),
    [
        ("the cat sat", "", {}, r"write \[MASK\]"),
        ("the [MASK] sat", "", {"target": "sitting"}, "is 2 tokens for .*sit, ##ting"),
        ("the [MASK] sat", "", {"target": "zebra"}, "not in the vocabulary"),
        ("the [MASK] sat", "", {"target": "the cat"}, "is 2 tokens"),
        ("the cat", "a mat", {"target": "maybe"}, "is_next, not_next"),
        ("the [MASK]", "", {"position": 99}, "asked at 2"),
        ("the cat " * 30 + "[MASK]", "", {}, "tokens long"),
        ("  ", "", {}, "Type a sentence"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    bert: LoadedModel, text: str, second: str, changes: dict[str, object], says: str
) -> None:
    with pytest.raises(BadInputError, match=says):
        asked_of(bert, text, second, **changes)


def test_baselines(bert: LoadedModel, family: Family) -> None:
    gpt2 = family("GPT-2")
    assert asked_of(bert, "the [MASK]", baseline="auto").fixed.baseline == "mask"
    assert asked_of(bert, "the [MASK]", baseline="auto").baseline_token == "[MASK]"
    without = LoadedModel(
        **{**vars(gpt2), "tokenizer": type("Bare", (), {"mask_token_id": None, "pad_token_id": None})()}
    )
    assert baseline_kind(without, "auto") == "zero"
    for wish in ("mask", "pad"):
        with pytest.raises(BadInputError, match="zero vector"):
            baseline_kind(without, wish)
    scores = {kind: asked_of(bert, "the cat [MASK]", baseline=kind).baseline_score for kind in ("mask", "pad", "zero")}
    assert len(set(scores.values())) >= 2, "another baseline is another question"


def test_a_model_without_a_head_predicts_nothing(bert: LoadedModel) -> None:
    headless = LoadedModel(**{**vars(bert), "capabilities": frozenset()})
    with pytest.raises(MissingCapabilityError):
        asked_of(headless, "the [MASK]")


def test_a_byte_level_vocabulary_finds_the_word_with_its_space(tmp_path: Path) -> None:
    loaded = load_model(str(save_byte_level(tmp_path)), Settings(device="cpu"))
    asked = asked_of(loaded, "the <mask>", target="cat")
    assert asked.answer == "cat"
    assert loaded.tokenizer.convert_ids_to_tokens([asked.fixed.target]) == ["Ġcat"]
    with pytest.raises(ExplorerError, match="tokens"):
        asked_of(loaded, "the <mask>", target="dog")
