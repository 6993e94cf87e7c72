"""The pruning page's endpoints, as scripts and notebooks call them."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from gradio_client import Client

from explorer.labs import LABS
from tests.rows import each_row
from tests.ui.conftest import columns, refusal, rows

pytestmark = pytest.mark.skipif("pruning" not in {lab.slug for lab in LABS}, reason="the lab is not registered")

FEW: dict[str, Any] = {"examples": 16, "held_out": 20}


def test_importance_of_a_run_and_of_a_model(client: Client, trained: str, tiny_model: str) -> None:
    for where in ({"run": trained}, {"model": tiny_model}):
        answer = client.predict(**where, unit="head", **FEW, api_name="/importance")
        assert columns(answer) == ["layer", "unit", "importance", "standard_error"]
        found = rows(answer)
        assert [(row["layer"], row["unit"]) for row in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert all(row["importance"] > 0 for row in found)
    neurons = rows(client.predict(run=trained, unit="neuron", **FEW, api_name="/importance"))
    assert len(neurons) == 2 * 64, "a client gets all of them"


def test_prune_streams_its_steps(client: Client, trained: str) -> None:
    job = client.submit(run=trained, share=0.5, steps=2, **FEW, api_name="/prune")
    answers = list(job)
    seen = [len(rows(answer)) for answer in answers]  # whoever looks now and then misses what has been followed by more
    assert seen == sorted(seen)
    assert columns(answers[-1]) == ["share", "metric", "parameters", "milliseconds"]
    found = rows(answers[-1])
    assert [row["share"] for row in found] == [0.0, 0.25, 0.5]
    assert [row["parameters"] for row in found] == sorted((row["parameters"] for row in found), reverse=True)
    key = answers[-1][3]
    file = client.predict(run=trained, key=key, **FEW, api_name="/export_pruned")[0]
    with zipfile.ZipFile(file["value"] if isinstance(file, dict) else file) as archive:
        assert {"model.safetensors", "config.json", "pruned.json", "load_pruned.py"} <= set(archive.namelist())


def test_orders_steps_hand_and_forms(client: Client, trained: str) -> None:
    orders = rows(client.predict(run=trained, unit="head", draws=1, **FEW, api_name="/compare_orders"))
    assert {row["order"] for row in orders} == {"least", "most", "random"}
    steps = rows(client.predict(run=trained, share=0.5, steps=2, train_between=1, **FEW, api_name="/compare_steps"))
    assert len({row["way"] for row in steps}) == 3
    hand = rows(client.predict(run=trained, heads="0.1", **FEW, api_name="/prune_heads"))
    assert [row["share"] for row in hand] == [0.0, 0.25]
    forms = rows(client.predict(run=trained, batch=2, **FEW, api_name="/quantise"))
    assert [row["form"] for row in forms] == ["fp32", "bf16", "int8"]


@each_row(
    ("name", "given", "hint"),
    [
        ("/importance", {"unit": "toe"}, "unit must be one of"),
        ("/importance", {"score": "magnitude"}, "takes gradient"),
        ("/importance", {"examples": 0}, "examples must be"),
        ("/importance", {"run": "nobody"}, "No run is called"),
        ("/importance", {"task": "nothing"}, "task"),
        ("/prune", {"share": 0}, "nothing would be taken away"),
        ("/prune", {"share": 1}, "nothing would be left"),
        ("/prune", {"share": 1.5}, "above 0 and below 1"),
        ("/prune", {"unit": "head", "heads": 99}, "cannot keep 99"),
        ("/prune_heads", {"heads": "0.0,0.1,1.0,1.1"}, "Every head"),
        ("/prune_heads", {"heads": "<b>"}, "pairs of layer and head"),
        ("/compare_steps", {"steps": 1}, "steps must be"),
        ("/quantise", {"batch": 0}, "batch must be"),
        ("/export_pruned", {"key": ""}, "Prune first"),
    ],
)
def test_refusals(client: Client, trained: str, name: str, given: dict[str, Any], hint: str) -> None:
    assert hint in refusal(client, name, **{"run": trained, "examples": 16, **given})


def test_the_scripts_call_what_was_asked(client: Client, trained: str) -> None:
    answer = client.predict(run=trained, unit="layer", **FEW, api_name="/importance")
    script = answer[-2]
    assert "explorer.run(" in script
    assert "'importance'" in script
    assert "unit='layer'" in script
