"""A run's body under the model's own head, against transformers and by what no method may do to it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch.nn.functional import log_softmax

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.tasks.task import Example
from explorer.tuning import reading
from explorer.tuning.forgetting import Guessed, guess, held_out_rows, untouched, with_own_head
from explorer.tuning.masked import MEASURED, MEASURED_KEY, Masks
from explorer.tuning.merging import merged
from tests.tuning.samples import frozen_copy, is_unchanged, moved, tiny_loaded

TEXTS = ("the cat sat on the mat .", "the dog sat .", "a cat and a dog sat on the mat .", "the mat .")
EXAMPLES = tuple(Example(text, None, 0.0) for text in TEXTS)
FAMILIES = ("BERT", "RoBERTa", "DistilBERT", "ALBERT")
CHANGED = ("lora", "full", "bitfit", "ia3", "houlsby", "pfeiffer")


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "has_bfloat16", lambda device: False)


def by_hand(model: torch.nn.Module, adapted: object, rows: object, place: int) -> tuple[float, float, int]:
    """Right words, sum of −ln p and words of one sentence, with all of its logits."""
    hidden = Masks(adapted.loaded.tokenizer).hide(rows, [place], MEASURED, MEASURED_KEY)  # type: ignore[attr-defined,arg-type]
    output = model(**adapted.taken(hidden.inputs))  # type: ignore[attr-defined]
    logits = (output.prediction_logits if "prediction_logits" in output else output.logits)[hidden.chosen]
    lost = -log_softmax(logits, -1)[torch.arange(len(logits)), hidden.truth]
    return float((logits.argmax(-1) == hidden.truth).sum()), float(lost.sum()), len(logits)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_untouched_model_guesses_as_transformers_lets_it(family: str) -> None:
    adapted = moved(tiny_loaded(family))
    rows = held_out_rows(adapted.loaded, EXAMPLES)
    found = guess(untouched(adapted.loaded), adapted, rows)
    with torch.no_grad():
        for place in range(len(rows)):
            right, loss, words = by_hand(adapted.loaded.model, adapted, rows, place)
            assert (float(found.right[place]), float(found.words[place])) == (right, words)
            assert float(found.loss[place]) == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("method", ["lora", "full", "bitfit", "ia3"])
def test_attached_and_merged_bodies_remember_the_same(method: str) -> None:
    adapted = moved(tiny_loaded("BERT"), method)
    rows = held_out_rows(adapted.loaded, EXAMPLES)
    own: Any = copy.deepcopy(untouched(adapted.loaded))
    decoder = own.get_output_embeddings()
    decoder.weight = torch.nn.Parameter(decoder.weight.detach().clone())  # the head stays, the embeddings may move
    own.base_model.load_state_dict(merged(adapted).base_model.state_dict(), strict=False)
    attached, folded = (guess(model, adapted, rows) for model in (with_own_head(adapted), own))
    before = guess(untouched(adapted.loaded), adapted, rows)
    torch.testing.assert_close(attached.loss, folded.loss, rtol=1e-3, atol=1e-3)
    assert not torch.allclose(attached.loss, before.loss, rtol=2e-5)


@pytest.mark.parametrize("method", CHANGED)
def test_the_head_and_the_shared_model_stay_as_they_were(method: str) -> None:
    loaded = tiny_loaded("BERT")
    before = frozen_copy(loaded)
    adapted = moved(loaded, method)
    inputs = {"input_ids": torch.tensor([[2, 7, 8, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}
    answered = adapted.logits(inputs)
    model = with_own_head(adapted)
    decoder = model.get_output_embeddings().weight
    assert decoder.data_ptr() == loaded.model.get_output_embeddings().weight.data_ptr()
    guess(model, adapted, held_out_rows(loaded, EXAMPLES))
    assert is_unchanged(loaded, before)
    torch.testing.assert_close(adapted.logits(inputs), answered)
    assert not adapted.fork.base_model._forward_hooks


def test_a_head_alone_forgets_nothing() -> None:
    adapted = moved(tiny_loaded("BERT"), "head")
    rows = held_out_rows(adapted.loaded, EXAMPLES)
    one, other = (guess(model, adapted, rows) for model in (with_own_head(adapted), untouched(adapted.loaded)))
    assert isinstance(one, Guessed)
    torch.testing.assert_close(one.loss, other.loss)


@pytest.mark.parametrize("method", ["prompt", "prefix"])
def test_virtual_tokens_are_no_body(method: str) -> None:
    with pytest.raises(BadInputError, match="every weight of the body stays"):
        with_own_head(moved(tiny_loaded("BERT"), method))


def test_a_model_that_fills_no_masks_says_so() -> None:
    with pytest.raises(MissingCapabilityError):
        with_own_head(moved(tiny_loaded("GPT-2")))
