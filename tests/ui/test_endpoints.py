"""The endpoints as a client meets them: names, parameters, tables, and sentences for bad input."""

from __future__ import annotations

import math
import urllib.request
from dataclasses import fields

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer.labs import LABS, LiveAction
from tests.rows import each_row
from tests.ui.conftest import rows

MODEL = "bert-small"
ACTIONS = {action.name: action for lab in LABS for action in lab.actions}
FILES_AND_BUTTONS = {
    "upload_task": ["file"],
    "import_adapter": ["file", "visitor"],
    "stop_run": ["visitor", "run"],
    "resume_run": ["visitor", "run"],
    "delete_run": ["visitor", "run"],
}
"""What a visitor does without a result to compute: these endpoints, with their parameters, are no actions."""


def test_every_action_is_an_endpoint_under_its_own_name_and_little_else_is(client: Client) -> None:
    named = client.view_api(return_format="dict")["named_endpoints"]
    assert set(named) == {f"/{name}" for name in (*ACTIONS, *FILES_AND_BUTTONS)}


def parameters_of(client: Client, name: str) -> list[str]:
    named = client.view_api(return_format="dict")["named_endpoints"]
    return [parameter["parameter_name"] for parameter in named[f"/{name}"]["parameters"]]


@each_row("name", ACTIONS)
def test_endpoints_have_the_parameters_names_of_their_action(client: Client, name: str) -> None:
    action, names = ACTIONS[name], parameters_of(client, name)
    if isinstance(action, LiveAction):
        assert ("model" in names) == action.takes_model
        assert names.pop() == "visitor"
    else:
        asks_either = any(field.name == "model" for field in fields(action.params))  # a model, or a run in its place
        assert ("model" in names) == (action.job.on == "model" or asks_either)
    assert "model" not in names or names.index("model") == 0
    assert set(names) - {"model"} <= {field.name for field in fields(action.params)}


@each_row("name", FILES_AND_BUTTONS)
def test_endpoints_that_are_no_actions_have_their_parameters(client: Client, name: str) -> None:
    assert parameters_of(client, name) == FILES_AND_BUTTONS[name]


PROMISED = {
    "train": "model task method rank alpha targets learning_rate epochs batch_size examples seed",
    "predict_run": "run sentence_a sentence_b",
    "answer_question": "run question text",
    "compare_methods": "model task methods",
    "merge_check": "run",
    "delta_spectrum": "run",
    "subspace_similarity": "run_a run_b layer module",
    "amplification": "run layer module r",
}
"""What courses were told that they may write without names: these parameters, in this order."""


@each_row("name", PROMISED)
def test_parameters_stand_in_the_order_in_which_they_are_documented(client: Client, name: str) -> None:
    promised = PROMISED[name].split()
    assert parameters_of(client, name)[: len(promised)] == promised


def test_fill_masks_returns_the_table_last(client: Client) -> None:
    answer = client.predict(model=MODEL, text="Rome is the capital of [MASK].", top_k=3, api_name="/fill_masks")
    table = rows(answer)
    assert list(table[0]) == ["position", "rank", "token", "probability"]
    assert [row["rank"] for row in table] == [1, 2, 3]
    assert {row["position"] for row in table} == {6}
    assert table[0]["probability"] >= table[1]["probability"] >= table[2]["probability"] > 0


def test_corrupt_returns_a_fate_for_every_position(client: Client) -> None:
    answer = client.predict(
        model=MODEL,
        text="The old lighthouse was built in 1871.",
        rate=0.5,
        mask_share=1.0,
        random_share=0.0,
        scheme="whole_word",
        seed=7,
        api_name="/corrupt",
    )
    table = rows(answer)
    assert list(table[0]) == ["position", "original", "shown", "fate", "loss"]
    assert {row["fate"] for row in table} == {"mask", "untouched"}
    assert all((row["loss"] not in (None, "")) == (row["fate"] == "mask") for row in table)


def test_score_pair_returns_both_classes(client: Client) -> None:
    answer = client.predict(
        model=MODEL, sentence_a="She opened the door.", sentence_b="The room was dark.", api_name="/score_pair"
    )
    table = rows(answer)
    assert [row["class"] for row in table] == ["is_next", "not_next"]
    assert sum(row["probability"] for row in table) == pytest.approx(1, abs=1e-6)
    assert [row["loss"] for row in table] == pytest.approx([-math.log(row["probability"]) for row in table], abs=1e-5)


def test_score_all_pairs_returns_every_ordered_pair(client: Client) -> None:
    answer = client.predict(
        model=MODEL, text="It rained. The road was wet. Cars drove slowly.", api_name="/score_all_pairs"
    )
    pairs = {(row["first"], row["second"]) for row in rows(answer)}
    assert pairs == {(i, j) for i in (1, 2, 3) for j in (1, 2, 3) if i != j}


def test_counting_and_epochs_answer_with_their_tables(client: Client) -> None:
    text = "The old lighthouse was built in 1871 by the harbour."
    counted = rows(client.predict(model=MODEL, text=text, draws=200, api_name="/count_fates"))
    assert counted[-1]["draws"] == 200
    epochs = rows(client.predict(model=MODEL, text=text, epochs=4, duplicates=2, api_name="/draw_epochs"))
    assert {row["epoch"] for row in epochs} == {1, 2, 3, 4}


BAD_TEXTS = {
    "nothing": ("", "Type a sentence first"),
    "spaces": ("  \n\t ", "Type a sentence first"),
    "no mask": ("There is no blank here.", "put [MASK]"),
    "20,000 words": ("word " * 20_000, "characters"),
    "seven megabytes": ("a" * 7_000_000, "characters"),
    "too many tokens": ("one two three four " * 200 + "[MASK]", "tokens long"),
}


@each_row(("text", "hint"), BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_bad_text_gets_a_sentence_that_says_what_to_do(client: Client, text: str, hint: str) -> None:
    with pytest.raises(AppError, match=r".*") as raised:
        client.predict(model=MODEL, text=text, top_k=5, api_name="/fill_masks")
    assert hint in str(raised.value)


ODD_TEXTS = {
    "one long word": "x" * 5000 + " [MASK]",
    "emoji": "I 😀 you 👩‍👩‍👧 [MASK] 🏳️‍🌈",
    "Chinese": "巴黎是法国的[MASK]。",
    "right to left": "باريس هي عاصمة [MASK]",
    "null bytes": "Paris is\x00 in [MASK]\x00.",
    "script": "<script>alert(1)</script> [MASK]",
    "textarea": "</textarea><b>[MASK]</b>",
    "special tokens": "[CLS] [SEP] [PAD] [MASK] [UNK] [SEP]",
}


@each_row("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_an_odd_text_is_answered(client: Client, text: str) -> None:
    table = rows(client.predict(model=MODEL, text=text, top_k=2, api_name="/fill_masks"))
    assert len(table) == 2
    assert all(0 <= row["probability"] <= 1 for row in table)


@pytest.mark.parametrize("top_k", [0, -1, 10**9])
def test_an_impossible_top_k_names_the_range(client: Client, top_k: int) -> None:
    with pytest.raises(AppError) as raised:
        client.predict(model=MODEL, text="Rome is in [MASK].", top_k=top_k, api_name="/fill_masks")
    assert "1" in str(raised.value)
    assert "inequality" not in str(raised.value)


def test_shares_that_pass_one_are_refused(client: Client) -> None:
    with pytest.raises(AppError) as raised:
        client.predict(model=MODEL, text="It rained.", mask_share=0.8, random_share=0.4, api_name="/corrupt")
    assert "100%" in str(raised.value)


def test_an_unknown_model_names_the_bundled_one(client: Client) -> None:
    with pytest.raises(AppError) as raised:
        client.predict(model="nobody/nothing", text="Rome is in [MASK].", top_k=5, api_name="/fill_masks")
    assert MODEL in str(raised.value)


def test_a_good_request_after_the_bad_ones_is_answered(client: Client) -> None:
    answer = client.predict(model=MODEL, text="Rome is in [MASK].", top_k=1, api_name="/fill_masks")
    assert len(rows(answer)) == 1


@each_row("path", ["", *[lab.slug for lab in LABS]])
def test_every_page_has_its_own_url(address: str, path: str) -> None:
    with urllib.request.urlopen(f"{address}{path}", timeout=120) as answer:
        assert answer.status == 200
