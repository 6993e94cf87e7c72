"""Called with nothing but its name every endpoint answers, or says what it has to be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from explorer.engine.local import LocalEngine
from explorer.labs import LABS
from explorer.runs.manager import RunManager
from explorer.runs.record import RunRecord
from explorer.settings import Settings
from tests.caller import Caller
from tests.rows import each_row
from tests.ui.conftest import refusal, rows

ACTIONS: dict[str, Any] = {action.name: action for lab in LABS for action in lab.actions}
TRAIN = (
    *("train", "compare_methods", "compare_amplification", "train_intruders", "sweep_ranks", "sweep"),
    *("distill", "ablate_distillation", "pretrain", "adapt_writer"),
)
"""These take minutes by default: their settings are checked as a run's would be."""

NAMED_BY_THE_VISITOR = {
    "stop_run": {"run"},
    "resume_run": {"run"},
    "delete_run": {"run"},
    "upload_task": {"file"},
    "import_adapter": {"file"},
}
"""What cannot have a default: a run or a file of the visitor's own."""

NEEDS_A_PRUNED_MODEL = "export_pruned"

LONG = (
    *("importance", "prune", "quantise", "prune_heads", "follow_student"),
    *("masking_rates", "typos_over_shares"),
)
"""Seconds to a minute by default: the first answer is waited for."""

AS_LONG = ("compare_orders", "compare_steps", "forgetting", "probe_layers")
"""A minute or more, asked of less elsewhere."""

NEEDS_A_DEBERTA = ("disentangled_terms", "relative_positions")
"""Their default is a DeBERTa; another model has no relative positions, and they say which has."""

WITHOUT_A_TABLE = ("pretrained_model", "export_run")

TIMED = ("merge_check", "latency")
"""They measure for a while; test_run_endpoints asks them of less."""


@pytest.fixture(scope="module")
def defaults(client: Client) -> dict[str, dict[str, Any]]:
    """Every endpoint's parameters with their defaults."""
    named = client.view_api(return_format="dict")["named_endpoints"]
    return {
        name.removeprefix("/"): {
            one["parameter_name"]: one["parameter_default"] for one in end["parameters"] if one["parameter_has_default"]
        }
        for name, end in named.items()
    }


@pytest.mark.parametrize(
    "name",
    [name for name in ACTIONS if name not in (*TRAIN, *LONG, *AS_LONG, *NEEDS_A_DEBERTA, *TIMED, NEEDS_A_PRUNED_MODEL)],
)
def test_an_endpoint_answers_without_parameters(client: Client, name: str) -> None:
    answer = client.predict(api_name=f"/{name}")
    assert answer if name in WITHOUT_A_TABLE else rows(answer)


@pytest.mark.parametrize("name", NEEDS_A_DEBERTA)
def test_one_for_another_model_names_it(client: Client, name: str) -> None:
    assert rows(client.predict(api_name=f"/{name}"))
    assert "such as deberta-mini" in refusal(client, f"/{name}", model="bert-small")


@pytest.mark.parametrize("name", LONG)
def test_a_long_one_begins_to_answer_without_parameters(client: Caller, name: str) -> None:
    assert any(rows(shown) for shown in client.follow(api_name=f"/{name}"))


@each_row("name", TRAIN)
def test_one_that_trains_is_queued_without_parameters(
    defaults: dict[str, dict[str, Any]], name: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def queued(manager: RunManager, record: RunRecord, *rest: object) -> None:
        raise _QueuedError

    monkeypatch.setattr(RunManager, "_enqueue", queued)
    given = {parameter: value for parameter, value in defaults[name].items() if parameter != "visitor"}
    engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=data_folder))
    with pytest.raises(_QueuedError):
        next(ACTIONS[name].follow(engine, ACTIONS[name].params(**given), "anyone"))


class _QueuedError(Exception):
    """A run's settings have passed every check."""


@pytest.mark.parametrize("name", AS_LONG)
def test_the_defaults_of_the_longest_are_accepted(defaults: dict[str, dict[str, Any]], name: str) -> None:
    given = {parameter: value for parameter, value in defaults[name].items() if parameter != "visitor"}
    assert ACTIONS[name].params(**given)


def test_nothing_else_has_to_be_given(client: Client) -> None:
    named = client.view_api(return_format="dict")["named_endpoints"]
    wanted = {
        name.removeprefix("/"): {one["parameter_name"] for one in end["parameters"] if not one["parameter_has_default"]}
        for name, end in named.items()
    }
    assert {name: parameters for name, parameters in wanted.items() if parameters} == NAMED_BY_THE_VISITOR
    assert "Nothing has been pruned yet" in refusal(client, f"/{NEEDS_A_PRUNED_MODEL}")
