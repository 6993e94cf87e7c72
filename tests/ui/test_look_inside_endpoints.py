"""What clients get of the pages that look inside."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from gradio_client import Client

import explorer
from tests.ui.conftest import columns, refusal, rows

CAT = "The cat sat on the mat because it was tired."


def test_attention_s_rows_sum_to_one(client: Client) -> None:
    answer = client.predict(
        model="bert-small", sentence_a=CAT, sentence_b="It purred.", layer=4, head=2, api_name="/attention"
    )
    assert columns(answer) == ["from", "to", "weight"]
    sums: dict[str, float] = defaultdict(float)
    for row in rows(answer):
        sums[row["from"]] += row["weight"]
    assert len(sums) ** 2 == len(rows(answer))
    assert all(total == pytest.approx(1.0, abs=1e-5) for total in sums.values())
    strongest = max((row for row in rows(answer) if row["from"].endswith(" it")), key=lambda row: row["weight"])
    assert strongest["to"].endswith(" cat")


def test_attention_of_a_hidden_token_is_another(client: Client) -> None:
    plain = client.predict(sentence_a=CAT, api_name="/attention")
    hidden = client.predict(sentence_a=CAT, masked="2", api_name="/attention")
    assert [row["weight"] for row in rows(plain)] != [row["weight"] for row in rows(hidden)]


def test_every_head_has_every_statistic(client: Client) -> None:
    answer = client.predict(sentence_a=CAT, api_name="/head_statistics")
    assert columns(answer) == ["layer", "head", "statistic", "value"]
    assert len(rows(answer)) == 6 * 12 * 7
    assert {(row["layer"], row["head"]) for row in rows(answer)} == {
        (layer, head) for layer in range(6) for head in range(12)
    }


@pytest.mark.parametrize("heads", ["5.10, 4.4", [[5, 10], [4, 4]]])
def test_heads_are_switched_off_by_a_client(client: Client, heads: Any) -> None:
    answer = client.predict(text="The capital of France is [MASK].", heads=heads, api_name="/ablate_heads")
    assert columns(answer) == ["position", "token", "probability_before", "probability_after"]
    first = rows(answer)[0]
    assert first["token"] == "Paris"
    assert first["probability_after"] < first["probability_before"]


def test_without_heads_nothing_changes(client: Client) -> None:
    answer = client.predict(text="The capital of France is [MASK].", api_name="/ablate_heads")
    assert all(row["probability_before"] == row["probability_after"] for row in rows(answer))


def test_each_head_alone(client: Client) -> None:
    answer = client.predict(text="The capital of France is [MASK].", api_name="/ablate_each_head")
    assert len(rows(answer)) == 72
    assert {row["token"] for row in rows(answer)} == {"Paris"}


def test_a_classifier_s_heads(client: Client, trained: str) -> None:
    answer = client.predict(run=trained, sentence_a="A fine film.", heads="0.0, 1.1", api_name="/ablate_run_heads")
    assert {row["token"] for row in rows(answer)} == {"negative", "positive"}
    assert sum(row["probability_after"] for row in rows(answer)) == pytest.approx(1.0, abs=1e-5)


def test_attributions_add_up_to_the_difference(client: Client) -> None:
    asked = {"text": "The capital of France is [MASK].", "target": "Paris", "api_name": "/attribute"}
    answer = client.predict(method="integrated_gradients", **asked)
    assert columns(answer) == ["position", "token", "attribution"]
    occluded = client.predict(method="occlusion", **asked)
    assert [row["token"] for row in rows(answer)] == [row["token"] for row in rows(occluded)]
    by_hand = explorer.run("attribute", text="The capital of France is [MASK].", target="Paris").result
    total = sum(row["attribution"] for row in rows(answer))
    assert total == pytest.approx(by_hand.asked.change, abs=by_hand.asked.tolerance)


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


def test_queries_and_keys_give_the_attention(client: Client) -> None:
    answer = client.predict(sentence_a=CAT, layer=4, head=2, position=8, api_name="/query_key")
    assert columns(answer) == ["to", "token", "score", "weight"]
    weights = client.predict(sentence_a=CAT, layer=4, head=2, api_name="/attention")
    theirs = [row["weight"] for row in rows(weights) if row["from"].startswith("8 ")]
    assert [row["weight"] for row in rows(answer)] == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "parameters", "hint"),
    [
        ("/attribute", {"text": "no blank"}, "[MASK]"),
        ("/attribute", {"text": "a [MASK]", "method": "magic"}, "no method"),
        ("/attribute", {"text": "a [MASK]", "baseline": "noise"}, "baseline is one of"),
        ("/attribute_run", {"run": "", "sentence_a": "x"}, "Choose a run first"),
        ("/attention_view", {"sentence_a": CAT, "view": "neuron"}, "view must be one of"),
        ("/query_key", {"sentence_a": CAT, "position": 99}, "99"),
        ("/attention", {"sentence_a": ""}, "Type a sentence first"),
        ("/attention", {"sentence_a": CAT, "layer": 6}, "6 layers, 0 to 5"),
        ("/attention", {"sentence_a": CAT, "head": 1.5e9}, "head must be a whole number"),
        ("/attention", {"sentence_a": CAT, "masked": "0"}, "holds no token"),
        ("/head_statistics", {"sentence_a": "cat " * 5000}, "reads at most 512"),
        ("/ablate_heads", {"text": "no blank"}, "write [MASK]"),
        ("/ablate_heads", {"text": "a [MASK]", "heads": "nose"}, "heads takes pairs"),
        ("/ablate_heads", {"text": "a [MASK]", "heads": {"a": 1}}, "heads takes pairs"),
        ("/ablate_run_heads", {"run": "", "sentence_a": "x"}, "Choose a run first"),
        ("/ablate_run_heads", {"run": "nobody", "sentence_a": "x"}, "nobody"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(
    client: Client, name: str, parameters: dict[str, Any], hint: str
) -> None:
    assert hint in refusal(client, name, **parameters)


def test_scripts_give_the_numbers_of_the_endpoints(client: Client) -> None:
    ours = explorer.run("attention", sentence_a=CAT, layer=4, head=2).table
    theirs = rows(client.predict(sentence_a=CAT, layer=4, head=2, api_name="/attention"))
    assert [row[2] for row in ours.rows] == pytest.approx([row["weight"] for row in theirs], abs=1e-6)
