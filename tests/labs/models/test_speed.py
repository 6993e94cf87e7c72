"""Shared layers timed: what is counted, against transformers' own ALBERT, and what is said of the times."""

from __future__ import annotations

import pytest
from transformers import AlbertConfig, AlbertModel

import explorer
from explorer.errors import BadInputError
from explorer.labs.models.speed import figures
from explorer.labs.models.speed.schema import TOKENS, SpeedParams, SpeedResult, Timed


def test_layers_are_counted_as_transformers_builds_them() -> None:
    found: SpeedResult = explorer.run("sharing_speed", layers=3, hidden_size=100).result
    assert found.hidden_size == 64
    for sharing, groups in (("none", 3), ("all", 1)):
        sizes = {"num_hidden_layers": 3, "num_hidden_groups": groups, "num_attention_heads": 1}
        model = AlbertModel(AlbertConfig(vocab_size=10, hidden_size=64, intermediate_size=256, **sizes))
        layers = model.encoder.albert_layer_groups
        assert found.parameters[sharing] == sum(tensor.numel() for tensor in layers.parameters())
    assert found.parameters["none"] == 3 * found.parameters["all"]
    assert found.products == TOKENS * 3 * (4 * 64 * 64 + 2 * 64 * 256)
    assert {(one.sharing, one.work) for one in found.timed} == {
        (sharing, work) for sharing in ("none", "all") for work in ("forward", "step")
    }
    assert all(0 < one.low <= one.milliseconds <= one.high for one in found.timed)


def test_what_is_said_follows_from_the_times() -> None:
    times = {("none", "forward"): 10.0, ("all", "forward"): 10.9, ("none", "step"): 40.0, ("all", "step"): 30.0}
    timed = tuple(Timed(*key, value, value - 1, value + 1) for key, value in times.items())
    result = SpeedResult(6, 384, {"none": 600, "all": 100}, 1000, timed)
    said = figures.speed_sentence(result)
    assert "forward pass takes 10 ms without sharing and 10.9 ms with it, <strong>about the same</strong>" in said
    assert "training step takes 40 ms without sharing and 30 ms with it, <strong>25% less</strong>" in said
    assert "40.0 (39.0 to 41.0)" in figures.speed_rows(result)
    assert figures.speed_table(result).rows[3] == ("all", "step", 100, 30.0, 29.0, 31.0)


@pytest.mark.parametrize("given", [{"layers": 0}, {"layers": 13}, {"hidden_size": 32}, {"hidden_size": 4096}])
def test_sizes_beyond_a_wait_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match="must be a whole number from"):
        SpeedParams(**given)
