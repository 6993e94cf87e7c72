"""What clients get of the pages that look inside."""

from __future__ import annotations

from typing import Any

import pytest
from gradio_client import Client

from tests.ui.conftest import columns, rows

CAT = "The cat sat on the mat because it was tired."


@pytest.mark.parametrize("heads", ["5.10, 4.4", [[5, 10], [4, 4]]])
def test_heads_are_switched_off_by_a_client(client: Client, heads: Any) -> None:
    answer = client.predict(text="The capital of France is [MASK].", heads=heads, api_name="/ablate_heads")
    assert columns(answer) == ["position", "token", "probability_before", "probability_after"]
    first = rows(answer)[0]
    assert first["token"] == "Paris"
    assert first["probability_after"] < first["probability_before"]


def test_a_classifier_s_heads(client: Client, trained: str) -> None:
    answer = client.predict(run=trained, sentence_a="A fine film.", heads="0.0, 1.1", api_name="/ablate_run_heads")
    assert {row["token"] for row in rows(answer)} == {"negative", "positive"}
    assert sum(row["probability_after"] for row in rows(answer)) == pytest.approx(1.0, abs=1e-5)


def test_a_run_s_class_is_attributed(client: Client, trained: str) -> None:
    answer = client.predict(run=trained, sentence_a="A fine film.", method="saliency", api_name="/attribute_run")
    assert columns(answer) == ["position", "token", "attribution"]
    assert all(row["attribution"] >= 0 for row in rows(answer))


@pytest.mark.parametrize("view", ["head", "model"])
def test_a_view_of_bertviz_comes_as_one_document(client: Client, view: str) -> None:
    answer = client.predict(sentence_a=CAT, view=view, layer=3, api_name="/attention_view")
    assert {row["layer"] for row in rows(answer)} == ({3} if view == "head" else set(range(6)))
    page = next(part["document"] for part in answer if isinstance(part, dict) and "document" in part)
    assert page.startswith("<!doctype html>")
    assert "https://cdnjs" not in page.split("<body")[1].split("require.config")[0]
