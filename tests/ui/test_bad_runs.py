"""What nobody should ask of a run: each gets a sentence that says what to do, and the server goes on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file

from tests.models import tiny
from tests.rows import each_row
from tests.ui.conftest import QUICK, newest, refusal, rows

BAD_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "learning rate 0": ({"learning_rate": 0}, "learning_rate must be a number above 0"),
    "a negative learning rate": ({"learning_rate": -1e-3}, "learning_rate must be a number above 0"),
    "a learning rate that is no number": ({"learning_rate": "NaN"}, "learning_rate must be a number above 0"),
    "a learning rate of 10⁷": ({"learning_rate": 1e7}, "learning_rate must be a number above 0 to 1e+06"),
    "rank 0": ({"rank": 0}, "rank must be a number from 1"),
    "half a rank": ({"rank": 2.5}, "rank must be a whole number"),
    "a rank in words": ({"rank": "eight"}, "rank must be a number"),
    "rank over the width": ({"rank": 33}, "the smaller side of the query matrix is 32"),
    "no epochs": ({"epochs": 0}, "epochs must be a number from 1"),
    "too many epochs": ({"epochs": 10**9}, "epochs must be a number from 1 to 200"),
    "an empty batch": ({"batch_size": 0}, "batch_size must be a number from 1"),
    "fewer examples than none": ({"examples": -1}, "examples must be a number from 0"),
    "a single example": ({"examples": 1}, "of one class"),
    "a negative seed": ({"seed": -1}, "seed must be a number from 0"),
    "alpha 0": ({"alpha": 0}, "alpha must be a number above 0"),
    "no targets": ({"targets": []}, "targets must name one or more of query, key"),
    "an unknown target": ({"targets": "query, nose"}, "got nose"),
    "an unknown variant": ({"variant": "flora"}, "variant must be one of lora, rslora, dora, pissa"),
    "a dropout of 1": ({"dropout": 1}, "dropout must be a number from 0 to 0.9"),
    "an endless prefix": ({"method": "prefix", "prefix_length": 10**6}, "prefix_length must be a number from 1 to 128"),
    "no bottleneck": ({"method": "houlsby", "bottleneck": 0}, "bottleneck must be a number from 1"),
    "an unknown method": ({"method": "magic"}, "Take one of full, head, bitfit, lora"),
    "an unknown task": ({"task": "superglue"}, "Take one of cola, sst2"),
    "a task that is a path": ({"task": "../../etc/passwd"}, "is no task"),
    "an upload that is gone": ({"task": "file-0123456789ab"}, "Upload it again"),
    "a hub that is not asked": ({"task": "sst2@hub"}, "take the bundled sst2"),
    "a list for a text": ({"task": ["sst2"]}, "task must be a text"),
    "an unknown model": ({"model": "nobody/nothing"}, "bert-small"),
}


@pytest.mark.parametrize(("settings", "hint"), BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_a_bad_setting_is_named_with_what_it_may_be(
    client: Client, tiny_model: str, settings: dict[str, Any], hint: str
) -> None:
    assert hint in refusal(client, "/train", **{"model": tiny_model, **QUICK, **settings})


@each_row("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_the_python_client_would_not_send_are_refused_too(
    client: Client, address: str, number: str
) -> None:
    parameters = client.view_api(return_format="dict")["named_endpoints"]["/train"]["parameters"]
    standard = {parameter["parameter_name"]: parameter["parameter_default"] for parameter in parameters}
    body = json.dumps({"data": list({**standard, "learning_rate": 0.125}.values())}).replace("0.125", number)
    call = f"{address}gradio_api/call/train"
    asked = httpx.post(call, content=body, headers={"content-type": "application/json"}, timeout=120)
    said = httpx.get(f"{call}/{asked.json()['event_id']}", timeout=180).text
    assert "learning_rate must be a number above 0 to 1e+06" in said


@each_row("method", ["lora", "full", "head", "prompt"])
def test_a_learning_rate_of_a_million_diverges_and_says_so(client: Client, tiny_model: str, method: str) -> None:
    said = refusal(client, "/train", model=tiny_model, **QUICK, method=method, learning_rate=1e6)
    assert "diverged" in said
    tried = float(re.findall(r"try (\S+) or less", said)[0])
    assert 0 < tried < 1e6
    run = newest(client)
    assert run["status"] == "failed"
    assert "nothing to try yet" in refusal(client, "/predict_run", run=run["run"], sentence_a="A film.")


def test_a_method_that_the_model_cannot_have_says_why_and_what_to_take(client: Client, tmp_path: Path) -> None:
    folder = tiny.save(tmp_path / "distilbert", "DistilBERT")
    said = refusal(client, "/train", model=str(folder), **QUICK, method="prefix")
    assert "cannot be had" in said
    assert "Take Prefix-embedding" in said


def test_a_method_that_cannot_be_had_is_left_out_of_a_comparison(client: Client, tmp_path: Path) -> None:
    folder = tiny.save(tmp_path / "distilbert", "DistilBERT")
    answer = client.predict(model=str(folder), methods=["prefix", "head"], **QUICK, api_name="/compare_methods")
    assert [row["method"] for row in rows(answer)] == ["head", "tfidf"]
    said = refusal(client, "/compare_methods", model=str(folder), methods=["prefix"], **QUICK)
    assert "cannot be had" in said


@each_row(
    ("parameters", "hint"),
    [
        ({"methods": ["lora", "magic"]}, "There is no method 'magic'"),
        ({"methods": ["lora"] * 13}, "At most 12 methods"),
        ({"epochs": 0}, "epochs must be a number"),
        ({"task": "nothing"}, "There is no task"),
    ],
    ids=str,
)
def test_a_comparison_that_makes_no_sense_starts_no_run(
    client: Client, tiny_model: str, parameters: dict[str, Any], hint: str
) -> None:
    before = {row["run"] for row in rows(client.predict(api_name="/runs"))}
    assert hint in refusal(client, "/compare_methods", **{"model": tiny_model, "methods": ["head"], **parameters})
    assert {row["run"] for row in rows(client.predict(api_name="/runs"))} == before


RUN_ENDPOINTS: dict[str, dict[str, Any]] = {
    "/follow_run": {},
    "/predict_run": {"sentence_a": "A film."},
    "/merge_check": {},
    "/export_run": {},
    "/stop_run": {},
    "/resume_run": {},
    "/delete_run": {},
    "/delta_spectrum": {},
    "/follow_delta": {},
    "/amplification": {},
    "/placement": {},
    "/weight_spectrum": {},
}


@pytest.mark.parametrize("name", RUN_ENDPOINTS)
@pytest.mark.parametrize("run", ["nobodys", "", "../../etc/passwd", "x" * 100_000, "r'; DROP TABLE runs; --", "😀"])
def test_an_unknown_run_is_said_to_be_unknown(client: Client, name: str, run: str) -> None:
    said = refusal(client, name, run=run, **RUN_ENDPOINTS[name])
    assert "No run is called" in said or "Choose a run first" in said
    assert len(said) < 300


def test_an_empty_sentence_and_one_of_100_000_characters_are_refused(client: Client) -> None:
    for sentence, hint in (("", "empty"), (" \n", "empty"), ("word " * 20_000, "characters"), ("so " * 900, "tokens")):
        said = refusal(client, "/predict_run", run="example-lora-8", sentence_a=sentence)
        assert hint in said
        said = refusal(client, "/swap_runs", runs=["example-lora-8"], sentence_a=sentence)
        assert hint in said


def test_no_runs_cannot_be_mixed(client: Client) -> None:
    assert "Choose one or more" in refusal(client, "/swap_runs", runs=[], sentence_a="A film.")


def lines(count: int, label: Callable[[int], str]) -> str:
    return "text,label\n" + "".join(f"Example number {place}.,{label(place)}\n" for place in range(count))


BAD_FILES: dict[str, tuple[str, str | bytes, str]] = {
    "one class only": ("own.csv", lines(30, lambda place: "good"), "a classifier needs at least two classes"),
    "nothing": ("own.csv", "", "own.csv is empty"),
    "spaces": ("own.csv", " \n\n\t\n", "own.csv is empty"),
    "a header alone": ("own.csv", "text,label\n", "own.csv"),
    "too few": ("own.csv", lines(2, str), "own.csv"),
    "50 MB": ("own.csv", b"text,label\n" + b"abcdefgh,1\n" * 4_800_000, "at most 50 MB"),
    "an example of 100,000 characters": (
        "own.csv",
        lines(20, lambda place: str(place % 2)) + "x" * 100_000 + ",1\n",
        "own.csv, line 22: a text of 100,000 characters",
    ),
    "a row that is too short": ("own.csv", "text,label\nA film.,good\nNo label here\n", "own.csv, line 3"),
    "a label that is missing": ("own.csv", "text,label\nA film.,good\nAnother.,\n", "own.csv, line 3"),
    "no label column": ("own.csv", "only\n" + "one\ntwo\n" * 10, "own.csv"),
    "an image": ("own.csv", b"\x89PNG\r\n\x1a\n\0\0\0", "own.csv"),
    "a workbook": ("own.csv", b"PK\x03\x04rest", "Excel"),
    "Latin-1": ("own.csv", "text,label\nCaf\xe9,good\n".encode("latin-1"), "own.csv, line 2"),
    "JSON that breaks off": ("own.jsonl", '{"text": "A film.", "label": 1}\n{"text": "Anot', "own.jsonl, line 2"),
}


@each_row(("name", "content", "hint"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_named_with_the_line(
    client: Client, tmp_path: Path, name: str, content: str | bytes, hint: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = refusal(client, "/upload_task", file=handle_file(str(file)))
    assert hint in said


def test_labels_that_look_like_scores_are_scores_and_infinite_ones_are_named(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(lines(20, lambda place: str(place / 7)), encoding="utf-8")
    assert "scores" in client.predict(file=handle_file(str(file)), api_name="/upload_task")
    file.write_text(lines(20, lambda place: "inf" if place == 9 else str(place / 7)), encoding="utf-8")
    assert "scores.csv, line 11" in refusal(client, "/upload_task", file=handle_file(str(file)))


def test_the_server_still_trains_after_all_this(client: Client, tiny_model: str) -> None:
    curve = rows(client.predict(model=tiny_model, **QUICK, api_name="/train"))
    assert all(math.isfinite(row["loss"]) for row in curve[1:])
