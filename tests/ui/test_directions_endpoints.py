"""What clients get of the directions page."""

from __future__ import annotations

from typing import Any

import pytest
from gradio_client import Client

from tests.ui.conftest import columns, refusal, rows

TEXT = "The bird built its nest in the old tree."


def test_one_blank_by_four_readers(client: Client) -> None:
    answer = client.predict(text=TEXT, position="2", api_name="/directions")
    assert columns(answer) == ["context", "model", "rank", "probability", "entropy"]
    found = rows(answer)
    assert [(row["context"], row["model"]) for row in found] == [
        ("left", "gpt2-mini"), ("left", "bert-small"), ("right", "bert-small"), ("both", "bert-small"),
    ]  # fmt: skip
    assert found[3]["rank"] == 1
    assert rows(client.predict(api_name="/directions")) == rows(client.predict(position="6", api_name="/directions"))


def test_who_looks_at_whom_has_no_row_for_what_is_masked(client: Client) -> None:
    answer = client.predict(text=TEXT, position="2", layer=1, api_name="/attention_of_directions")
    assert columns(answer) == ["context", "model", "layer", "from", "to", "from_token", "to_token", "weight"]
    assert all(row["to"] <= row["from"] for row in rows(answer) if row["context"] == "left")
    assert all(row["to"] == 0 or row["to"] >= 2 for row in rows(answer) if row["context"] == "right")


def test_fifty_sentences_have_four_rows_each(client: Client) -> None:
    answer = client.predict(api_name="/directions_of_fifty")
    assert columns(answer)[:6] == ["sentence", "kind", "text", "word", "context", "model"]
    assert len(rows(answer)) == 200


def test_under_a_causal_mask_no_word_reaches_its_prediction(client: Client) -> None:
    found = rows(client.predict(text=TEXT, api_name="/answer_in_view"))
    assert {row["mask"] for row in found} == {"none", "causal"}
    for row in found:
        assert (row["direct"] + row["reach"] + row["moved"] == 0) == (row["mask"] == "causal")


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("/directions", {"text": ""}, "Type a sentence first"),
        ("/directions", {"text": "word " * 100}, "40 are the most"),
        ("/directions", {"text": TEXT, "position": "0"}, "holds no word"),
        ("/directions", {"text": TEXT, "position": "two"}, "position must be a whole number"),
        ("/directions", {"text": "The [MASK] sat."}, "Write the word itself"),
        ("/attention_of_directions", {"text": TEXT, "layer": 9}, "has no layer 9"),
        ("/answer_in_view", {"text": TEXT, "position": "99"}, "holds no word"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    client: Client, name: str, given: dict[str, Any], says: str
) -> None:
    assert says in refusal(client, name, **given)
