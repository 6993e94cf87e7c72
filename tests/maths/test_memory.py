"""The memory of training, from numbers that papers give."""

from __future__ import annotations

import pytest

from explorer.maths.memory import GPT3, PRECISIONS, held, lora_parameters

BY_NAME = {one.name: one for one in PRECISIONS}


def test_sixteen_bytes_a_trained_number_in_single_and_in_mixed_precision() -> None:
    assert BY_NAME["float32"].trained == BY_NAME["mixed precision"].trained == 16
    assert held(BY_NAME["float32"], 100, 10) == 4 * 100 + 16 * 10
    assert held(BY_NAME["mixed precision"], 100, 10) == 2 * 100 + 16 * 10


@pytest.mark.parametrize(("rank", "millions"), [(1, 4.7), (8, 37.7)])
def test_lora_s_numbers_on_gpt3_are_those_of_its_table_4(rank: int, millions: float) -> None:
    assert round(lora_parameters(GPT3, rank, 2) / 1e6, 1) == millions


def test_the_layers_matrices_are_nearly_all_of_gpt3() -> None:
    """4 d² of attention and 8 d² of the feed-forward block in each layer; the embeddings are the rest."""
    matrices = 12 * GPT3.layers * GPT3.width**2
    assert 0.99 < matrices / GPT3.parameters < 1


def test_half_precision_explains_350_gigabytes() -> None:
    lora = held(BY_NAME["float16 throughout"], GPT3.parameters, lora_parameters(GPT3, 4, 2))
    assert lora == pytest.approx(350e9, rel=0.01)
    bare, whole = (held(BY_NAME[name], 0, GPT3.parameters) for name in list(BY_NAME)[:1:-1])
    assert bare < 1.2e12 < whole
