"""LoRA drawn: the sizes of the chosen model and matrix, multiplied out, and only what the numbers say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import explorer
from explorer.labs.finetune.schema import LowRank, PlanResult
from explorer.labs.finetune.train_figures import SIDE, lora_drawing, lora_view
from explorer.models.layer_sizes import LayerSizes, Matrix
from tests.rows import each_row

QUERY, FFN = Matrix("query", 768, 768), Matrix("ffn_in", 3072, 768)
ADDED = LowRank((QUERY, Matrix("value", 768, 768)), 12, 8, 16.0, "lora")
MATRICES = (QUERY, *(Matrix(role, 768, 768) for role in ("key", "value", "output")), FFN, Matrix("ffn_out", 768, 3072))
LAYER = LayerSizes(MATRICES, 12, "GELU", "LayerNorm", False, False, False, 12, 12)


def view(added: LowRank | None) -> str:
    return lora_view(PlanResult("bert-base-uncased", "LoRA", layer=LAYER, low_rank=added))


def said(added: LowRank) -> str:
    return re.sub(r"<svg.*?</svg>", "", view(added)).replace("<strong>", "").replace("</strong>", "")


def corners(added: LowRank, style: str) -> list[list[tuple[int, int]]]:
    found = re.findall(rf'<polygon class="{style}" points="([^"]*)"', lora_drawing(added))
    return [[(int(x), int(y)) for x, y in (pair.split(",") for pair in one.split())] for one in found]


def width(shape: list[tuple[int, int]], edge: int) -> int:
    """Of the upper edge (0) or of the lower one (1)."""
    left, right = shape[2 * edge], shape[2 * edge + 1]
    return abs(right[0] - left[0])


def test_the_papers_numbers_stand_below() -> None:
    text = said(ADDED)
    assert "query, value: 768 · 768 = 589,824 in W against 2 · 8 · 768 = 12,288 (2.08%)." in text
    assert "In 12 layers that is 294,912 trained parameters." in text


def test_a_matrix_that_is_not_square_has_its_two_sides_in_the_product() -> None:
    text = said(replace(ADDED, matrices=(QUERY, FFN), layers=1))
    assert "query: 768 · 768" in text
    assert "ffn_in: 3,072 · 768 = 2,359,296 in W against 8 · (3,072 + 768) = 30,720 (1.30%)." in text
    assert "In 1 layer that is 43,008 trained parameters." in text


@pytest.mark.parametrize(("rank", "fewer"), [(383, True), (384, False), (400, False)])
def test_from_half_the_width_on_there_are_no_fewer_numbers(rank: int, fewer: bool) -> None:
    assert (", which is no fewer." in said(replace(ADDED, rank=rank))) is not fewer


def test_dora_trains_a_length_a_row_besides() -> None:
    dora = replace(ADDED, variant="dora")
    assert dora.trained == 12 * 2 * (12_288 + 768)
    assert "the length of each row, which DoRA trains besides" in said(dora)
    assert "DoRA" not in said(ADDED)


@pytest.mark.parametrize(
    ("variant", "scale"), [("lora", "· α/r = 2"), ("rslora", "· α/√r = 5.66"), ("dora", "· α/r = 2")]
)
def test_the_update_is_scaled_as_the_variant_scales_it(variant: str, scale: str) -> None:
    assert f">{scale}<" in lora_drawing(replace(ADDED, variant=variant))


def test_sides_are_drawn_as_long_as_they_are() -> None:
    ((first, *_, last),) = corners(ADDED, "frozen")
    assert last[1] - first[1] == SIDE == 130
    a, b = corners(replace(ADDED, rank=384), "trained")
    assert (width(a, 0), width(a, 1)) == (64, 130)  # A takes 768 to 384, from below
    assert (width(b, 0), width(b, 1)) == (130, 64)
    a, b = corners(replace(ADDED, matrices=(FFN,)), "trained")
    assert (width(a, 1), width(b, 0)) == (32, 130)
    assert width(a, 0) == 10  # 8 of 3,072 would be no pixel


def test_the_matrices_that_are_chosen_are_lit_and_a_fused_one_with_all_its_roles() -> None:
    assert view(ADDED).count('class="matrix lit"') == 2
    fused = LowRank((Matrix("query+key+value", 2304, 768),), 12, 8, 16.0, "lora")
    assert view(fused).count('class="matrix lit"') == 3


def test_another_method_has_no_such_drawing() -> None:
    assert view(None) == ""


def test_it_is_described_for_who_does_not_see_it() -> None:
    assert "LoRA: x goes through W, 768 by 768 and frozen, and beside it through A, 8 by 768, and B, 768 by 8" in view(
        ADDED
    )


@each_row(
    "given",
    [
        {"model": "bert-mini"},
        {"model": "bert-mini", "variant": "dora", "targets": ("key", "ffn_in")},
        {"model": "bert-mini", "last_layers": 1, "rank": 3},
        {"model": "gpt2-mini", "targets": ("query", "ffn_out")},
        {"model": "albert-mini"},
    ],
)
def test_what_is_drawn_is_what_a_run_would_train(given: dict[str, Any]) -> None:
    plan = explorer.run("plan_run", **given).result
    assert plan.low_rank is not None
    assert plan.low_rank.trained == sum(count for name, count in plan.modules if name.startswith("LoRA"))
    assert plan.layer is not None


def test_the_plan_of_another_method_has_none() -> None:
    assert explorer.run("plan_run", model="bert-mini", method="head").result.low_rank is None
