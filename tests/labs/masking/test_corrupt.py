"""One corrupted text, and its loss against the loss that transformers computes."""

from __future__ import annotations

import pytest
import torch
from transformers import BertForMaskedLM, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.labs.masking.jobs import corrupt_text
from explorer.labs.masking.schema import CorruptParams, CorruptResult
from explorer.maths.schemes import SCHEMES
from explorer.models.loaded_model import LoadedModel
from tests.rows import each_row

TEXT = (
    "The river Thames flows through London, which has been the capital of England for centuries. "
    "Its unforgettable bridges attract photographers from everywhere."
)


def loss_by_transformers(result: CorruptResult, model: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase) -> float:
    shown = tokenizer.convert_tokens_to_ids([token.shown for token in result.tokens])
    originals = tokenizer.convert_tokens_to_ids([token.original for token in result.tokens])
    labels = [
        -100 if token.fate == "untouched" else original
        for token, original in zip(result.tokens, originals, strict=True)
    ]
    with torch.inference_mode():
        return float(model(input_ids=torch.tensor([shown]), labels=torch.tensor([labels])).loss)


@each_row("scheme", SCHEMES)
@each_row("seed", [0, 1, 2])
def test_the_mean_of_the_terms_is_the_loss_of_the_models_own_labels_and_of_another_class(
    loaded: LoadedModel, masked_lm: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase, scheme: str, seed: int
) -> None:
    result = corrupt_text(loaded, CorruptParams(TEXT, rate=0.4, scheme=scheme, seed=seed))
    terms = [token.loss for token in result.tokens if token.loss is not None]
    assert sum(terms) / len(terms) == pytest.approx(result.mean_loss, abs=1e-9)
    assert result.mean_loss == pytest.approx(result.model_loss, abs=1e-5)
    assert result.mean_loss == pytest.approx(loss_by_transformers(result, masked_lm, tokenizer), abs=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_chosen_tokens_have_a_loss_and_special_tokens_are_never_chosen(loaded: LoadedModel, scheme: str) -> None:
    result = corrupt_text(loaded, CorruptParams(TEXT, rate=1.0, scheme=scheme))
    for token in result.tokens:
        assert (token.loss is not None) == (token.fate != "untouched")
        assert token.loss is None or token.loss >= 0
        assert token.special == (token.original in ("[CLS]", "[SEP]"))
        assert not (token.special and token.fate != "untouched")
    assert all(token.fate != "untouched" for token in result.tokens if not token.special)


def test_each_token_is_shown_as_its_fate_says(loaded: LoadedModel) -> None:
    result = corrupt_text(loaded, CorruptParams(TEXT, rate=1.0, mask_share=0.4, random_share=0.3))
    assert {token.fate for token in result.tokens} == {"untouched", "mask", "random", "kept"}
    for token in result.tokens:
        if token.fate == "mask":
            assert token.shown == "[MASK]"
        elif token.fate != "random":
            assert token.shown == token.original
        else:
            assert token.shown not in loaded.tokenizer.all_special_tokens


@pytest.mark.parametrize("rate", [0.01, 0.15, 0.5])
def test_the_rate_decides_how_many_are_chosen(loaded: LoadedModel, rate: float) -> None:
    tokens = corrupt_text(loaded, CorruptParams(TEXT, rate=rate)).tokens
    candidates = sum(not token.special for token in tokens)
    assert sum(token.fate != "untouched" for token in tokens) == max(1, round(rate * candidates))


def test_rate_zero_leaves_everything_and_has_no_loss(loaded: LoadedModel) -> None:
    result = corrupt_text(loaded, CorruptParams(TEXT, rate=0.0))
    assert {token.fate for token in result.tokens} == {"untouched"}
    assert result.mean_loss is None
    assert result.model_loss is None


def test_a_seed_gives_the_same_draw_again_and_another_seed_another(loaded: LoadedModel) -> None:
    assert corrupt_text(loaded, CorruptParams(TEXT, seed=4)) == corrupt_text(loaded, CorruptParams(TEXT, seed=4))
    assert corrupt_text(loaded, CorruptParams(TEXT, seed=4)) != corrupt_text(loaded, CorruptParams(TEXT, seed=5))


def test_hiding_a_word_costs_more_than_leaving_it(loaded: LoadedModel) -> None:
    """A loose fact about any trained model: what it may look at it can name."""
    masked = corrupt_text(loaded, CorruptParams(TEXT, rate=0.15, mask_share=1.0, random_share=0.0))
    kept = corrupt_text(loaded, CorruptParams(TEXT, rate=0.15, mask_share=0.0, random_share=0.0))
    assert masked.mean_loss is not None
    assert kept.mean_loss is not None
    assert kept.mean_loss < masked.mean_loss


@pytest.mark.parametrize("text", ["[MASK] [SEP]", "[PAD]", "\u200b"])
def test_a_text_of_special_tokens_only_says_so(loaded: LoadedModel, text: str) -> None:
    with pytest.raises(BadInputError, match="special tokens"):
        corrupt_text(loaded, CorruptParams(text))
