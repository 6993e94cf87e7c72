"""The terms of a head's scores as a page shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError
from explorer.labs.attention import terms as figures
from explorer.labs.attention.terms import TermsParams, TermsResult, require_terms
from explorer.labs.attention.terms_jobs import disentangled_terms
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.labs.attention.test_neuron_compute import RELATIVE
from tests.models.tiny import save

TEXT = "the cat sat on a mat"


@pytest.fixture(scope="module", params=["DeBERTa", "DeBERTa-v2/v3"])
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TermsResult:
    folder = save(tmp_path_factory.mktemp("terms") / "model", request.param, initializer_range=0.3, **RELATIVE)
    loaded = load_model(str(folder), Settings(device="cpu"))
    with torch.inference_mode():
        return disentangled_terms(loaded, TermsParams(TEXT, layer=1, head=1))


def test_the_table_adds_up(result: TermsResult) -> None:
    table = figures.terms_table(result)
    assert table.columns == ("from", "to", "content_content", "content_position", "position_content", "score", "weight")
    assert len(table.rows) == len(result.tokens) ** 2
    for row in table.rows:
        assert sum(map(float, row[2:5])) == pytest.approx(float(row[5]), abs=1e-5)  # type: ignore[arg-type]
    for start in range(0, len(table.rows), len(result.tokens)):
        rows = table.rows[start : start + len(result.tokens)]
        scores = torch.tensor([float(row[5]) for row in rows])  # type: ignore[arg-type]
        assert scores.softmax(0).tolist() == pytest.approx([row[6] for row in rows], abs=1e-5)


def test_shares_add_up_and_are_said(result: TermsResult) -> None:
    assert sum(term.share for term in result.terms) == pytest.approx(1.0)
    said = figures.terms_sentence(result).striptags()
    assert said.startswith("Layer 1, head 1: of what tells tokens apart in a row, ")
    assert said.count("makes") == 1
    notes = figures.terms_notes(result)
    assert all(title in notes for title in figures.TITLES.values())
    assert "own attention by at most" in notes
    assert result.difference < 1e-5


@pytest.mark.parametrize("view", figures.VIEWS)
def test_five_panels_are_drawn_and_the_first_four_on_one_scale(result: TermsResult, view: str) -> None:
    drawn = [trace for trace in figures.terms_figure(result, view)["data"] if trace["type"] == "heatmap"]
    assert len(drawn) == 5
    bounds = [trace["zmax"] for trace in drawn if trace["zmin"] != 0]
    assert len(bounds) == 4
    assert len(set(bounds)) == 1
    by_bound = max(abs(value) for trace in drawn if trace["zmin"] != 0 for row in trace["z"] for value in row)
    assert by_bound == pytest.approx(bounds[0], abs=1e-3)
    scores = [trace for trace in drawn if trace["zmin"] != 0]
    for row in scores[0]["z"]:
        assert (abs(sum(row)) < 0.01) == (view == "less")


def test_a_model_of_one_term_says_which_to_take(albert: LoadedModel) -> None:
    with torch.inference_mode():
        result = disentangled_terms(albert, TermsParams(TEXT))
    assert figures.terms_figure(result) == {}
    assert figures.terms_table(result).rows == ()
    assert 'data-model="deberta-mini"' in figures.terms_sentence(result)
    assert figures.terms_notes(result) == ""
    with pytest.raises(BadInputError, match="such as deberta-mini"):
        require_terms(result)


def test_a_head_that_is_not_there_is_named(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "DeBERTa", **RELATIVE)), Settings(device="cpu"))
    with pytest.raises(BadInputError, match="there is no head 9"):
        disentangled_terms(loaded, TermsParams(TEXT, head=9))
