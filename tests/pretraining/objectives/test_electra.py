"""ELECTRA: what counts as replaced, over which tokens, and what the two models share."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.maths.corruption import IGNORED_LABEL
from explorer.models.families.electra import generator_of
from explorer.objectives import electra
from explorer.objectives.batches import Batch
from explorer.objectives.electra import fill, replaced_logits
from pretraining.objectives.base import Place
from pretraining.objectives.electra import ElectraPretrainer
from pretraining.starts import distilbert
from pretraining.starts.transplant import load
from tests.pretraining.objectives.tiny import RECIPES


@pytest.fixture
def pretrainer(place: Place, tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch) -> ElectraPretrainer:
    monkeypatch.setattr(distilbert, "load_tokenizer", lambda _: tokenizer)
    made = ElectraPretrainer(RECIPES["replaced tokens"], place)
    made.model.eval()
    return made


def batch() -> Batch:
    """[CLS] 1000 1001 1002 [SEP] with 1001 and 1002 masked, and a shorter row with 1003 masked."""
    ids = torch.tensor([[101, 1000, 103, 103, 102], [101, 103, 102, 0, 0]])
    labels = torch.full(ids.shape, IGNORED_LABEL)
    labels[0, 2], labels[0, 3], labels[1, 1] = 1001, 1002, 1003
    return Batch(ids, torch.zeros_like(ids), (ids != 0).long(), labels, torch.full((2,), IGNORED_LABEL))


def test_a_guess_that_happens_to_be_right_counts_as_original() -> None:
    filled = fill(batch(), torch.tensor([1001, 7, 1003]))
    assert filled.input_ids.tolist() == [[101, 1000, 1001, 7, 102], [101, 1003, 102, 0, 0]]
    replaced = filled.input_ids != batch().original_ids
    assert replaced.nonzero().tolist() == [[0, 3]]


def test_the_discriminator_is_asked_about_every_token_but_padding(pretrainer: ElectraPretrainer) -> None:
    discriminator = pretrainer.model.discriminator.eval()
    with torch.inference_mode():
        found = replaced_logits(discriminator, batch())
        own = discriminator(batch().input_ids, attention_mask=batch().attention_mask).logits
    torch.testing.assert_close(found, own[batch().attention_mask.bool()])
    assert len(found) == 8


def test_the_loss_is_mlm_plus_fifty_times_that_of_the_discriminator(
    pretrainer: ElectraPretrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against transformers' own two losses, with the generator's samples fixed."""
    assert RECIPES["replaced tokens"].replaced_weight == 50.0
    drawn = torch.tensor([1001, 7, 9])
    monkeypatch.setattr(electra, "sampled", lambda logits, _: drawn[: len(logits)])
    pair, given = pretrainer.model.eval(), batch()
    loss = pretrainer.loss(given, step=3)
    labels = torch.zeros_like(given.input_ids)
    labels[0, 3] = labels[1, 1] = 1
    shown = fill(given, drawn)
    mlm = pair.generator(given.input_ids, attention_mask=given.attention_mask, labels=given.labels).loss
    rtd = pair.discriminator(shown.input_ids, attention_mask=given.attention_mask, labels=labels).loss
    assert float(loss.total) == pytest.approx(float(mlm + 50 * rtd), rel=1e-4)
    assert loss.figures["replaced_share"] == pytest.approx(2 / 8)


def test_at_first_the_discriminator_learns_to_have_its_teacher_s_states(pretrainer: ElectraPretrainer) -> None:
    """Against the same mean worked out from transformers' own outputs."""
    first, then = pretrainer.loss(batch(), step=2).figures, pretrainer.loss(batch(), step=3).figures
    assert "states_loss" in first
    assert "replaced_loss" not in first
    assert "replaced_loss" in then
    assert "states_loss" not in then
    given, seen = batch(), batch().attention_mask.bool()
    asked = {"input_ids": given.input_ids, "attention_mask": given.attention_mask, "output_hidden_states": True}
    bert = load("bert-mini", pretrainer.place.models, BertForPreTraining).eval()
    with torch.no_grad():
        wanted = bert.bert(**asked).hidden_states
        own = pretrainer.model.discriminator.electra(**asked).hidden_states
        found = float(pretrainer.states_apart(given))
    terms = [
        float((mine[seen] - wanted[place][seen]).square().mean() / wanted[place][seen].var())
        for mine, place in zip(own, (0, 1, 4), strict=True)
    ]
    assert found == pytest.approx(sum(terms) / 3 + terms[-1], rel=1e-4)


def test_alignment_brings_the_states_together_and_leaves_the_generator_alone(pretrainer: ElectraPretrainer) -> None:
    body = pretrainer.model.discriminator.electra
    optimizer = torch.optim.Adam(body.parameters(), lr=1e-2)
    before = float(pretrainer.states_apart(batch()))
    for _ in range(20):
        optimizer.zero_grad()
        pretrainer.states_apart(batch()).backward()
        optimizer.step()
    assert float(pretrainer.states_apart(batch())) < 0.5 * before
    assert all(
        parameter.grad is None
        for name, parameter in pretrainer.model.generator.named_parameters()
        if ".encoder." in name or name.startswith("generator_predictions")
    )


def test_a_pair_that_goes_on_needs_no_teacher(pretrainer: ElectraPretrainer) -> None:
    pretrainer.recipe = dataclasses.replace(pretrainer.recipe, start="someone/electra-discriminator")
    assert pretrainer.teacher is None
    del pretrainer.teacher
    pretrainer.recipe = dataclasses.replace(pretrainer.recipe, start="bert-mini", aligned_steps=0)
    assert pretrainer.teacher is None


def test_no_gradient_reaches_the_generator_s_layers_from_the_discriminator(pretrainer: ElectraPretrainer) -> None:
    pretrainer.recipe = dataclasses.replace(pretrainer.recipe, replaced_weight=0.0)
    pretrainer.loss(batch(), step=3).total.backward()
    alone = pretrainer.model.generator.electra.encoder.layer[0].output.dense.weight.grad.clone()
    pretrainer.model.zero_grad()
    pretrainer.recipe = dataclasses.replace(pretrainer.recipe, replaced_weight=50.0)
    pretrainer.loss(batch(), step=3).total.backward()
    assert torch.equal(pretrainer.model.generator.electra.encoder.layer[0].output.dense.weight.grad, alone)


def test_both_models_and_the_decoder_share_their_embeddings(pretrainer: ElectraPretrainer) -> None:
    pair = pretrainer.model
    words = pair.discriminator.electra.embeddings.word_embeddings.weight
    assert pair.generator.electra.embeddings.word_embeddings.weight is words
    assert pair.generator.generator_lm_head.weight is words
    assert words.shape[1] == 16
    assert sum(parameter is words for parameter in pair.parameters()) == 1


def test_samples_depend_on_the_step(pretrainer: ElectraPretrainer) -> None:
    pretrainer.model.eval()
    first, same, other = (pretrainer.loss(batch(), step).figures["replaced_loss"] for step in (3, 3, 4))
    assert first == same != other


@pytest.mark.parametrize(
    ("discriminator", "generator"),
    [
        ("google/electra-small-discriminator", "google/electra-small-generator"),
        ("/models/electra-mini-discriminator", "/models/electra-mini-generator"),
        ("elsewhere", "elsewhere"),
    ],
)
def test_a_generator_is_named_after_its_discriminator(discriminator: str, generator: str) -> None:
    assert generator_of(discriminator) == generator
