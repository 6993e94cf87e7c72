"""The parts of the input against the model's own embedding output, for every family and what their configs can change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.models.embeddings import embedding_parts, table_of
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES
from explorer.models.inside import read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save
from tests.rows import each_row

NO_POSITIONS = {"position_biased_input": False, "type_vocab_size": 0}
CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("BERT", {}, "token segment position sum layer_norm"),
    ("RoBERTa", {}, "token segment position sum layer_norm"),
    ("RoBERTa", {"type_vocab_size": 2}, "token segment position sum layer_norm"),
    ("XLM-RoBERTa", {}, "token segment position sum layer_norm"),
    ("CamemBERT", {}, "token segment position sum layer_norm"),
    ("ALBERT", {"embedding_size": 16}, "token segment position sum layer_norm projection"),
    ("ALBERT", {"embedding_size": 32}, "token segment position sum layer_norm projection"),
    ("DistilBERT", {}, "token position sum layer_norm"),
    ("ELECTRA generator", {"embedding_size": 16}, "token segment position sum layer_norm projection"),
    ("ELECTRA discriminator", {"embedding_size": 16}, "token segment position sum layer_norm projection"),
    ("ELECTRA discriminator", {"embedding_size": 32}, "token segment position sum layer_norm"),
    ("DeBERTa", {}, "token position sum layer_norm"),
    ("DeBERTa", {"type_vocab_size": 2, "embedding_size": 16}, "token segment position sum projection layer_norm"),
    ("DeBERTa", NO_POSITIONS, "token sum layer_norm"),
    ("DeBERTa-v2/v3", NO_POSITIONS, "token sum layer_norm"),
    ("DeBERTa-v2/v3", {**NO_POSITIONS, "embedding_size": 16}, "token sum projection layer_norm"),
    ("GPT-2", {}, "token segment position sum"),
    ("ModernBERT", {}, "token sum layer_norm"),
    ("ModernBERT", {"norm_bias": True}, "token sum layer_norm"),
    ("ModernBERT decoder", {}, "token sum layer_norm"),
    ("EuroBERT", {}, "token sum"),
)


@pytest.fixture(
    scope="module", params=CASES, ids=lambda case: f"{case[0]}{''.join(f' {k}={v}' for k, v in case[1].items())}"
)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, list[str]]:
    family, changes, kinds = request.param
    folder = save(tmp_path_factory.mktemp("embeddings") / "model", family, initializer_range=0.4, **changes)
    return load_model(str(folder), Settings(device="cpu")), kinds.split()


def test_every_family_is_tried() -> None:
    assert {family for family, _, _ in CASES} == {entry.family for entry in ARCHITECTURES}


@torch.inference_mode()
@pytest.mark.parametrize("second", [None, "a cat"])
def test_the_parts_make_what_the_first_layer_is_given(case: tuple[LoadedModel, list[str]], second: str | None) -> None:
    loaded, kinds = case
    inputs = encode(loaded, "the cat sat on a mat .", second).inputs
    parts = embedding_parts(loaded, inputs)
    own = read(loaded, inputs, attentions=False).hidden_states[0][0]
    assert [part.kind for part in parts] == kinds
    assert float((parts[-1].values - own).abs().max()) < 1e-5
    added = torch.stack([part.values for part in parts if part.rows is not None]).sum(0)
    total = next(part.values for part in parts if part.kind == "sum")
    assert torch.equal(added, total)


@torch.inference_mode()
def test_an_added_part_is_the_row_of_its_table(case: tuple[LoadedModel, list[str]]) -> None:
    loaded, _ = case
    encoded = encode(loaded, "the cat sat", "a cat")
    for part in embedding_parts(loaded, encoded.inputs):
        if part.rows is None:
            continue
        table = table_of(loaded, part.kind)
        assert table is not None
        for vector, row in zip(part.values, part.rows.tolist(), strict=True):
            assert torch.equal(vector, table[row].double())
        if part.kind == "token":
            assert part.rows.tolist() == encoded.input_ids.tolist()


def roberta(tmp_path: Path, **changes: Any) -> LoadedModel:
    return load_model(str(save(tmp_path / "roberta", "RoBERTa", **changes)), Settings(device="cpu"))


@torch.inference_mode()
def test_roberta_counts_positions_from_the_row_after_the_padding_s(tmp_path: Path) -> None:
    loaded = roberta(tmp_path)
    assert loaded.model.config.pad_token_id == 1
    encoded = encode(loaded, "the cat sat")
    positions = next(part for part in embedding_parts(loaded, encoded.inputs) if part.kind == "position")
    assert positions.rows is not None
    assert positions.rows.tolist() == [2, 3, 4, 5, 6]


@torch.inference_mode()
def test_what_roberta_takes_for_padding_inside_a_text_has_the_padding_s_position(tmp_path: Path) -> None:
    """The tiny vocabulary's [UNK] has id 1, which this model takes for padding."""
    loaded = roberta(tmp_path)
    inputs = encode(loaded, "the zebra sat").inputs
    parts = {part.kind: part for part in embedding_parts(loaded, inputs)}
    assert parts["position"].rows is not None
    assert parts["position"].rows.tolist() == [2, 3, 1, 4, 5]
    own = read(loaded, inputs, attentions=False).hidden_states[0][0]
    assert float((parts["layer_norm"].values - own).abs().max()) < 1e-5


@torch.inference_mode()
def test_gpt2_without_segment_ids_adds_no_segment(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "GPT-2")), Settings(device="cpu"))
    inputs = encode(loaded, "the cat").inputs
    inputs.pop("token_type_ids")
    parts = embedding_parts(loaded, inputs)
    assert [part.kind for part in parts] == ["token", "position", "sum"]
    own = read(loaded, inputs, attentions=False).hidden_states[0][0]
    assert float((parts[-1].values - own).abs().max()) < 1e-5


@torch.inference_mode()
def test_layer_norm_gives_mean_and_variance_before_gain_and_bias(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "BERT")), Settings(device="cpu"))
    parts = {part.kind: part.values for part in embedding_parts(loaded, encode(loaded, "the cat").inputs)}
    expected = torch.nn.functional.layer_norm(parts["sum"], parts["sum"].shape[-1:], eps=1e-12)
    assert torch.allclose(parts["layer_norm"], expected)


@each_row(
    ("family", "kind", "rows"),
    [
        ("BERT", "position", 24),
        ("BERT", "segment", 2),
        ("DistilBERT", "segment", None),
        ("ModernBERT", "position", None),
    ],
)
def test_tables_are_there_where_the_family_has_them(tmp_path: Path, family: str, kind: str, rows: int | None) -> None:
    loaded = load_model(str(save(tmp_path, family)), Settings(device="cpu"))
    table = table_of(loaded, kind)
    assert (None if table is None else len(table)) == rows
