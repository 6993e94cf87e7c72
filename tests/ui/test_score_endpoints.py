"""What clients get of sentences' scores, and of several blanks."""

from __future__ import annotations

from typing import Any

import pytest
from gradio_client import Client

from tests.ui.conftest import columns, refusal, rows

MODEL = "bert-small"
BOTH = ["The dog barked.", "The dog sang."]


@pytest.mark.parametrize("given", [BOTH, "\n".join(BOTH)], ids=["list", "lines"])
def test_score_sentences_has_a_row_a_token(client: Client, given: Any) -> None:
    answer = client.predict(model=MODEL, sentences=given, api_name="/score_sentences")
    assert columns(answer) == ["sentence", "position", "token", "log_probability"]
    table = rows(answer)
    assert [row["token"] for row in table if row["sentence"] == 2] == ["The", "dog", "sang", "."]
    sums = [sum(row["log_probability"] for row in table if row["sentence"] == number) for number in (1, 2)]
    assert 0 > sums[0] > sums[1]


def test_a_model_that_writes_scores_from_the_left(client: Client) -> None:
    together, alone = (
        rows(client.predict(model="gpt2-mini", sentences=given, api_name="/score_sentences"))
        for given in ("The dog barked.", "The dog")
    )
    assert [row["log_probability"] for row in together[:2]] == pytest.approx(
        [row["log_probability"] for row in alone], abs=1e-4
    )


def test_score_minimal_pairs_has_a_row_a_pair(client: Client, tiny_model: str) -> None:
    answer = client.predict(model=tiny_model, api_name="/score_minimal_pairs")
    assert columns(answer)[:3] == ["kind", "better", "worse"]
    table = rows(answer)
    assert len(table) == 30
    assert {row["right"] for row in table} <= {"yes", "no"}
    for row in table:
        assert row["difference"] == pytest.approx(row["score_of_better"] - row["score_of_worse"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sentences": " "}, "Type a sentence first"),
        ({"sentences": ["It rains."] * 9}, "at most 8"),
        ({"sentences": "The [MASK] sat."}, "Sentence 1 has a blank"),
        ({"sentences": "It rains.\n" + "on and " * 50}, "Sentence 2 has 100 tokens"),
        ({"sentences": "It rains.", "masking": "all"}, "masking must be one of rest_of_word, token"),
        ({"sentences": "It rains.", "beside": "bert-mini"}, "bert-mini cannot continue a text"),
        (
            {"sentences": "It rains.", "model": "electra-mini-discriminator"},
            "cannot fill masks: its checkpoint has no such",
        ),
    ],
)
def test_what_has_no_score_is_refused_in_a_sentence(client: Client, given: dict[str, Any], says: str) -> None:
    assert says in refusal(client, "/score_sentences", **{"model": MODEL, **given})


def test_fill_several_has_a_row_a_way_step_and_blank(client: Client) -> None:
    answer = client.predict(model=MODEL, text="[MASK] lives in [MASK] York.", steps=2, api_name="/fill_several")
    assert columns(answer) == ["order", "step", "position", "token", "probability", "joint"]
    table = rows(answer)
    assert {row["position"] for row in table} == {1, 4}
    looks = {
        order: max(row["step"] for row in table if row["order"] == order)
        for order in dict.fromkeys(row["order"] for row in table)
    }
    assert looks == {"each alone": 1, "left to right": 2, "surest first": 2, "in steps": 2}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"text": "No blank."}, "This text has 0 blanks: write 2 to 12"),
        ({"text": ""}, "Type a sentence first"),
        ({"text": "[MASK] [MASK]", "steps": 0}, "steps must be a whole number from 1 to 12"),
        (
            {"text": "[MASK] [MASK]", "model": "gpt2-mini"},
            "gpt2-mini cannot fill masks: GPT-2 reads only from the left",
        ),
    ],
)
def test_fill_several_refuses_in_a_sentence(client: Client, given: dict[str, Any], says: str) -> None:
    assert says in refusal(client, "/fill_several", **{"model": MODEL, **given})


def test_swap_word_has_a_row_a_token(client: Client) -> None:
    answer = client.predict(model=MODEL, text="The man is a [MASK].", word="man", other="cat", api_name="/swap_word")
    assert columns(answer) == ["token", "before", "after", "log_ratio"]
    assert 6 <= len(rows(answer)) <= 12
    said = refusal(client, "/swap_word", model=MODEL, text="The man is a [MASK].", word="dog")
    assert "has no “dog”" in said
    assert "Write the word that takes its place" in refusal(client, "/swap_word", model=MODEL, other=" ")


def test_masking_rates_has_a_row_a_model_and_rate(client: Client, tiny_model: str) -> None:
    answer = client.predict(models=[tiny_model], text="the cat sat on a mat", api_name="/masking_rates")
    assert columns(answer)[:5] == ["model", "rate", "chosen", "accuracy", "loss"]
    table = rows(answer)
    assert [row["rate"] for row in table] == sorted({row["rate"] for row in table})
    assert all(row["chosen"] * row["tokens_per_prediction"] == pytest.approx(row["tokens"]) for row in table)
    assert "models takes one to 4" in refusal(client, "/masking_rates", models=[], text="")
