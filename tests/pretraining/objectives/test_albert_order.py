"""Sentence order by votes: what the tokens are asked, what their votes come to, and who learns from whom when."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.objectives.batches import Batch
from explorer.objectives.rows import IN_ORDER, SWAPPED
from pretraining import recipes
from pretraining.further import further
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.albert import AlbertPretrainer
from pretraining.objectives.albert_order import (
    SEGMENTS_APART,
    VOTE_SCALE,
    AlbertOrderPretrainer,
    comes_first,
    misfit,
    order_logits,
    row_log_odds,
    voting_loss,
)
from pretraining.objectives.base import Place
from pretraining.starts.transplant import load
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


def test_one_that_has_learned_the_order_goes_on_as_it_is_and_by_the_labels_alone(
    order: AlbertOrderPretrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(recipes.RECIPES, RECIPE.name, RECIPE)
    order.export(order.place.models)
    on = AlbertOrderPretrainer(further(RECIPE.name, 8), order.place)
    before, after = order.model.albert.state_dict(), on.model.albert.state_dict()
    assert all(torch.allclose(value, before[name], atol=2e-3, rtol=2e-3) for name, value in after.items())
    rows = on.draw(0, RECIPE.stages[0])
    plain = on.model.albert(
        rows.input_ids, rows.attention_mask, rows.token_type_ids, sentence_order_label=rows.pair_labels
    )
    wanted = torch.nn.functional.cross_entropy(plain.sop_logits, rows.pair_labels)
    assert on.loss(rows, 0).figures["pair_loss"] == pytest.approx(float(wanted.detach()), rel=1e-4)


def test_going_on_is_gentler_and_reads_only_what_was_read_before() -> None:
    before, after = recipes.RECIPES["albert-mini"], further("albert-mini", 9)
    assert after.learning_rate < before.learning_rate
    assert set(after.source_weights) < set(before.source_weights)
    assert sum(after.source_weights.values()) == pytest.approx(1.0)


def test_without_a_layer_to_gather_the_votes_it_does_not_begin(words: AlbertPretrainer) -> None:
    depth = words.model.config.num_hidden_layers
    with pytest.raises(BadInputError, match=f"has {depth} layers"):
        AlbertOrderPretrainer(dataclasses.replace(RECIPE, after_layer=depth), words.place)


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
    """Votes move no pooler; taught, it moves with what gathers the votes; last by labels alone; the teacher never."""
    moved = {}
    for part, step in (("voted", 0), ("taught", 6), ("labelled", 11)):
        order.model.zero_grad(set_to_none=True)
        order.loss(batch(), step).total.backward()
        moved[part] = {
            name for name, value in order.model.named_parameters() if value.grad is not None and value.grad.any()
        }
    pooler, votes = "albert.albert.pooler.weight", "first.weight"
    asked = {pooler, votes, "signed.weight", "gathered.weight"}
    assert moved["voted"] & asked == {votes}
    assert moved["taught"] & asked == asked
    assert moved["labelled"] & asked == {pooler}
    assert not any(name.startswith("teacher") for part in moved.values() for name in part)
    assert all("albert.predictions.bias" in part for part in moved.values())


def test_the_teacher_is_what_the_model_was_when_the_voting_ended(order: AlbertOrderPretrainer) -> None:
    given = batch()
    with torch.no_grad():
        order.model.first.weight.normal_()
        order.loss(given, 0)
        assert not torch.equal(order.model.teacher_first.weight, order.model.first.weight)
        order.loss(given, 5)  # 40% of 12 steps
        held = order.taught(given)
        assert torch.equal(order.model.teacher_first.weight, order.model.first.weight)
        order.model.albert.albert.embeddings.word_embeddings.weight.zero_()
        order.loss(given, 6)
        torch.testing.assert_close(order.taught(given), held)


class Said:
    """An encoder's output: what each position holds, and the pooled state."""

    def __init__(self, states: list[torch.Tensor], pooled: torch.Tensor) -> None:
        self.hidden_states, self.pooler_output = states, pooled


def test_who_passes_the_teacher_s_votes_on_has_the_least_loss(order: AlbertOrderPretrainer) -> None:
    """A model whose states hold what is asked at each position; the entropy of what [CLS] is to say is left."""
    given, width, place = batch(), order.model.albert.config.hidden_size, order.recipe.after_layer
    with torch.no_grad():
        order.model.teacher_first.weight.normal_()
        votes = order.taught(given)
        odds = row_log_odds(votes, given)
        states = [torch.zeros(2, 6, width) for _ in range(5)]
        states[place + 1][..., 0] = torch.where(given.token_type_ids == 0, votes, -votes)
        states[-1][..., 1] = odds[:, None]
        for head, feature in ((order.model.signed, 0), (order.model.gathered, 1)):
            head.weight.zero_()
            head.bias.zero_()
            head.weight[0, feature] = 1.0
        pooled = torch.zeros(2, width)
        pooled[:, 0] = odds
        head = order.model.albert.sop_classifier.classifier
        head.weight.zero_()
        head.bias.zero_()
        head.weight[IN_ORDER, 0] = order.recipe.sharpness
        loss, verdicts, told = order.gathering_loss(Said(states, pooled), votes, given)
    torch.testing.assert_close(verdicts, order.recipe.sharpness * odds)
    assert told == {"agreement_accuracy": 1.0}
    target = torch.sigmoid(order.recipe.sharpness * odds)
    entropy = torch.nn.functional.binary_cross_entropy(target, target)
    assert float(loss) == pytest.approx(order.recipe.said_weight * float(entropy), abs=1e-4)


def test_the_misfit_is_in_units_of_the_variance() -> None:
    theirs = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    assert float(misfit(theirs, theirs)) == 0.0
    assert float(misfit(torch.full_like(theirs, float(theirs.mean())), theirs)) == pytest.approx(1.0, abs=0.01)
    assert float(misfit(3 * theirs, 3 * theirs + 3)) == pytest.approx(float(misfit(theirs, theirs + 1)), rel=1e-4)


def test_the_log_odds_of_order_are_the_sop_head_s(order: AlbertOrderPretrainer) -> None:
    order.export(order.place.models)
    model = load(RECIPE.name, order.place.models, type(order.model.albert)).eval()
    given = batch()
    with torch.no_grad():
        said = model(given.input_ids, given.attention_mask, given.token_type_ids)
        pooled = model.albert(given.input_ids, given.attention_mask, given.token_type_ids).pooler_output
        expected = said.sop_logits.softmax(-1)[:, IN_ORDER]
        torch.testing.assert_close(torch.sigmoid(order_logits(model, pooled)), expected)
