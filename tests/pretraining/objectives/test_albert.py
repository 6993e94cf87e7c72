"""ALBERT: one layer takes the places of six, and what it learned in WordPieces goes on under a vocabulary of its own."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from huggingface_hub import constants
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.errors import ModelUnavailableError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.objectives.batches import Batch
from explorer.objectives.rows import IN_ORDER, SWAPPED
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.albert import AlbertPretrainer
from pretraining.objectives.albert_body import AlbertBodyPretrainer
from pretraining.objectives.alignment import states_apart
from pretraining.objectives.base import Place
from pretraining.starts import distilbert
from pretraining.starts.transplant import load, load_tokenizer
from tests.pretraining.objectives.tiny import RECIPES

EVERYWHERE, NOWHERE = torch.ones(4, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)


@pytest.fixture(autouse=True)
def _no_download(monkeypatch: pytest.MonkeyPatch, tokenizer: PreTrainedTokenizerBase) -> None:
    monkeypatch.setattr(distilbert, "load_tokenizer", lambda _: tokenizer)


@pytest.fixture
def body(place: Place) -> AlbertBodyPretrainer:
    made = AlbertBodyPretrainer(RECIPES["module replacing"], place)
    made.model.eval()
    return made


@pytest.fixture
def albert(body: AlbertBodyPretrainer, place: Place) -> AlbertPretrainer:
    body.export(place.models)
    return AlbertPretrainer(RECIPES["mlm+sop"], place)


@pytest.fixture
def bert(place: Place) -> Any:
    return load("bert-mini", place.models, BertForPreTraining).eval()


def batch() -> Batch:
    """A row of five tokens and one of three, one masked in each."""
    ids = torch.tensor([[101, 1000, 103, 1002, 102], [101, 103, 102, 0, 0]])
    labels = torch.full(ids.shape, IGNORED_LABEL)
    labels[0, 2], labels[1, 1] = 1001, 1003
    return Batch(ids, torch.zeros_like(ids), (ids != 0).long(), labels, torch.full((2,), IGNORED_LABEL))


@torch.inference_mode()
def test_with_the_shared_layer_everywhere_the_states_are_those_of_the_albert_alone(body: AlbertBodyPretrainer) -> None:
    own = body.model.states(batch(), EVERYWHERE)
    asked = {"input_ids": batch().input_ids, "attention_mask": batch().attention_mask, "output_hidden_states": True}
    alone = body.model.student.albert(**asked).hidden_states
    seen = batch().attention_mask.bool()
    assert len(own) == len(alone) == 5
    for mine, theirs in zip(own, alone, strict=True):
        torch.testing.assert_close(mine[seen], theirs[seen])


@torch.inference_mode()
def test_the_old_layers_compute_what_the_teacher_s_do(body: AlbertBodyPretrainer, bert: Any) -> None:
    """The last states are scaled, and the pooler reads them as before. ALBERT's gelu is the tanh approximation."""
    states = expected = torch.randn(1, 5, 32)
    for old, taught in zip(body.model.replaced, bert.bert.encoder.layer, strict=True):
        states, expected = old(states, None), taught(expected)
    torch.testing.assert_close(states, expected * body.recipe.last_scale, atol=2e-2, rtol=2e-2)
    pooled = torch.tanh(body.model.student.albert.pooler(states[:, 0]))
    torch.testing.assert_close(pooled, bert.bert.pooler(expected), atol=2e-2, rtol=2e-2)


def test_the_shared_layer_is_one_of_the_teacher_s_and_stands_alone(body: AlbertBodyPretrainer) -> None:
    shared, taken = body.model.shared, body.model.replaced[body.recipe.layer]
    for (name, mine), theirs in zip(shared.named_parameters(), taken.parameters(), strict=True):
        assert torch.equal(mine, theirs), name
        assert mine is not theirs


def test_the_places_change_hands_one_by_one(body: AlbertBodyPretrainer) -> None:
    recipe = body.recipe = dataclasses.replace(body.recipe, steps=1000, replaced_share=0.5)
    share = [float(body.places(step).float().mean()) for step in range(recipe.steps)]
    assert share[0] == 0.0
    assert set(share[500:]) == {1.0}
    assert sum(share[:100]) / 100 == pytest.approx(0.1, abs=0.06)
    assert sum(share[400:500]) / 100 == pytest.approx(0.9, abs=0.06)
    assert torch.equal(body.places(250), body.places(250))


@pytest.mark.parametrize(("places", "learning"), [(EVERYWHERE, "shared"), (NOWHERE, "replaced")])
def test_a_layer_learns_in_the_steps_in_which_it_stands(
    body: AlbertBodyPretrainer, places: torch.Tensor, learning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "places", lambda _: places)
    body.loss(batch(), 0).total.backward()
    for name in ("shared", "replaced"):
        moved = [parameter.grad is not None for parameter in getattr(body.model, name).parameters()]
        assert all(moved) if name == learning else not any(moved)
    assert body.model.student.albert.embeddings.word_embeddings.weight.grad is not None


def test_the_loss_is_transformers_own_plus_the_weighted_distance(body: AlbertBodyPretrainer) -> None:
    """Against AlbertForPreTraining's own loss, and the distance worked out from plain outputs."""
    last, given = body.recipe.steps, batch()
    loss = body.loss(given, last).total.detach()
    asked = {"input_ids": given.input_ids, "attention_mask": given.attention_mask, "output_hidden_states": True}
    with torch.no_grad():
        student = body.model.student(**asked)
        wanted = body.teacher.bert(**asked).hidden_states
    mlm = torch.nn.functional.cross_entropy(student.prediction_logits.flatten(0, 1), given.labels.flatten())
    seen = given.attention_mask.bool()
    terms = [
        float((mine[seen] - theirs[seen]).square().mean() / theirs[seen].var())
        for mine, theirs in zip(student.hidden_states, wanted, strict=True)
    ]
    apart = sum(terms) / 5 + terms[-1]
    assert float(loss) == pytest.approx(float(mlm) + body.recipe.states_weight * apart, rel=1e-3)


def test_a_teacher_is_at_no_distance_from_itself(bert: Any) -> None:
    with torch.no_grad():
        states = bert.bert(
            batch().input_ids, attention_mask=batch().attention_mask, output_hidden_states=True
        ).hidden_states
    assert float(states_apart(states, bert, batch(), range(5))) == pytest.approx(0.0, abs=1e-9)
    assert float(states_apart([-state for state in states], bert, batch(), range(5))) > 1.0


@torch.inference_mode()
def test_a_new_vocabulary_changes_the_words_and_nothing_else(albert: AlbertPretrainer) -> None:
    body = load("albert-body", albert.place.models, type(albert.model)).eval()
    model = albert.model.eval()
    words, embedded = torch.randn(2, 6, 16), body.albert.embeddings.word_embeddings.weight
    torch.testing.assert_close(
        model.albert(inputs_embeds=words).last_hidden_state, body.albert(inputs_embeds=words).last_hidden_state
    )
    pieces = load_tokenizer("albert-body", albert.place.models).get_vocab()
    whole = [name for name in albert.tokenizer.get_vocab() if name.startswith("▁") and name[1:] in pieces]
    assert whole
    for name in ["[MASK]", "[CLS]", *whole]:
        word = name.removeprefix("▁")
        spelt = [pieces[form] for form in dict.fromkeys((word, word.capitalize())) if form in pieces]
        own = model.albert.embeddings.word_embeddings.weight[albert.tokenizer.convert_tokens_to_ids(name)]
        torch.testing.assert_close(own, embedded[spelt].mean(0))
    assert model.config.vocab_size == len(albert.tokenizer) != len(pieces)


def test_the_layer_is_one_set_of_tensors_for_all_positions(albert: AlbertPretrainer) -> None:
    model = albert.model
    assert model.config.num_hidden_layers == 4
    assert model.config.num_hidden_groups == model.config.inner_group_num == 1
    assert sum(name.endswith("query.weight") for name, _ in model.named_parameters()) == 1
    assert model.albert.embeddings.word_embeddings.weight.shape[1] == 16
    assert model.predictions.decoder.weight is model.albert.embeddings.word_embeddings.weight


def test_its_pairs_are_in_order_or_swapped(albert: AlbertPretrainer) -> None:
    stage = albert.recipe.stages[-1]
    labels = [label for step in range(10) for label in albert.draw(step, stage).pair_labels.tolist()]
    assert set(labels) == {IN_ORDER, SWAPPED}


def test_without_its_body_it_says_which_to_train(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)  # a hub that does not answer is asked for most of a minute
    with pytest.raises(ModelUnavailableError, match=r"albert-body .*train it first"):
        PRETRAINERS["mlm+sop"](RECIPES["mlm+sop"], place)
