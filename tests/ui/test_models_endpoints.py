"""What clients get of the family's page, and of sentence order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from explorer.models.catalog import bundled
from tests.models.tiny import save
from tests.ui.conftest import columns, refusal, rows


def test_family_has_a_row_a_model_and_needs_none(client: Client) -> None:
    answer = client.predict(which=["bundled"], api_name="/family")
    assert columns(answer)[:3] == ["model", "family", "bundled"]
    assert [row["model"] for row in rows(answer)] == list(bundled())
    groups = ("word_embeddings", "other_inputs", "in_layers", "pooler_and_heads")
    for row in rows(answer):
        assert sum(row[group] for group in groups) == row["parameters"]
    assert len(rows(client.predict(api_name="/family"))) > len(bundled())


def test_held_out_figures_come_with_the_command_that_measures_them(client: Client) -> None:
    answer = client.predict(models=["bert-mini"], api_name="/held_out_scores")
    assert set(columns(answer)) == {
        "model", "measure", "value", "standard_error", "unit", "over", "text", "date", "command",
    }  # fmt: skip
    assert {row["model"] for row in rows(answer)} == {"bert-mini"}
    assert rows(answer)[0]["measure"] == "MLM top-1"


def test_training_curves_have_a_row_a_point(client: Client) -> None:
    answer = client.predict(models="bert-mini", api_name="/training_curves")
    assert columns(answer) == ["model", "quantity", "step", "tokens", "seconds", "value"]
    assert rows(answer)[-1]["step"] == 8000


def test_counted_parts_add_up(client: Client) -> None:
    answer = client.predict(base="bert-mini", layers=3, api_name="/count_parameters")
    assert columns(answer) == ["part", "formula", "count"]
    assert sum(row["count"] for row in rows(answer)[:-1]) == rows(answer)[-1]["count"]


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("/family", {"which": ["nothing"]}, "bundled and published"),
        ("/held_out_scores", {"models": ["<b>x</b>"]}, "bundled models only"),
        ("/training_curves", {"models": ["google-bert/bert-base-uncased"]}, "bundled models only"),
        ("/count_parameters", {"base": "nobody/nothing"}, "sizes are known here"),
        ("/count_parameters", {"layers": 1000}, "from 0 to 200"),
        ("/count_parameters", {"base": "bert-mini", "shared": "yes"}, "Choose an ALBERT"),
        ("/score_order", {"model": "bert-small", "first": "One.", "second": "Two."}, "cannot tell sentence order"),
        ("/score_order", {"first": "", "second": "Two."}, "first sentence is empty"),
        ("/score_kinds", {"text": "Only one.", "other_text": "Two."}, "at least two"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    client: Client, name: str, given: dict[str, Any], says: str
) -> None:
    assert says in refusal(client, name, **given)


@pytest.fixture(scope="module")
def albert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save(Path(tmp_path_factory.mktemp("order")) / "albert", "ALBERT"))


def test_order_is_scored_by_a_model_that_can(client: Client, albert: str) -> None:
    answer = client.predict(model=albert, first="the cat sat", second="on a mat", api_name="/score_order")
    assert columns(answer) == ["class", "logit", "probability", "loss"]
    assert [row["class"] for row in rows(answer)] == ["in_order", "swapped"]
    assert sum(row["probability"] for row in rows(answer)) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("head", ["NSP", "SOP"])
def test_the_same_pairs_by_either_head(client: Client, albert: str, head: str) -> None:
    model = {"NSP": "bert-small", "SOP": albert}[head]
    answer = client.predict(model=model, text="The cat sat. A mat.", other_text="The cat.", api_name="/score_kinds")
    assert columns(answer) == ["model", "head", "kind", "first", "second", "probability"]
    assert [row["kind"] for row in rows(answer)] == ["true", "swapped", "random"]
    assert {row["head"] for row in rows(answer)} == {head}
