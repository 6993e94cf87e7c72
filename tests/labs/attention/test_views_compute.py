"""The weights that bertviz's views carry, for every family, against the dense ones."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.attention import views_jobs as views_compute
from explorer.labs.attention.head_jobs import encoded_pair
from explorer.labs.attention.views import SCALE, AttentionViewParams, AttentionViewResult
from explorer.labs.attention.views_jobs import attention_view
from explorer.models.families import Capability
from explorer.models.inside import read
from explorer.models.loaded_model import LoadedModel

TEXT, SECOND = "the cat sat on a mat", "a cat"


@torch.inference_mode()
def ask(loaded: LoadedModel, *texts: str, **changes: Any) -> AttentionViewResult:
    return attention_view(loaded, AttentionViewParams(*(texts or (TEXT, SECOND)), **changes))


@torch.inference_mode()
def dense(loaded: LoadedModel) -> Tensor:
    """(layers, heads, length, length) of the same texts."""
    reading = read(loaded, encoded_pair(loaded, TEXT, SECOND).inputs)
    return torch.stack([layer[0] for layer in reading.attentions])


def numbers(packed: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(packed) // 2}H", packed))


def unpacked(result: AttentionViewResult) -> Tensor:
    """What a page makes of it: dense weights, zero where none was sent."""
    length = len(result.tokens)
    found = torch.zeros(len(result.layers) * result.heads_of_layer * length, length)
    place = iter(zip(numbers(result.targets), numbers(result.weights), strict=True))
    for row, count in enumerate(numbers(result.counts)):
        for _ in range(count):
            target, weight = next(place)
            found[row, target] = weight / SCALE
    assert next(place, None) is None
    return found.reshape(len(result.layers), result.heads_of_layer, length, length)


def test_a_short_text_carries_every_weight_to_four_decimals(opened: LoadedModel) -> None:
    expected = dense(opened)
    assert (unpacked(ask(opened, view="model")) - expected).abs().max() <= 0.5 / SCALE + 1e-6
    one = ask(opened, view="head", layer=1)
    assert one.layers == (1,)
    assert (unpacked(one)[0] - expected[1]).abs().max() <= 0.5 / SCALE + 1e-6
    assert not one.limited
    assert one.share == pytest.approx(1.0, abs=0.01)


def test_a_threshold_leaves_out_the_smaller_weights_but_no_row_s_largest(opened: LoadedModel) -> None:
    expected, result = dense(opened), ask(opened, view="model", smallest=0.2)
    sent = unpacked(result)
    kept = sent > 0
    largest = torch.zeros_like(kept).scatter_(3, expected.argmax(3, keepdim=True), True)
    assert (kept >= largest).all()
    rounded = (expected * SCALE).round()
    assert torch.equal(kept, (rounded >= 0.2 * SCALE) | largest)
    by_head = (expected * kept).sum((2, 3)) / expected.sum((2, 3))
    assert [head.share for head in result.heads] == pytest.approx(by_head.flatten().tolist(), abs=1e-5)
    assert [head.lines for head in result.heads] == kept.sum((2, 3)).flatten().tolist()


@pytest.mark.parametrize("most", [1, 20, 100])
def test_no_more_than_the_limit_is_sent_beside_each_row_s_largest(
    opened: LoadedModel, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setitem(views_compute.MOST_KEPT, "model", most)
    monkeypatch.setattr(views_compute, "MOST_THUMBNAIL_LINES", most // 2)
    result, expected = ask(opened, view="model"), (dense(opened) * SCALE).round()
    rows = expected[..., 0].numel()
    assert result.limited
    assert rows <= result.lines <= rows + most
    assert (expected >= result.kept_from).sum() <= most < (expected >= result.kept_from - 1).sum()
    assert (expected >= result.drawn_from).sum() <= most // 2
    assert result.share < 1


def test_a_pair_knows_where_its_second_text_starts(opened: LoadedModel) -> None:
    first = encoded_pair(opened, TEXT, SECOND).tokens
    result = ask(opened)
    assert result.second_starts is not None
    assert first[result.second_starts].sentence == 1
    assert first[result.second_starts - 1].sentence != 1
    assert ask(opened, TEXT).second_starts is None


def test_a_model_that_reads_on_sends_no_weight_of_a_later_token(opened: LoadedModel) -> None:
    result = ask(opened, view="model")
    later = unpacked(result).triu(1).sum()
    assert result.causal == (Capability.CAUSAL in opened.architecture.heads)
    assert (later == 0) == result.causal


def test_albert_s_shared_layer_differs_with_depth(albert: LoadedModel) -> None:
    sent = unpacked(ask(albert, view="model"))
    assert len(sent) == 3
    assert not torch.equal(sent[0], sent[1])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sentence_a": " "}, "Type a sentence"),
        ({"sentence_a": "the cat", "view": "tail"}, "view must be one of head, model"),
        ({"sentence_a": "the cat", "layer": -1}, "layer must be a whole number"),
        ({"sentence_a": "the cat", "layer": "one"}, "layer must be a whole number"),
        ({"sentence_a": "the cat", "smallest": 2}, "smallest must be a share"),
        ({"sentence_a": "the cat", "smallest": "much"}, "smallest must be a share"),
        ({"sentence_a": "the cat", "smallest": float("nan")}, "smallest must be a share"),
        ({"sentence_a": "the cat", "sentence_b": 7}, "sentence_b takes a text"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        AttentionViewParams(**changes)


def test_a_layer_that_the_model_lacks_is_named(albert: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="0 to 2: there is no layer 3"):
        ask(albert, layer=3)
