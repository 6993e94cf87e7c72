"""The context page's endpoints as a client meets them."""

from __future__ import annotations

from typing import Any

import pytest
from gradio_client import Client

from explorer.labs.context.examples import BANK
from tests.ui.conftest import columns, refusal, rows

MODEL = "bert-small"


@pytest.mark.parametrize("given", ["\n".join(BANK), list(BANK)], ids=["lines", "list"])
def test_contextual_similarity_has_a_row_a_layer_and_pair(client: Client, given: Any) -> None:
    answer = client.predict(model=MODEL, sentences=given, word="bank", api_name="/contextual_similarity")
    assert columns(answer) == ["layer", "first", "second", "cosine", "baseline"]
    table = rows(answer)
    assert len(table) == 8 * 15
    assert {row["layer"] for row in table} == set(range(-1, 7))
    assert all(row["cosine"] == pytest.approx(1, abs=1e-9) for row in table if row["layer"] == -1)
    assert all(row["first"] < row["second"] <= 6 for row in table)
    last = {(row["first"], row["second"]): row["cosine"] for row in table if row["layer"] == 6}
    assert last[1, 3] > last[1, 4]
    assert len({row["baseline"] for row in table}) == 8


def test_logit_lens_has_a_row_a_layer_position_and_rank(client: Client) -> None:
    text = "The [MASK] sat on the [MASK]."
    answer = client.predict(model=MODEL, text=text, top_k=3, api_name="/logit_lens")
    assert columns(answer) == ["layer", "position", "rank", "token", "probability"]
    table = rows(answer)
    assert len(table) == 7 * 2 * 3
    assert {row["position"] for row in table} == {2, 6}
    filled = rows(client.predict(model=MODEL, text=text, top_k=3, api_name="/fill_masks"))
    last = [row for row in table if row["layer"] == 6]
    assert [row["token"] for row in last] == [row["token"] for row in filled]
    assert [row["probability"] for row in last] == pytest.approx([row["probability"] for row in filled], abs=1e-5)


@pytest.mark.parametrize(
    ("parameters", "hint"),
    [
        ({"sentences": "a bank", "word": "bank"}, "at least two"),
        ({"sentences": "a bank\n" * 9, "word": "bank"}, "at most 8"),
        ({"sentences": "a bank\nthe river", "word": "bank"}, "Sentence 2"),
        ({"sentences": "", "word": "bank"}, "at least two"),
        ({"sentences": "a bank\na bank", "word": ""}, "Type the word"),
        ({"sentences": "a bank\nbank " + "and " * 600, "word": "bank"}, "Sentence 2: This is 603 tokens long"),
    ],
)
def test_contextual_similarity_refuses_in_a_sentence(client: Client, parameters: dict[str, Any], hint: str) -> None:
    assert hint in refusal(client, "/contextual_similarity", model=MODEL, **parameters)


@pytest.mark.parametrize(
    ("parameters", "hint"),
    [
        ({"text": ""}, "Type a sentence"),
        ({"text": "no blank"}, "put [MASK]"),
        ({"text": "a [MASK]", "top_k": 0}, "top_k"),
        ({"text": "[MASK] " * 17}, "17 masks"),
        ({"text": "and " * 600 + "[MASK]"}, "tokens long"),
    ],
)
def test_logit_lens_refuses_in_a_sentence(client: Client, parameters: dict[str, Any], hint: str) -> None:
    assert hint in refusal(client, "/logit_lens", model=MODEL, **parameters)


def test_what_a_client_leaves_out_has_its_default(client: Client) -> None:
    assert len(rows(client.predict(text="a [MASK]", api_name="/logit_lens"))) == 7 * 5
