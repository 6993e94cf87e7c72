"""One token's scores and weights, for every family, against the model's own attention."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from explorer.errors import BadInputError
from explorer.labs.attention.head_jobs import encoded_pair
from explorer.labs.attention.views import QueryKeyParams, QueryKeyResult
from explorer.labs.attention.views_jobs import query_key
from explorer.models.inside import read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save

TEXT, SECOND = "the cat sat on a mat", "a cat"
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 8}


@torch.inference_mode()
def ask(loaded: LoadedModel, *texts: str, **changes: Any) -> QueryKeyResult:
    return query_key(loaded, QueryKeyParams(*(texts or (TEXT, SECOND)), **changes))


@torch.inference_mode()
def test_the_weights_are_the_model_s_own_row(opened: LoadedModel) -> None:
    inputs = encoded_pair(opened, TEXT, SECOND).inputs
    expected = read(opened, inputs).attentions[1][0, 1, 3]
    result = ask(opened, layer=1, head=1, position=3)
    assert [seen.weight for seen in result.keys] == pytest.approx(expected.tolist(), abs=1e-5)
    assert sum(seen.weight for seen in result.keys) == pytest.approx(1.0, abs=1e-5)


def test_scores_are_scaled_products_and_their_softmax_the_weights(opened: LoadedModel) -> None:
    result = ask(opened, layer=1, position=2)
    for seen in result.keys:
        product = sum(q * k for q, k in zip(result.query, seen.key, strict=True))
        assert seen.score == pytest.approx(product * result.scaling, abs=1e-4)
    shown = torch.tensor([seen.score for seen in result.keys])
    unseen = torch.tensor([seen.hidden for seen in result.keys])
    softmax = shown.masked_fill(unseen, float("-inf")).softmax(0).tolist()
    weights = [seen.weight for seen in result.keys]
    assert result.exact
    assert softmax == pytest.approx(weights, abs=1e-4)
    assert all(seen.weight == 0 for seen in result.keys if seen.hidden)


def test_decoders_hide_what_comes_later_and_others_hide_nothing(opened: LoadedModel) -> None:
    result = ask(opened, position=2)
    hidden = [seen.place.position for seen in result.keys if seen.hidden]
    later = list(range(3, len(result.keys)))
    assert hidden == (later if opened.architecture.layers.reads_last else [])
    assert not result.window


def test_a_sliding_window_hides_both_ends(tmp_path_factory: pytest.TempPathFactory) -> None:
    changes = {"local_attention": 4, "global_attn_every_n_layers": 2, "initializer_range": 0.3}
    folder = save(tmp_path_factory.mktemp("neuron") / "modern", "ModernBERT", **changes)
    modern = load_model(str(folder), Settings(device="cpu"))
    local = ask(modern, layer=1, position=4)
    hidden = [seen.place.position for seen in local.keys if seen.hidden]
    assert local.exact
    assert local.window
    assert min(hidden) < 4 < max(hidden)
    assert not any(seen.hidden for seen in ask(modern, layer=0, position=4).keys)


@pytest.mark.parametrize("family", ["DeBERTa", "DeBERTa-v2/v3"])
def test_relative_positions_make_the_softmax_miss(family: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = save(tmp_path_factory.mktemp("neuron") / "deberta", family, initializer_range=0.3, **RELATIVE)
    result = ask(load_model(str(folder), Settings(device="cpu")), layer=1, position=2)
    assert not result.exact
    assert result.difference > 1e-3
    assert not any(seen.hidden for seen in result.keys)


def test_the_first_word_looks_where_none_is_named(opened: LoadedModel) -> None:
    result = ask(opened)
    assert result.looking.position == min(seen.place.position for seen in result.keys if not seen.place.special)
    assert result.sentences == (TEXT, SECOND)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"layer": 3}, "there is no layer 3"),
        ({"head": 2}, "there is no head 2"),
        ({"position": 999}, "there is no position 999"),
        ({"position": -1}, "position must be a whole number"),
        ({"position": "first"}, "position must be a whole number"),
    ],
)
def test_a_place_that_is_not_there_is_named(albert: LoadedModel, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        ask(albert, **changes)


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(BadInputError, match="Type a sentence"):
        QueryKeyParams("")
