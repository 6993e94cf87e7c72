"""Shared layers timed: what is counted, against transformers' own ALBERT, and what is said of the times."""

from __future__ import annotations

import pytest
from transformers import AlbertConfig, AlbertModel

import explorer
from explorer.errors import BadInputError
from explorer.labs.models import speed as figures
from explorer.labs.models.speed import TOKENS, WIDE, SpeedParams, SpeedResult, Timed
from tests.rows import each_row


def test_layers_are_counted_as_transformers_builds_them() -> None:
    found: SpeedResult = explorer.run("sharing_speed", layers=3, hidden_size=100, embedding_size=32).result
    assert (found.hidden_size, found.embedding_size) == (64, 32)
    for sharing, groups in (("none", 3), ("all", 1)):
        sizes = {"num_hidden_layers": 3, "num_hidden_groups": groups, "num_attention_heads": 1}
        model = AlbertModel(AlbertConfig(vocab_size=10, hidden_size=64, intermediate_size=256, **sizes))
        layers = model.encoder.albert_layer_groups
        assert found.parameters[sharing] == sum(tensor.numel() for tensor in layers.parameters())
    assert found.parameters["none"] == 3 * found.parameters["all"]
    assert found.products == TOKENS * 3 * (4 * 64 * 64 + 2 * 64 * 256)
    assert {(one.sharing, one.work) for one in found.timed} == {
        (sharing, work) for sharing in ("none", "all", WIDE) for work in ("forward", "step")
    }
    assert found.parameters[WIDE] == found.parameters["all"]
    assert found.embeddings["none"] == found.embeddings["all"] == 30_000 * 32 + 32 * 64 + 64
    assert found.embeddings[WIDE] == 30_000 * 64 + 64 * 64 + 64
    assert all(0 < one.low <= one.milliseconds <= one.high for one in found.timed)


def test_embeddings_as_wide_as_the_layers_have_nothing_wider_beside_them() -> None:
    found: SpeedResult = explorer.run("sharing_speed", layers=1, hidden_size=64, embedding_size=300).result
    assert found.embedding_size == 64
    assert set(found.parameters) == {"none", "all"}
    assert figures.width_sentence(found) == ""
    assert len(figures.speed_table(found).rows) == 4


TIMES = {
    **{("none", "forward"): 10.0, ("all", "forward"): 10.9, (WIDE, "forward"): 11.0},
    **{("none", "step"): 40.0, ("all", "step"): 30.0, (WIDE, "step"): 40.0},
}


def result(**changed: float) -> SpeedResult:
    times = TIMES | {(WIDE, "step"): changed.get("wide", 40.0)}
    timed = tuple(Timed(*key, value, value - 1, value + 1) for key, value in times.items())
    counts = {"none": 600, "all": 100, WIDE: 100}, {"none": 4_000, "all": 4_000, WIDE: 12_000}
    return SpeedResult(6, 384, 128, *counts, 1000, timed)


def test_what_is_said_follows_from_the_times() -> None:
    said = figures.speed_sentence(result()).striptags()
    assert said.endswith("here a forward pass takes about as long, a training step takes less time.")
    notes = figures.speed_notes(result())
    assert "forward pass takes 10 ms without sharing and 10.9 ms with it, about the same" in notes
    assert "training step takes 40 ms without sharing and 30 ms with it, 25% less" in notes
    assert "40.0 (39.0 to 41.0)" in figures.speed_rows(result())
    assert figures.speed_table(result()).rows[4] == ("all", "step", 100, 4_000, 30.0, 29.0, 31.0)
    assert figures.speed_table(result()).rows[5][:2] == (WIDE, "step")


def test_narrow_embeddings_stand_beside_wide_ones() -> None:
    said = figures.width_sentence(result()).striptags()
    assert "Embeddings of width 128 in place of 384 leave 4K of 12K numbers for 30,000 words." in said
    assert "a forward pass takes about the same and a training step takes 25% less." in said
    rows = figures.speed_rows(result())
    assert "<td>one layer for all depths</td><td>384</td><td>100</td><td>12,000</td>" in rows


@pytest.mark.parametrize(("wide", "says"), [(35.2, "about the same"), (35.4, "15% less"), (24.0, "25% more")])
def test_a_difference_is_said_from_fifteen_percent_on(wide: float, says: str) -> None:
    assert figures.width_sentence(result(wide=wide)).striptags().endswith(f"a training step takes {says}.")


@each_row("given", [{"layers": 0}, {"layers": 13}, {"hidden_size": 32}, {"hidden_size": 4096}, {"embedding_size": 8}])
def test_sizes_beyond_a_wait_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match="must be a whole number from"):
        SpeedParams(**given)
