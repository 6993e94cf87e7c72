"""Parameters by formula and by counting, for every class; a wrong formula or a forgotten tensor is noticed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from explorer.errors import ExplorerError
from explorer.models import sizes
from explorer.models.families import by_family
from explorer.models.sizes import PARTS, Part, counted_parts, tied
from tests.models.tiny import build
from tests.rows import each_row

FAMILIES: dict[str, dict[str, Any]] = {
    "BERT": {},
    "RoBERTa": {},
    "XLM-RoBERTa": {},
    "CamemBERT": {},
    "DeBERTa": {
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "max_relative_positions": 8,
        "position_biased_input": False,
    },
    "DistilBERT": {},
    "ALBERT": {"embedding_size": 16},
    "ELECTRA generator": {"embedding_size": 16},
    "ELECTRA discriminator": {"embedding_size": 32},
    "GPT-2": {},
}


@each_row(("family", "sizes"), FAMILIES.items(), ids=FAMILIES)
def test_formula_and_count_agree_and_every_parameter_is_in_a_part(family: str, sizes: dict[str, Any]) -> None:
    model = build(by_family(family), **sizes)
    assert sum(part.count for part in counted_parts(model)) == sum(p.numel() for p in model.parameters())
    assert tied(model)


def test_every_class_is_tried() -> None:
    assert {by_family(family).model_class for family in FAMILIES} == set(PARTS)


@each_row(
    ("formula", "count"),
    [("2·3 + 1", 7), ("(28,996 + 512 + 2)·384 + 2·384", 11332608), ("6·(4·(384² + 384))", 3548160), ("5²", 25)],
)
def test_a_formula_is_worked_out_as_it_is_written(formula: str, count: int) -> None:
    assert Part("x", formula, ()).count == count


def test_a_formula_holds_nothing_but_arithmetic() -> None:
    with pytest.raises(ValueError, match="no part"):
        _ = Part("x", "print(1)", ()).count


def test_a_wrong_formula_and_a_forgotten_tensor_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(by_family("GPT-2"))
    right = PARTS["GPT2LMHeadModel"](model.config)
    monkeypatch.setitem(
        sizes.PARTS, "GPT2LMHeadModel", lambda _: [*right[:-1], Part("last", "3·32", right[-1].prefixes)]
    )
    with pytest.raises(ExplorerError, match="gives 96, the model has 64"):
        counted_parts(model)
    monkeypatch.setitem(sizes.PARTS, "GPT2LMHeadModel", lambda _: right[:-1])
    with pytest.raises(ExplorerError, match="belong to no part"):
        counted_parts(model)


def test_a_copy_is_not_a_tie() -> None:
    model = build(by_family("RoBERTa"))
    model.lm_head.decoder.weight = torch.nn.Parameter(model.lm_head.decoder.weight.clone())
    assert not tied(model)
