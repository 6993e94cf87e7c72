"""The replaced-tokens lab's endpoints as a client meets them: tables, defaults, and sentences for bad input."""

from __future__ import annotations

from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.ui.conftest import rows

MODEL = "electra-mini-discriminator"
TEXT = "The band released its first album in 1994, and two million copies were sold in a year."
COLUMNS = ["position", "original", "shown", "is_replaced", "probability"]


def test_parameters_stand_in_the_documented_order(client: Client) -> None:
    named = client.view_api(return_format="dict")["named_endpoints"]["/replaced_tokens"]
    names = [parameter["parameter_name"] for parameter in named["parameters"]]
    assert names[:4] == ["model", "text", "temperature", "seed"]


def test_each_token_is_judged_and_what_was_drawn_alike_is_no_replacement(client: Client) -> None:
    answer = client.predict(MODEL, TEXT, 1.0, 3, api_name="/replaced_tokens")
    table = rows(answer)
    assert list(table[0]) == COLUMNS
    assert [row["position"] for row in table] == list(range(1, len(table) + 1))
    assert all(row["is_replaced"] == (row["original"] != row["shown"]) for row in table)
    assert all(0 < row["probability"] < 1 for row in table)
    assert table == rows(client.predict(text=TEXT, seed=3, api_name="/replaced_tokens")), (
        "the defaults, and the same seed"
    )


def test_words_replaced_by_hand_are_judged(client: Client) -> None:
    answer = client.predict(model=MODEL, text="We left early.", shown="We left because.", api_name="/replaced_by_hand")
    assert [row["is_replaced"] for row in rows(answer)] == [False, False, True, False]


def test_many_draws_end_in_their_curve(client: Client) -> None:
    table = rows(client.predict(model=MODEL, text=TEXT, draws=3, api_name="/replaced_draws"))
    assert list(table[0]) == ["threshold", "hits", "false_alarms"]
    assert table[-1]["hits"] == table[-1]["false_alarms"] == 1
    thresholds = [row["threshold"] for row in table]
    assert thresholds == sorted(thresholds, reverse=True)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("replaced_tokens", {"text": ""}, "Type a sentence first"),
        ("replaced_tokens", {"text": "word " * 600}, "tokens long"),
        ("replaced_tokens", {"text": TEXT, "model": "bert-mini"}, "cannot detect replaced tokens"),
        ("replaced_tokens", {"text": TEXT, "temperature": 99}, "temperature must be a number from 0 to 10"),
        ("replaced_tokens", {"text": TEXT, "rate": 2}, "between 0 and 1"),
        ("replaced_tokens", {"text": TEXT, "model": "google/electra-base-discriminator"}, "not on this machine"),
        ("replaced_by_hand", {"text": TEXT, "shown": ""}, "nothing to show"),
        ("replaced_by_hand", {"text": "", "shown": TEXT}, "The text is empty"),
        ("replaced_by_hand", {"text": TEXT, "shown": TEXT, "model": "bert-small"}, "cannot detect replaced tokens"),
        ("replaced_draws", {"text": TEXT, "draws": 51}, "draws must be a whole number from 1 to 50"),
        ("replaced_draws", {"text": TEXT, "model": "gpt2-mini"}, "cannot detect replaced tokens"),
    ],
)
def test_bad_input_gets_a_sentence(client: Client, name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(AppError, match=said):
        client.predict(**given, api_name=f"/{name}")
