"""The jobs on embeddings: norms, shares, cosines and neighbours against plain torch, for every family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cosine_similarity

from explorer.errors import BadInputError
from explorer.labs.inputs.embeddings import ADDED, PositionsParams, SumParams, TokenPartsParams, require_positions
from explorer.labs.inputs.embeddings_jobs import position_similarity, sum_parts, token_parts
from explorer.models.families import ARCHITECTURES
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save
from tests.rows import each_row

TEXT = "the cat sat on a mat ."


@pytest.fixture(scope="module", params=[entry.family for entry in ARCHITECTURES])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save(tmp_path_factory.mktemp("sum") / "model", request.param, initializer_range=0.3)
    return load_model(str(folder), Settings(device="cpu"))


@torch.inference_mode()
@pytest.mark.parametrize("second", ["", "a cat"])
def test_the_difference_from_the_model_is_rounding_in_every_family(opened: LoadedModel, second: str) -> None:
    result = sum_parts(opened, SumParams(TEXT, second))
    assert 0 <= result.difference < 1e-5
    assert len(result.tokens) == len(result.parts[0].norms) == 9 + (3 if second else 0) - opened.architecture.ends_texts
    for part in result.parts:
        assert len(part.strips) == len(part.norms) == len(result.tokens)
        assert all(len(strip) == len(part.dimensions) for strip in part.strips)


@torch.inference_mode()
@pytest.mark.parametrize("second", ["", "a cat"])
def test_the_shares_of_a_token_s_parts_add_up_to_one(opened: LoadedModel, second: str) -> None:
    for position in (0, 3, 7):
        result = token_parts(opened, TokenPartsParams(TEXT, second, position))
        shares = [part.share for part in result.parts if part.kind in ADDED]
        assert sum(share for share in shares if share is not None) == pytest.approx(1.0)
        assert all((part.share is None) == (part.kind not in ADDED) for part in result.parts)
        for part in result.parts:
            if part.cosine is not None:
                assert -1.0000001 <= part.cosine <= 1.0000001
        assert result.token.position == position


@torch.inference_mode()
def test_parts_of_a_token_are_those_of_the_sum(opened: LoadedModel) -> None:
    whole = sum_parts(opened, SumParams(TEXT))
    one = token_parts(opened, TokenPartsParams(TEXT, position=4))
    assert [part.kind for part in one.parts] == [part.kind for part in whole.parts]
    for alone, among in zip(one.parts, whole.parts, strict=True):
        assert alone.norm == pytest.approx(among.norms[4])
        assert alone.width == among.width
    assert one.token == whole.tokens[4]


@torch.inference_mode()
def test_neighbours_are_the_nearest_rows_of_the_token_table(opened: LoadedModel) -> None:
    result = token_parts(opened, TokenPartsParams(TEXT, position=2))
    table = opened.model.get_input_embeddings().weight
    cosines = {
        opened.tokenizer.convert_ids_to_tokens(row): float(
            cosine_similarity(table[row], table[result.token.token_id], dim=0)
        )
        for row in range(len(opened.tokenizer))
        if row != result.token.token_id
    }
    expected = sorted(cosines.values(), reverse=True)[:8]
    assert [near.cosine for near in result.neighbours] == pytest.approx(expected, abs=1e-5)
    assert all(cosines[near.token] == pytest.approx(near.cosine, abs=1e-5) for near in result.neighbours)


@torch.inference_mode()
def test_positions_are_compared_where_the_family_adds_them(opened: LoadedModel) -> None:
    result = position_similarity(opened, PositionsParams())
    if opened.architecture.embeddings.position is None:
        assert result.positions == result.cosines == ()
        with pytest.raises(BadInputError, match="adds no position embeddings"):
            require_positions(result)
        return
    require_positions(result)
    assert result.available == 24 - opened.architecture.spare_positions
    assert result.positions == tuple(range(result.available))
    for row, cosines in enumerate(result.cosines):
        assert cosines[row] == pytest.approx(1.0)
        assert [other[row] for other in result.cosines] == pytest.approx(list(cosines))


@torch.inference_mode()
def test_the_bundled_model_s_parts_by_hand(loaded: LoadedModel) -> None:
    result = sum_parts(loaded, SumParams("The bank raised it.", "Nobody liked it."))
    embeddings: Any = loaded.model.base_model.embeddings
    by_kind = {part.kind: part for part in result.parts}
    for place, token in enumerate(result.tokens):
        vectors = {
            "token": embeddings.word_embeddings.weight[token.token_id],
            "segment": embeddings.token_type_embeddings.weight[token.segment],
            "position": embeddings.position_embeddings.weight[place],
        }
        vectors["sum"] = sum(vectors.values())
        for kind, vector in vectors.items():
            assert by_kind[kind].norms[place] == pytest.approx(float(vector.norm()), rel=1e-5)
            picked = vector[list(by_kind[kind].dimensions)].tolist()
            assert by_kind[kind].strips[place] == pytest.approx(picked, abs=1e-6)
    assert [token.segment for token in result.tokens] == [0] * 7 + [1] * 5
    assert by_kind["token"].dimensions == tuple(range(0, 768, 16))
    assert result.difference < 1e-5


@torch.inference_mode()
def test_neighbouring_positions_of_the_bundled_model_are_alike(loaded: LoadedModel) -> None:
    """A loose fact about learned positions."""
    cosines = position_similarity(loaded, PositionsParams()).cosines
    near = [cosines[place][place + 1] for place in range(1, 62)]
    far = [cosines[place][place + 32] for place in range(1, 31)]
    assert sum(near) / len(near) > 0.2 + sum(far) / len(far)


@torch.inference_mode()
@pytest.mark.parametrize(("step", "positions"), [(1, range(64)), (8, range(0, 512, 8)), (100, range(0, 512, 100))])
def test_every_so_many_positions_are_taken(loaded: LoadedModel, step: int, positions: range) -> None:
    result = position_similarity(loaded, PositionsParams(step))
    assert result.positions == tuple(positions)
    assert result.available == 512


@torch.inference_mode()
def test_a_text_of_the_model_s_whole_length_is_taken_and_a_longer_one_refused(loaded: LoadedModel) -> None:
    assert sum_parts(loaded, SumParams("word " * 510)).difference < 1e-5
    with pytest.raises(BadInputError, match="513 tokens long"):
        sum_parts(loaded, SumParams("word " * 511))
    with pytest.raises(BadInputError, match="tokens long"):
        sum_parts(loaded, SumParams("word " * 300, "word " * 300))


@torch.inference_mode()
def test_a_position_outside_the_text_is_refused(loaded: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="no position 5: this text has 5 tokens"):
        token_parts(loaded, TokenPartsParams("The cat.", position=5))
    assert token_parts(loaded, TokenPartsParams("The cat.", position=4)).token.text == "[SEP]"


@torch.inference_mode()
def test_a_token_of_the_largest_id_has_neighbours(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "BERT")), Settings(device="cpu"))
    result = token_parts(loaded, TokenPartsParams("我", position=1))
    assert result.token.token_id == len(loaded.tokenizer) - 1
    assert len(result.neighbours) == 8
    assert "我" not in [near.token for near in result.neighbours]


@each_row(
    ("made", "says"),
    [
        (lambda: SumParams(""), "Type a sentence"),
        (lambda: SumParams(" \n "), "Type a sentence"),
        (lambda: SumParams(None), "Type a sentence"),  # type: ignore[arg-type]
        (lambda: SumParams("a" * 10_000_000), "characters"),
        (lambda: SumParams("a", "b" * 10_000_000), "characters"),
        (lambda: SumParams("a", 7), "second sentence is a text"),  # type: ignore[arg-type]
        (lambda: TokenPartsParams("a", position=-1), "position must be"),
        (lambda: TokenPartsParams("a", position="x"), "position must be"),  # type: ignore[arg-type]
        (lambda: TokenPartsParams("a", position=None), "position must be"),  # type: ignore[arg-type]
        (lambda: PositionsParams(0), "step must be"),
        (lambda: PositionsParams("all"), "step must be"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters_say_what_to_do(made: Any, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        made()


@pytest.mark.parametrize("empty", ["", "  ", None])
def test_an_empty_second_sentence_is_none(empty: Any) -> None:
    assert SumParams("a", empty).second is None
    assert SumParams("a", empty) == SumParams("a")
