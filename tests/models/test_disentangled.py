"""DeBERTa's terms against its own attention and against the paper's formulas, for both versions with random weights."""

from __future__ import annotations

from math import ceil, log
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.models.disentangled import (
    CONTENT,
    CONTENT_TO_POSITION,
    POSITION_TO_CONTENT,
    relative_positions,
    score_terms,
)
from explorer.models.encoding import encode
from explorer.models.inside import read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save
from tests.rows import each_row

TEXT = "the cat sat on a mat , the cats sit ."
USUAL: dict[str, Any] = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "max_relative_positions": 4,
    "initializer_range": 0.4,
}
V3 = {"share_att_key": True, "position_buckets": 4, "max_relative_positions": 24, "norm_rel_ebd": "layer_norm"}
"""As microsoft/deberta-v3-small has it."""
KINDS = {
    "v1": ("DeBERTa", {}),
    "v1 without absolute positions": ("DeBERTa", {"position_biased_input": False}),
    "v2": ("DeBERTa-v2/v3", {}),
    "v3": ("DeBERTa-v2/v3", V3),
    "one term": ("DeBERTa", {"pos_att_type": ["c2p"]}),
    "the other": ("DeBERTa-v2/v3", {"pos_att_type": ["p2c"]}),
    "none": ("DeBERTa", {"relative_attention": False, "pos_att_type": []}),
}


def opened(kind: str, folder: Path, **changes: Any) -> LoadedModel:
    family, sizes = KINDS[kind]
    return load_model(str(save(folder, family, **{**USUAL, **sizes, **changes})), Settings(device="cpu"))


@torch.inference_mode()
@pytest.mark.parametrize("kind", KINDS)
def test_the_terms_add_up_to_the_models_own_scores(kind: str, tmp_path: Path) -> None:
    loaded = opened(kind, tmp_path)
    inputs = encode(loaded, TEXT, None).inputs
    for layer, attention in enumerate(read(loaded, inputs).attentions):
        found = score_terms(loaded, inputs, layer)
        torch.testing.assert_close(found.scores.softmax(-1), attention[0], rtol=0, atol=1e-5)
        torch.testing.assert_close(found.weights, attention[0], rtol=0, atol=1e-6)


@torch.inference_mode()
@pytest.mark.parametrize(
    ("kind", "terms"),
    [
        ("v1", {CONTENT, CONTENT_TO_POSITION, POSITION_TO_CONTENT}),
        ("v3", {CONTENT, CONTENT_TO_POSITION, POSITION_TO_CONTENT}),
        ("one term", {CONTENT, CONTENT_TO_POSITION}),
        ("the other", {CONTENT, POSITION_TO_CONTENT}),
        ("none", {CONTENT}),
    ],
)
def test_only_terms_that_the_checkpoint_has_are_there(kind: str, terms: set[str], tmp_path: Path) -> None:
    loaded = opened(kind, tmp_path)
    assert set(score_terms(loaded, encode(loaded, TEXT, None).inputs, 1).terms) == terms


@torch.inference_mode()
def test_each_term_is_the_papers_product(tmp_path: Path) -> None:
    """Equation 4, written out for the first version."""
    loaded = opened("v1", tmp_path)
    inputs = encode(loaded, TEXT, None).inputs
    found = score_terms(loaded, inputs, 1).terms
    states = read(loaded, inputs).hidden_states[1][0]
    body: Any = loaded.model.base_model
    attention, table = body.encoder.layer[1].attention.self, body.encoder.rel_embeddings.weight
    size = states.shape[-1] // 2
    for head in range(2):
        rows = attention.in_proj.weight[3 * size * head : 3 * size * (head + 1)]
        query = states @ rows[:size].T + attention.q_bias[size * head : size * (head + 1)]
        key = states @ rows[size : 2 * size].T
        own = slice(size * head, size * (head + 1))
        to, of = table @ attention.pos_proj.weight[own].T, table @ attention.pos_q_proj.weight[own].T
        of = of + attention.pos_q_proj.bias[own]
        for i in range(len(states)):
            for j in range(len(states)):
                row = delta(i - j, 4)
                expected = [query[i] @ key[j], query[i] @ to[row], key[j] @ of[row]]
                for term, value in zip((CONTENT, CONTENT_TO_POSITION, POSITION_TO_CONTENT), expected, strict=True):
                    assert float(found[term][head, i, j]) == pytest.approx(float(value) / (3 * size) ** 0.5, abs=1e-4)


def delta(distance: int, k: int) -> int:
    """Equation 3 of He et al. 2021."""
    return 0 if distance <= -k else 2 * k - 1 if distance >= k else distance + k


@each_row("kind", ["v1", "v2"])
@each_row("length", [2, 4, 5, 24])
def test_distances_are_counted_as_the_paper_does(kind: str, length: int, tmp_path: Path) -> None:
    found = relative_positions(opened(kind, tmp_path), length)
    assert found is not None
    assert (found.span, found.buckets) == (4, False)
    assert found.rows.tolist() == [[delta(i - j, 4) for j in range(length)] for i in range(length)]


def test_far_distances_share_buckets(tmp_path: Path) -> None:
    """Half of the buckets one by one, the rest by the logarithm up to the longest distance."""
    found = relative_positions(opened("v3", tmp_path, position_buckets=8), 24)
    assert found is not None
    assert (found.span, found.buckets) == (8, True)

    def bucket(distance: int) -> int:
        if abs(distance) <= 4:
            return distance
        steps = 4 + ceil(log(abs(distance) / 4) / log(23 / 4) * 3 - 1e-9)
        return steps if distance > 0 else -steps

    expected = [[min(max(bucket(i - j) + 8, 0), 15) for j in range(24)] for i in range(24)]
    assert found.rows.tolist() == expected
    assert len(set(found.rows[0].tolist())) == 8


@pytest.mark.parametrize("kind", ["v1", "v2", "v3"])
def test_each_score_reads_the_row_that_is_named(kind: str, tmp_path: Path) -> None:
    """Seen from outside: when one row of the table changes, the scores of these pairs change, and of no others."""
    loaded = opened(kind, tmp_path, num_hidden_layers=1)
    inputs = encode(loaded, TEXT, None).inputs
    found = relative_positions(loaded, inputs["input_ids"].shape[1])
    assert found is not None
    body: Any = loaded.model.base_model
    for row in (0, 3, 5):
        before = score_terms(loaded, inputs, 0).terms
        body.encoder.rel_embeddings.weight.data[row] += torch.linspace(-1, 1, 32)
        after = score_terms(loaded, inputs, 0).terms
        assert torch.equal(before[CONTENT], after[CONTENT])
        for term in (CONTENT_TO_POSITION, POSITION_TO_CONTENT):
            moved = ((before[term] - after[term]).abs() > 1e-6).any(0)
            assert torch.equal(moved, found.rows == row)


def test_other_models_have_none(bert: LoadedModel) -> None:
    assert relative_positions(bert, 8) is None
