"""Training from nothing: every objective learns, a resumed run is the same run, and the model is what it says."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from transformers import BertForPreTraining, BertLMHeadModel

from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel
from explorer.objectives.electra import ElectraPair
from explorer.scratch.learning import WRITTEN, say
from explorer.scratch.models import build
from tests.models import conftest as models_conftest
from tests.scratch.small import small, training, vocabulary

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert

OBJECTIVES: dict[str, dict[str, Any]] = {
    "mlm": {"objective": "mlm", "row_format": "full_sentences"},
    "mlm_nsp": {"objective": "mlm_nsp"},
    "mlm_sop": {"objective": "mlm_sop"},
    "rtd": {"objective": "rtd", "row_format": "doc_sentences"},
    "causal": {"objective": "causal", "row_format": "doc_sentences"},
}
EACH = pytest.mark.parametrize("asked", OBJECTIVES.values(), ids=OBJECTIVES.keys())


@EACH
def test_the_held_out_loss_falls_by_a_nat_from_that_of_chance(asked: dict[str, Any]) -> None:
    run = training(small(**asked, steps=110, batch_size=16, hidden=64, learning_rate=8e-3, vocabulary=2000))
    leading = "next_loss" if asked["objective"] == "causal" else "masked_loss"
    before = run.scores()[leading]
    assert before == pytest.approx(math.log(len(vocabulary(2000))), abs=0.5)
    for _ in run.updates():
        pass
    after = run.scores()[leading]
    assert after is not None
    assert after < before - 1


@EACH
def test_a_resumed_run_is_the_run_that_was_not_stopped(asked: dict[str, Any]) -> None:
    whole = training(small(**asked))
    losses = [update.loss for update in whole.updates()]
    first = training(small(**asked))
    for update in first.updates():
        if update.step == 3:
            break
    second = training(small(**asked))
    second.load_state(first.state())
    assert [update.loss for update in second.updates()] == losses[3:]
    assert all(torch.equal(second.named[name], whole.named[name]) for name in whole.named)


def test_the_weights_of_the_first_step_follow_from_the_seed() -> None:
    one, again, other = (build(small(seed=seed), vocabulary(), None).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(
        one["bert.encoder.layer.0.attention.self.query.weight"],
        other["bert.encoder.layer.0.attention.self.query.weight"],
    )


def test_the_decoder_is_the_embeddings_own_matrix() -> None:
    model = build(small(), vocabulary(), None)
    assert isinstance(model, BertForPreTraining)
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight


def test_a_model_of_the_next_token_does_not_see_it() -> None:
    model = build(small(objective="causal"), vocabulary(), None)
    assert isinstance(model, BertLMHeadModel)
    ids = torch.arange(10, 20)[None]
    changed = ids.clone()
    changed[0, 6:] = 30
    with torch.no_grad():
        one, other = model(input_ids=ids).logits, model(input_ids=changed).logits
    assert torch.allclose(one[0, :6], other[0, :6], atol=1e-6)
    assert not torch.allclose(one[0, 6], other[0, 6], atol=1e-4)


def test_electra_s_two_models_have_one_table_of_embeddings() -> None:
    pair = build(small(objective="rtd", row_format="doc_sentences"), vocabulary(), None)
    assert isinstance(pair, ElectraPair)
    assert pair.generator.electra.embeddings is pair.discriminator.electra.embeddings
    assert pair.generator.config.hidden_size < pair.discriminator.config.hidden_size


@EACH
def test_a_start_from_a_bert_has_its_weights_and_leaves_it_alone(bert: LoadedModel, asked: dict[str, Any]) -> None:
    before = {name: tensor.clone() for name, tensor in bert.model.state_dict().items()}
    run = training(small(**asked, model="tiny", batch_size=2, steps=2, length=16), bert)
    own = run.learner.model.discriminator.electra if asked["objective"] == "rtd" else run.learner.model.bert
    name = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(own.state_dict()[name], before[f"bert.{name}"])
    assert len(list(run.updates())) == 2
    assert not torch.equal(own.state_dict()[name], before[f"bert.{name}"])
    assert all(torch.equal(bert.model.state_dict()[name], tensor) for name, tensor in before.items())


def test_a_start_that_reads_less_than_a_row_is_refused(bert: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="reads 24 tokens at most"):
        build(small(model="tiny", length=64), bert.tokenizer, bert)


def test_a_rate_that_is_too_high_is_found_and_said() -> None:
    run = training(small(learning_rate=1.0, warmup=0.0, steps=200))
    with pytest.raises(BadInputError, match=r"diverged.*try 1e-01 or less"):
        list(run.updates())


def test_what_is_said_is_the_model_s_own_distribution() -> None:
    run = training(small())
    (said,) = run.answers()
    given = run.tokenizer("The [MASK] is here.", return_tensors="pt")
    with torch.no_grad():
        logits = run.learner.model(**given).prediction_logits[0]
    place = given["input_ids"][0].tolist().index(run.tokenizer.mask_token_id)
    chances = logits[place].softmax(-1)
    assert said.tokens[0] == run.tokenizer.convert_ids_to_tokens(int(chances.argmax()))
    assert said.probabilities == pytest.approx(chances.topk(5).values.tolist(), rel=1e-5)


def test_a_model_of_the_next_token_goes_on_from_what_stands_before_the_blank() -> None:
    model = build(small(objective="causal"), vocabulary(), None).eval()
    (said,) = say(model, vocabulary(), "The dog [MASK] home.", 0, 64)
    ids = vocabulary()("The dog", return_tensors="pt")["input_ids"][:, :-1]
    with torch.no_grad():
        wanted = model(input_ids=ids).logits[0, -1].argmax()
    assert said.tokens[0] == vocabulary().convert_ids_to_tokens(int(wanted))
    assert 0 < len(said.written.split()) <= WRITTEN


def test_a_head_that_has_learned_nothing_is_not_taken_home() -> None:
    kept = {objective: training(small(**asked)).learner.parts() for objective, asked in OBJECTIVES.items()}
    assert {objective: sorted(parts) for objective, parts in kept.items()}["rtd"] == ["generator", "model"]
    has_pairs = {
        objective: any("seq_relationship" in name for name in parts["model"].state_dict())
        for objective, parts in kept.items()
    }
    assert [objective for objective, has in has_pairs.items() if has] == ["mlm_nsp"]
    bert = training(small(objective="mlm", row_format="full_sentences"))
    ids = torch.arange(10, 20)[None]
    with torch.no_grad():
        own = bert.learner.model.eval()(input_ids=ids).prediction_logits
        taken = bert.learner.parts()["model"].eval()(input_ids=ids).logits
    assert torch.equal(own, taken)
