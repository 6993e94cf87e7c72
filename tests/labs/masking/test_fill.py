"""Filled masks against transformers' pipeline and against numpy and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import special, stats
from transformers import BertForMaskedLM, PreTrainedTokenizerBase, pipeline

from explorer.labs.masking.jobs import fill_masks
from explorer.labs.masking.schema import MOST_PREDICTIONS, FilledMask, FillParams
from explorer.models.loaded_model import LoadedModel
from pretraining.cloze import SENTENCES
from tests.rows import each_row

ONE_MASK = (
    "The capital of France is [MASK].",
    "[MASK]",
    "She said: “don't [MASK] it” & left <b>quickly</b>…",
    "[MASK] is the largest city of Japan, and Ünïcode 東京 😀 is no trouble.",
)
SEVERAL_MASKS = ("Rome is the [MASK] of [MASK].", "[MASK] [MASK] [MASK] in New York and [MASK] in Boston.")


def predictions_of(mask: FilledMask) -> list[tuple[int, str]]:
    return [(guess.token_id, guess.token) for guess in mask.predictions]


@pytest.fixture(scope="module")
def fill_mask_pipeline(masked_lm: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase) -> Any:
    return pipeline("fill-mask", model=masked_lm, tokenizer=tokenizer, device="cpu")


@pytest.fixture(scope="module")
def distribution(masked_lm: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase) -> Any:
    """(text, position) -> p over the vocabulary, in float64, by numpy and another class of transformers."""

    def at(text: str, position: int) -> NDArray[np.float64]:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            logits = masked_lm(**inputs).logits[0, position]
        return special.softmax(logits.double().numpy())

    return at


@each_row("text", ONE_MASK)
def test_one_mask_agrees_with_the_fill_mask_pipeline(loaded: LoadedModel, fill_mask_pipeline: Any, text: str) -> None:
    expected = fill_mask_pipeline(text, top_k=10)
    (mask,) = fill_masks(loaded, FillParams(text, top_k=10)).masks
    assert predictions_of(mask) == [(entry["token"], entry["token_str"]) for entry in expected]
    for guess, entry in zip(mask.predictions, expected, strict=True):
        assert guess.probability == pytest.approx(entry["score"], abs=1e-5)


@pytest.mark.parametrize("text", SEVERAL_MASKS)
def test_several_masks_agree_with_the_fill_mask_pipeline(
    loaded: LoadedModel, fill_mask_pipeline: Any, text: str
) -> None:
    expected = fill_mask_pipeline(text, top_k=7)
    masks = fill_masks(loaded, FillParams(text, top_k=7)).masks
    assert len(masks) == text.count("[MASK]")
    for mask, entries in zip(masks, expected, strict=True):
        assert predictions_of(mask) == [(entry["token"], entry["token_str"]) for entry in entries]
        for guess, entry in zip(mask.predictions, entries, strict=True):
            assert guess.probability == pytest.approx(entry["score"], abs=1e-5)


def test_probabilities_are_shares_of_the_whole_vocabulary(loaded: LoadedModel, distribution: Any) -> None:
    """numpy's distribution sums to 1 over all tokens, and the fifty shown are its fifty largest entries."""
    (mask,) = fill_masks(loaded, FillParams(ONE_MASK[0], top_k=MOST_PREDICTIONS)).masks
    p = distribution(ONE_MASK[0], mask.position)
    assert len(p) == len(loaded.tokenizer)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose([guess.probability for guess in mask.predictions], np.sort(p)[:-51:-1], atol=1e-5)
    for guess in mask.predictions:
        assert guess.probability == pytest.approx(p[guess.token_id], abs=1e-5)
    assert [guess.rank for guess in mask.predictions] == list(range(1, 51))


@pytest.mark.parametrize("text", [ONE_MASK[0], ONE_MASK[2], SEVERAL_MASKS[0]])
def test_entropy_is_that_of_scipy_in_bits(loaded: LoadedModel, distribution: Any, text: str) -> None:
    for mask in fill_masks(loaded, FillParams(text)).masks:
        assert mask.entropy == pytest.approx(stats.entropy(distribution(text, mask.position), base=2), rel=1e-4)


@pytest.mark.parametrize(("word", "text"), [("France", "Paris lies in France."), ("the", "He sat on the chair.")])
def test_a_hidden_tokens_rank_probability_and_surprisal(
    loaded: LoadedModel, distribution: Any, word: str, text: str
) -> None:
    (mask,) = fill_masks(loaded, FillParams(text, also_mask=(word,))).masks
    p = distribution(text.replace(word, "[MASK]"), mask.position)
    truth = loaded.tokenizer.convert_tokens_to_ids(word)
    assert mask.hidden == word
    assert mask.hidden_rank == 1 + int((p > p[truth]).sum())
    # Processors differ in the order of float32's sums: by 1.02e-5 on one of them.
    assert mask.hidden_probability == pytest.approx(p[truth], abs=2e-5)
    assert mask.surprisal == pytest.approx(-np.log(p[truth]), abs=1e-4)


def test_typing_a_mask_and_hiding_the_same_token_predict_the_same(loaded: LoadedModel) -> None:
    (typed,) = fill_masks(loaded, FillParams("Paris is the capital of [MASK].")).masks
    (hidden,) = fill_masks(loaded, FillParams("Paris is the capital of France.", also_mask=("France",))).masks
    assert typed.predictions == hidden.predictions
    assert typed.position == hidden.position
    assert typed.entropy == hidden.entropy
    assert (typed.hidden, typed.hidden_rank, typed.hidden_probability, typed.surprisal) == (None,) * 4


def test_roberta_s_spelling_of_the_mask_works_too(loaded: LoadedModel) -> None:
    ours = fill_masks(loaded, FillParams("Rome is the [MASK] of [MASK]."))
    theirs = fill_masks(loaded, FillParams("Rome is the <mask> of [MASK]."))
    assert ours.masks == theirs.masks
    assert ours.tokens == theirs.tokens


def test_a_text_without_masks_gives_its_tokens_and_no_masks(loaded: LoadedModel) -> None:
    result = fill_masks(loaded, FillParams("Hello there."))
    assert result.masks == ()
    assert [(token.text, token.state) for token in result.tokens] == [
        ("[CLS]", "special"),
        ("Hello", "plain"),
        ("there", "plain"),
        (".", "plain"),
        ("[SEP]", "special"),
    ]


def test_states_and_characters_of_the_tokens(loaded: LoadedModel) -> None:
    text = "Paris is [MASK] 東 big."
    result = fill_masks(loaded, FillParams(text, also_mask=("Paris",)))
    assert [token.state for token in result.tokens[:4]] == ["special", "masked", "plain", "blank"]
    assert [mask.position for mask in result.masks] == [1, 3]
    for token in result.tokens:
        if token.state in ("plain", "masked") and not token.unknown:
            assert text[token.start : token.stop] == token.shown
    assert result.mask_token == "[MASK]"
    assert result.vocabulary == len(loaded.tokenizer)


def test_an_unknown_token_is_marked(loaded: LoadedModel) -> None:
    unknown = [token for token in fill_masks(loaded, FillParams("I like 😀 a lot.")).tokens if token.unknown]
    assert [token.text for token in unknown] == ["[UNK]"]


def test_a_job_leaves_the_model_as_it_was(loaded: LoadedModel) -> None:
    first = fill_masks(loaded, FillParams(ONE_MASK[0]))
    fill_masks(loaded, FillParams("Something else entirely, [MASK].", also_mask=(2,)))
    assert fill_masks(loaded, FillParams(ONE_MASK[0])) == first
    assert not loaded.model.training


def test_the_bundled_model_answers_everyday_blanks(loaded: LoadedModel) -> None:
    """A loose fact: an accepted answer is among the five best in half of the sentences or more."""
    some, among = SENTENCES[::4], 0
    for sentence, accepted in some:
        (mask,) = fill_masks(loaded, FillParams(sentence)).masks
        among += any(guess.token in accepted.split() for guess in mask.predictions)
    assert among >= len(some) / 2
