"""DeBERTa's start against the RoBERTa that it comes from."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import DebertaConfig, DebertaForMaskedLM, RobertaConfig, RobertaForMaskedLM

from pretraining.starts.disentangled import fill_from_roberta, fit_distances

SIZES: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "initializer_range": 0.3,
    "pad_token_id": 1,
    "layer_norm_eps": 1e-12,
}


@pytest.fixture
def roberta() -> Any:
    torch.manual_seed(0)
    model = RobertaForMaskedLM(RobertaConfig(max_position_embeddings=130, type_vocab_size=1, **SIZES)).eval()
    model.set_attn_implementation("eager")
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data.add_(0.2 * torch.randn(parameter.shape))
    return model


@pytest.fixture
def deberta() -> Any:
    torch.manual_seed(1)
    relative: dict[str, Any] = {"relative_attention": True, "max_relative_positions": 16}
    usual: dict[str, Any] = {"position_biased_input": False, "pos_att_type": ["c2p", "p2c"]}
    return DebertaForMaskedLM(DebertaConfig(max_position_embeddings=128, **SIZES, **relative, **usual)).eval()


def texts() -> list[torch.Tensor]:
    dice = torch.Generator().manual_seed(0)
    return [torch.randint(5, 40, (16, 24), generator=dice) for _ in range(2)]


@torch.no_grad()
def test_without_places_it_says_what_roberta_says(roberta: Any, deberta: Any) -> None:
    """RoBERTa with the same place for every token: projections, biases, scale, words and head carry over exactly."""
    table = roberta.roberta.embeddings.position_embeddings.weight
    table[:] = table[2:].mean(0)
    fill_from_roberta(deberta, roberta)
    for layer in deberta.deberta.encoder.layer:
        layer.attention.self.pos_proj.weight.zero_()
        layer.attention.self.pos_q_proj.weight.zero_()
        layer.attention.self.pos_q_proj.bias.zero_()
    ids = texts()[0]
    expected, found = roberta(ids).logits.log_softmax(-1), deberta(ids).logits.log_softmax(-1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


@torch.no_grad()
def test_a_head_that_looks_at_a_distance_does_so_again(roberta: Any, deberta: Any) -> None:
    """Outputs on a helix, and a head that turns it by one step: it looks at the previous token."""
    angles = torch.arange(128)[:, None] * torch.tensor([0.5, 0.3, 0.21, 0.13])
    places = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
    embeddings = roberta.roberta.embeddings
    embeddings.position_embeddings.weight.zero_()
    embeddings.position_embeddings.weight[2:, :8] = 3 * places
    embeddings.word_embeddings.weight[:, :8] = 0
    head = roberta.roberta.encoder.layer[0].attention.self
    for linear in (head.query, head.key):
        linear.weight[:8] = 0
        linear.bias[:8] = 0
        linear.weight[:8, :8] = 3 * torch.eye(8)
    turned = torch.block_diag(
        *(
            torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]])
            for a in (torch.tensor(step) for step in (0.5, 0.3, 0.21, 0.13))
        )
    )
    head.query.weight[:8, :8] = 3 * turned
    head.query.bias[:8] = 1.0  # something that all queries share, for the position's key to be read along
    ids = texts()
    assert to_previous(roberta, ids[0]) > 0.7
    fill_from_roberta(deberta, roberta)
    assert to_previous(deberta, ids[0]) < 0.15
    fit_distances(deberta, roberta, ids)
    assert to_previous(deberta, ids[0]) > 0.4


def to_previous(model: Any, ids: torch.Tensor) -> float:
    """How much a token of the first head looks at the one before it, on average."""
    attention = model(ids, output_attentions=True).attentions[0][:, 0]
    return float(attention.diagonal(-1, 1, 2).mean())
