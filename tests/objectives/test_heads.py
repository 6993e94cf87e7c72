"""Heads run on chosen positions give what each class's own forward gives there."""

from __future__ import annotations

import pytest
import torch

from explorer.errors import ModelUnavailableError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.models.families import ARCHITECTURES, Capability, by_family
from explorer.objectives.batches import Batch
from explorer.objectives.losses import encode, mlm_logits, pair_logits, start_head
from tests.models.tiny import build

MASKED = [entry.family for entry in ARCHITECTURES if Capability.MLM in entry.heads]


def batch() -> Batch:
    """Two rows of seven tokens, the second padded by two and with two segments."""
    ids = torch.tensor([[2, 5, 6, 7, 8, 9, 3], [2, 5, 3, 6, 3, 1, 1]])
    segments = torch.tensor([[0] * 7, [0, 0, 0, 1, 1, 0, 0]])
    seen = (ids != 1).long()
    return Batch(ids, segments, seen, torch.full(ids.shape, IGNORED_LABEL), torch.full((2,), IGNORED_LABEL))


@pytest.mark.parametrize("family", MASKED)
@torch.inference_mode()
def test_scores_at_chosen_positions_are_the_model_s_own(family: str) -> None:
    architecture, given = by_family(family), batch()
    model = build(architecture).eval()
    inputs = {"attention_mask": given.attention_mask}
    if family in ("BERT", "ALBERT", "ELECTRA generator"):
        inputs["token_type_ids"] = given.token_type_ids
    own = getattr(model(given.input_ids, **inputs), architecture.heads[Capability.MLM].logits)
    chosen = torch.zeros(given.input_ids.shape, dtype=torch.bool)
    chosen[0, 2] = chosen[0, 5] = chosen[1, 3] = True
    found = mlm_logits(model, encode(model, given).last_hidden_state, chosen)
    torch.testing.assert_close(found, own[chosen], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("family", "head"), [("BERT", Capability.NSP), ("ALBERT", Capability.SOP)])
@torch.inference_mode()
def test_a_pair_s_scores_are_the_model_s_own(family: str, head: Capability) -> None:
    architecture, given = by_family(family), batch()
    model = build(architecture).eval()
    output = model(given.input_ids, attention_mask=given.attention_mask, token_type_ids=given.token_type_ids)
    found = pair_logits(model, encode(model, given).pooler_output)
    torch.testing.assert_close(found, getattr(output, architecture.heads[head].logits), atol=1e-5, rtol=1e-5)


def test_a_head_without_a_vocabulary_is_refused() -> None:
    with pytest.raises(ModelUnavailableError, match="ElectraForPreTraining"):
        mlm_logits(build(by_family("ELECTRA discriminator")), torch.zeros(1, 2, 32), torch.ones(1, 2, dtype=torch.bool))


def test_a_head_that_narrows_keeps_its_map_and_frequent_tokens_come_first() -> None:
    dense, bias = torch.nn.Linear(8, 4), torch.zeros(5)
    before = dense.weight.detach().clone()
    start_head(dense, bias, torch.arange(5.0))
    assert torch.equal(dense.weight, before)
    assert not dense.bias.any()
    assert bool((bias.diff() > 0).all())
