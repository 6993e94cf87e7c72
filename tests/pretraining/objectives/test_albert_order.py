"""Sentence order by votes: what the tokens are asked, what their votes come to, and who learns from whom when."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from explorer.maths.corruption import IGNORED_LABEL
from explorer.pretraining.batches import Batch
from explorer.pretraining.objectives import PRETRAINERS
from explorer.pretraining.objectives.albert import AlbertPretrainer
from explorer.pretraining.objectives.albert_order import (
    SEGMENTS_APART,
    VOTE_SCALE,
    AlbertOrderPretrainer,
    comes_first,
    order_logits,
    row_log_odds,
    voting_loss,
)
from explorer.pretraining.objectives.base import Place
from explorer.pretraining.rows import IN_ORDER, SWAPPED
from explorer.pretraining.starts.transplant import load
from tests.pretraining.objectives.tiny import RECIPES

RECIPE = RECIPES["mlm+sop by votes"]


@pytest.fixture
def words(place: Place) -> AlbertPretrainer:
    """A model that the recipe can begin from, exported."""
    for objective in ("module replacing", "mlm+sop"):
        made = PRETRAINERS[objective](RECIPES[objective], place)
        made.export(place.models)
    assert isinstance(made, AlbertPretrainer)
    return made


@pytest.fixture
def order(words: AlbertPretrainer) -> AlbertOrderPretrainer:
    made = PRETRAINERS[RECIPE.objective](RECIPE, words.place)
    assert isinstance(made, AlbertOrderPretrainer)
    return made


def batch() -> Batch:
    """[CLS] a [SEP] b c [SEP] in order, and a shorter row, swapped; one token of each is masked."""
    ids = torch.tensor([[2, 10, 3, 11, 12, 3], [2, 13, 3, 14, 3, 0]])
    segments = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]])
    labels = torch.full(ids.shape, IGNORED_LABEL)
    labels[0, 1], labels[1, 3] = 15, 16
    return Batch(ids, segments, (ids != 0).long(), labels, torch.tensor([IN_ORDER, SWAPPED]))


def test_it_begins_with_a_pooler_that_hears_and_segments_that_differ(
    order: AlbertOrderPretrainer, words: AlbertPretrainer
) -> None:
    """All else is as it was learned, the vocabulary too."""
    assert order.tokenizer.get_vocab() == words.tokenizer.get_vocab()
    before, after = words.model.state_dict(), order.model.albert.state_dict()
    changed = {name for name, value in after.items() if not torch.allclose(value, before[name], atol=2e-3, rtol=2e-3)}
    segments = "albert.embeddings.token_type_embeddings.weight"
    assert changed == {segments, "albert.pooler.weight"}
    first, second = after[segments]
    assert float((second - first).norm()) == pytest.approx(SEGMENTS_APART)


def test_each_token_is_asked_whether_its_segment_comes_first() -> None:
    seen = batch().attention_mask.bool()
    first, second = comes_first(batch())
    assert first.tolist() == [1, 1, 1, 0, 0, 0]
    assert second[seen[1]].tolist() == [0, 0, 0, 1, 1]


def test_the_votes_of_a_row_are_the_difference_of_its_segments_means() -> None:
    """Padding has no vote: its 100 changes nothing."""
    votes = torch.tensor([[1.0, 2.0, 3.0, 0.5, 0.0, -0.5], [0.0, 0.0, 3.0, 1.0, 0.0, 100.0]])
    assert row_log_odds(votes, batch()).tolist() == pytest.approx([VOTE_SCALE * 2.0, VOTE_SCALE * 0.5])


def test_the_loss_of_the_votes_is_the_cross_entropy_of_tokens_and_rows() -> None:
    """Against scikit-learn."""
    votes = torch.randn(2, 6, generator=torch.Generator().manual_seed(0))
    loss, verdicts = voting_loss(votes, batch())
    seen = batch().attention_mask.bool()
    by_token = log_loss(comes_first(batch())[seen], torch.sigmoid(votes[seen]))
    by_row = log_loss([1, 0], np.array(torch.sigmoid(row_log_odds(votes, batch()))))
    assert float(loss) == pytest.approx(by_token + by_row, rel=1e-5)
    assert torch.equal(verdicts, row_log_odds(votes, batch()))


def test_segments_that_change_places_change_the_votes_sign() -> None:
    """The rows' verdict is of the votes alone: whoever stands first gets no advantage."""
    given, votes = batch(), torch.tensor([[0.0, 1.0, 1.0, 3.0, 3.0, 3.0], [0.0] * 6])
    swapped = Batch(given.input_ids, 1 - given.token_type_ids, given.attention_mask, given.labels, given.pair_labels)
    assert float(row_log_odds(votes, swapped)[0]) == pytest.approx(-float(row_log_odds(votes, given)[0]))


def test_three_parts_follow_each_other(order: AlbertOrderPretrainer) -> None:
    """Votes move no pooler; taught, the pooler and the gathering tokens move, the teacher never; last, labels alone."""
    moved = {}
    for part, step in (("voted", 0), ("taught", 6), ("labelled", 11)):
        order.model.zero_grad(set_to_none=True)
        order.loss(batch(), step).total.backward()
        moved[part] = {
            name for name, value in order.model.named_parameters() if value.grad is not None and value.grad.any()
        }
    pooler, votes, gathered = "albert.albert.pooler.weight", "first.weight", "gathered.weight"
    assert {votes} == moved["voted"] & {pooler, votes, gathered}
    assert {pooler, votes, gathered} == moved["taught"] & {pooler, votes, gathered}
    assert {pooler} == moved["labelled"] & {pooler, votes, gathered}
    assert not any(name.startswith("teacher") for part in moved.values() for name in part)
    assert all("albert.predictions.bias" in part for part in moved.values())


def test_the_teacher_is_what_the_model_was_when_the_voting_ended(order: AlbertOrderPretrainer) -> None:
    given = batch()
    with torch.no_grad():
        order.model.first.weight.normal_()
        order.loss(given, 0)
        assert not torch.equal(order.model.teacher_first.weight, order.model.first.weight)
        order.loss(given, 5)  # 40% of 12 steps
        held = order.model.taught(given)
        assert torch.equal(order.model.teacher_first.weight, order.model.first.weight)
        order.model.albert.albert.embeddings.word_embeddings.weight.zero_()
        order.loss(given, 6)
        torch.testing.assert_close(order.model.taught(given), held)


def test_who_has_the_teacher_s_votes_and_says_what_they_say_has_the_least_loss(order: AlbertOrderPretrainer) -> None:
    """The entropy of the targets is what is left, once for [CLS] and once for each of the two last positions."""
    given = batch()
    with torch.no_grad():
        order.model.hold_still()
        votes = order.model.taught(given)
        odds = float(order.recipe.sharpness * row_log_odds(votes, given)[:1])
        same = Batch(*(value[:1] for value in vars(given).values()))
        order.model.gathered.weight.zero_()
        order.model.gathered.bias.fill_(odds)
        head = order.model.albert.sop_classifier.classifier
        head.weight.zero_()
        head.bias.copy_(torch.tensor([odds, 0.0]))
        states = order.model.albert.albert(
            same.input_ids, token_type_ids=same.token_type_ids, output_hidden_states=True
        )
        loss, verdicts = order.gathering_loss(states, votes[:1], same)
    target = 1 / (1 + math.exp(-odds))
    entropy = -target * math.log(target) - (1 - target) * math.log(1 - target)
    assert float(loss) == pytest.approx(entropy, abs=1e-4)
    assert float(verdicts) == pytest.approx(odds, rel=1e-5)


def test_the_log_odds_of_order_are_the_sop_head_s(order: AlbertOrderPretrainer) -> None:
    order.export(order.place.models)
    model = load(RECIPE.name, order.place.models, type(order.model.albert)).eval()
    given = batch()
    with torch.no_grad():
        said = model(given.input_ids, given.attention_mask, given.token_type_ids)
        pooled = model.albert(given.input_ids, given.attention_mask, given.token_type_ids).pooler_output
        expected = said.sop_logits.softmax(-1)[:, IN_ORDER]
        torch.testing.assert_close(torch.sigmoid(order_logits(model, pooled)), expected)
