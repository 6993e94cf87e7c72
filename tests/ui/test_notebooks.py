"""The notebooks run from top to bottom, and are kept without what they have printed."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from explorer.settings import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def cells(name: str, kind: str) -> list[dict[str, Any]]:
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


@pytest.fixture
def ran(address: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the names of a notebook's code stand for at its end; it runs where Jupyter would run it."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("EXPLORER_ADDRESS", address)
    monkeypatch.setattr(sys, "path", [*sys.path])  # which a notebook adds to
    namespace: dict[str, Any] = {}
    for cell in cells(request.param, "code"):
        exec("".join(cell["source"]), namespace)
    return namespace


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    assert cells(name, "markdown")[0]["source"][0].startswith("# ")
    for cell in cells(name, "code"):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_there_are_no_others() -> None:
    assert NOTEBOOKS == ["lora_and_delta", "masking_and_pairs", "server_by_client"]


@pytest.mark.parametrize("ran", ["masking_and_pairs"], indirect=True)
def test_masking_and_pairs(ran: dict[str, Any]) -> None:
    assert ran["guesses"].token.iloc[0] == "are"
    assert all(odds > 1 for odds in ran["agreement"].values())
    pairs = ran["pairs"].set_index(["first", "second"]).probability
    assert pairs[1, 2] > pairs[1, 3]


@pytest.mark.parametrize("ran", ["lora_and_delta"], indirect=True)
def test_lora_and_delta(ran: dict[str, Any]) -> None:
    assert 0 <= ran["accuracy"] <= 1
    assert ran["spectrum"]["index"].max() == 8
    assert list(ran["mean"].columns) == ["query", "value"]


@pytest.mark.parametrize("ran", ["server_by_client"], indirect=True)
def test_server_by_client(ran: dict[str, Any]) -> None:
    assert [row["rank"] for row in ran["guesses"]] == [1, 2, 3]
    assert [row["step"] for row in ran["newest"]] == [2]
    assert "top_k must be a whole number from 1 to 50." in ran["refused"]
