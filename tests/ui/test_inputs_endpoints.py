"""What clients get of the inputs page."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

import explorer
from tests.models.tiny import save
from tests.rows import each_row
from tests.ui.conftest import columns, refusal, rows


def test_tokenize_compares_the_three_methods(client: Client) -> None:
    answer = client.predict(text="unbelievable 😀", api_name="/tokenize")
    assert columns(answer) == ["model", "position", "token", "id", "is_unknown"]
    pieces: dict[str, list[str]] = defaultdict(list)
    for row in rows(answer):
        assert row["position"] == len(pieces[row["model"]])
        pieces[row["model"]].append(row["token"])
    assert list(pieces) == ["bert-small", "byte-level-bpe", "unigram"]
    assert pieces["bert-small"] == ["[CLS]", "un", "##believable", "[UNK]", "[SEP]"]
    assert {row["model"]: row["token"] for row in rows(answer) if row["is_unknown"]} == {
        "bert-small": "[UNK]",
        "unigram": "<unk>",
    }


@pytest.mark.parametrize("models", [["unigram", "bert-small"], "unigram, bert-small"])
def test_tokenizers_are_named_as_a_list_or_with_commas(client: Client, models: Any) -> None:
    answer = client.predict(text="a word", models=models, api_name="/tokenize")
    assert list(dict.fromkeys(row["model"] for row in rows(answer))) == ["unigram", "bert-small"]


def test_a_folder_s_tokenizer_is_compared_too(client: Client, tiny_model: str) -> None:
    answer = client.predict(text="a word", models=[tiny_model], api_name="/tokenize")
    assert {row["model"] for row in rows(answer)} == {tiny_model}


def test_a_tokenizer_that_cannot_be_had_leaves_the_others(client: Client) -> None:
    answer = client.predict(text="a word", models=["FacebookAI/roberta-base", "unigram"], api_name="/tokenize")
    assert {row["model"] for row in rows(answer)} == {"unigram"}
    said = refusal(client, "/tokenize", text="a word", models=["FacebookAI/roberta-base"])
    assert "HF_HUB_OFFLINE" in said
    assert "bert-small" in said


@each_row(
    ("given", "says"),
    [
        ({"text": ""}, "Type a sentence"),
        ({"text": "a" * 7_000_000}, "7,000,000 characters"),
        ({"text": "a" * 6000}, "at most 5,000"),
        ({"text": "a", "models": []}, "at least one tokenizer"),
        ({"text": "a", "models": ["a", "b", "c", "d", "e"]}, "4 fit"),
        ({"text": "a", "models": ["/no/such/folder"]}, "no tokenizer in the folder"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_sentence(client: Client, given: dict[str, Any], says: str) -> None:
    assert says in refusal(client, "/tokenize", **given)


def test_a_word_is_cut_step_by_step(client: Client) -> None:
    answer = client.predict(word="tokenization", api_name="/cut_word")
    assert columns(answer)[:5] == ["model", "part", "stage", "number", "pieces"]
    ends = {row["model"]: row["pieces"] for row in rows(answer) if row["stage"] == "cut"}
    assert ends == {"bert-small": "token ##ization", "byte-level-bpe": "Ġto ken ization", "unigram": "▁to ken ization"}
    before = client.predict(word="tokenization", models=["byte-level-bpe"], after_space=False, api_name="/cut_word")
    assert rows(before)[-1]["pieces"] == "t oken ization"
    assert "61 characters" in refusal(client, "/cut_word", word="x" * 61)


@pytest.mark.parametrize("second", ["", "It purred."])
def test_the_parts_of_every_token_have_their_norms(client: Client, second: str) -> None:
    answer = client.predict(
        model="bert-small", sentence_a="The cat sat.", sentence_b=second, api_name="/embedding_parts"
    )
    assert columns(answer) == ["position", "token", "part", "norm"]
    parts: dict[int, list[str]] = defaultdict(list)
    for row in rows(answer):
        parts[row["position"]].append(row["part"])
        assert row["norm"] > 0
    assert all(kinds == ["token", "segment", "position", "sum", "layer_norm"] for kinds in parts.values())
    assert len(parts) == (11 if second else 6)


@pytest.mark.parametrize(
    ("family", "kinds"),
    [
        ("DistilBERT", ["token", "position", "sum", "layer_norm"]),
        ("ALBERT", ["token", "segment", "position", "sum", "layer_norm", "projection"]),
    ],
)
def test_a_model_of_another_family_has_its_own_parts(
    client: Client, tmp_path: Path, family: str, kinds: list[str]
) -> None:
    answer = client.predict(model=str(save(tmp_path, family)), sentence_a="the cat", api_name="/embedding_parts")
    assert [row["part"] for row in rows(answer) if row["position"] == 1] == kinds


def test_the_sum_refuses_what_the_model_cannot_read(client: Client) -> None:
    assert "602 tokens long" in refusal(client, "/embedding_parts", sentence_a="word " * 600)
    assert "Type a sentence" in refusal(client, "/embedding_parts", sentence_a="", sentence_b="b")
    assert "no position 99" in refusal(client, "/token_parts", sentence_a="The cat.", position=99)


def test_one_token_s_shares_add_up_to_one(client: Client) -> None:
    answer = client.predict(sentence_a="The cat sat.", position=2, api_name="/token_parts")
    shares = [row["share"] for row in rows(answer) if row["share"] not in (None, "")]
    assert len(shares) == 3
    assert sum(shares) == pytest.approx(1.0)


def test_positions_are_compared_or_said_to_be_missing(client: Client, tmp_path: Path) -> None:
    table = rows(client.predict(step=16, api_name="/position_similarity"))
    assert len(table) == 32**2
    assert all(row["cosine"] == pytest.approx(1.0) for row in table if row["first"] == row["second"])
    modern = str(save(tmp_path, "ModernBERT"))
    assert "adds no position embeddings" in refusal(client, "/position_similarity", model=modern)


def test_scripts_get_the_same_numbers(client: Client) -> None:
    for name, given in (
        ("tokenize", {"text": "an emoji 😀", "models": ("unigram", "bert-small")}),
        ("cut_word", {"word": "Österreich", "after_space": False}),
        ("embedding_parts", {"sentence_a": "The cat sat.", "sentence_b": "It purred."}),
    ):
        sent = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
        answer = client.predict(**sent, api_name=f"/{name}")
        assert [list(row.values()) for row in rows(answer)] == [
            list(row) for row in explorer.run(name, **given).table.rows
        ]
