"""Words that a visitor names, and what the model would put where a token stands in view."""

from __future__ import annotations

import pytest
import torch
from transformers import BertForMaskedLM, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.labs.masking import fill_figures as figures
from explorer.labs.masking.fill_said_figures import fill_sentence
from explorer.labs.masking.jobs import fill_masks
from explorer.labs.masking.schema import FillParams
from explorer.models.encoding import single_token
from explorer.models.loaded_model import LoadedModel

TEXT = "The nurse said she was tired."
WRONG = "The keys to the cabinet is on the table."


def test_named_words_follow_the_best_with_their_own_ranks(loaded: LoadedModel) -> None:
    everything = fill_masks(loaded, FillParams(TEXT, 50, ("she",))).masks[0].predictions
    far = everything[30]
    named = f"{far.token}, {everything[0].token}"
    (mask,) = fill_masks(loaded, FillParams(TEXT, 3, ("she",), words=named)).masks
    assert [guess.rank for guess in mask.predictions] == [1, 2, 3, 31]
    assert [guess.named for guess in mask.predictions] == [True, False, False, True]
    assert mask.predictions[3].probability == pytest.approx(far.probability, rel=1e-5)
    plain = fill_masks(loaded, FillParams(TEXT, 3, ("she",))).masks[0].predictions
    assert [guess.token_id for guess in plain] == [guess.token_id for guess in mask.predictions[:3]]


def test_every_blank_ranks_the_words_and_the_page_says_where_they_come(loaded: LoadedModel) -> None:
    result = fill_masks(loaded, FillParams("[MASK] said [MASK] was here.", 2, words=("she",)))
    assert all(any(guess.named for guess in mask.predictions) for mask in result.masks)
    assert "For blank 1 “she” is" in fill_sentence(result)
    (row,) = [row for row in figures.fill_table(result).rows if row[0] == 1 and row[2] == "she"]
    assert row[1] >= 1
    colours = [trace["marker"]["color"] for trace in figures.fill_figure(result)["data"]]
    assert all("@second" in found for found in colours)


def test_a_word_of_several_tokens_is_refused_with_its_tokens(loaded: LoadedModel) -> None:
    with pytest.raises(BadInputError, match=r"“orangutan” is 4 tokens here .*: look for another word"):
        fill_masks(loaded, FillParams(TEXT, also_mask=("she",), words="she, orangutan"))
    assert single_token(loaded.tokenizer, "😀") == (None, "“😀” is unknown to this vocabulary")


def test_a_token_in_view_is_not_replaced(
    loaded: LoadedModel, masked_lm: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase
) -> None:
    result = fill_masks(loaded, FillParams(WRONG, 3, ("is",), words="are", in_view=True))
    inputs = tokenizer(WRONG, return_tensors="pt")
    position = result.masks[0].position
    assert tokenizer.convert_ids_to_tokens(int(inputs["input_ids"][0, position])) == "is"
    with torch.no_grad():
        row = masked_lm(**inputs).logits[0, position].softmax(-1)
    for guess in result.masks[0].predictions:
        assert guess.probability == pytest.approx(float(row[guess.token_id]), rel=1e-3)
    chip = figures.fill_chips(result)["chips"][position]
    assert (chip["text"], chip["pressed"], chip["below"]) == ("is", True, "")
    assert "stays in view" in fill_sentence(result)
    hidden = fill_masks(loaded, FillParams(WRONG, 3, ("is",)))
    assert hidden.masks[0].hidden_probability != pytest.approx(result.masks[0].hidden_probability)


def test_a_typed_blank_stays_a_blank_while_others_are_in_view(loaded: LoadedModel) -> None:
    both = fill_masks(loaded, FillParams("The [MASK] said she was tired.", 2, ("she",), in_view=True))
    typed = fill_masks(loaded, FillParams("The [MASK] said she was tired.", 2))
    for one, other in zip(both.masks[0].predictions, typed.masks[0].predictions, strict=True):
        assert (one.rank, one.token_id) == (other.rank, other.token_id)
        assert one.probability == pytest.approx(other.probability, abs=1e-5)
