"""Runs that start where an earlier one ended, and fine-tuned runs as models of every page."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, ModelUnavailableError
from explorer.labs.finetune.schema import ExportParams
from explorer.runs.checks import model_of
from explorer.runs.open import OpenRuns
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.models import tiny
from tests.tuning.files.kept import unpacked

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples

TEXT = "the cat sat on the mat"
METHODS = ("lora", "full", "ia3", "bitfit")


def opened(engine: LocalEngine) -> OpenRuns:
    return engine._opened_runs()


def states(model: torch.nn.Module, tokenizer: object) -> torch.Tensor:
    with torch.no_grad():
        output = model(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True)  # type: ignore[operator]
    last: torch.Tensor = output.hidden_states[-1]
    return last


@pytest.mark.parametrize("method", METHODS)
def test_a_run_s_model_has_its_body_and_the_heads_from_before(engine: LocalEngine, spec: RunSpec, method: str) -> None:
    record = finished(engine, replace(spec, method=method, learning_rate=None))
    status = engine.status(model_of(record))
    assert status.on_this_machine
    base, made = engine.store.get(spec.model), engine.store.get(model_of(record))
    adapted = opened(engine)(record.run_id).restore()
    torch.testing.assert_close(
        states(made.model, made.tokenizer), states(adapted.fork, made.tokenizer), rtol=1e-5, atol=1e-5
    )
    before = states(base.model, base.tokenizer)
    assert not torch.allclose(states(made.model, made.tokenizer), before, atol=1e-6)
    assert made.capabilities == base.capabilities
    kept = dict(base.model.named_parameters())
    heads = [(name, tensor) for name, tensor in made.model.named_parameters() if not name.startswith("bert.")]
    assert heads
    assert all(torch.equal(tensor, kept[name]) for name, tensor in heads)


def test_a_run_after_another_starts_with_its_weights_and_a_new_head(engine: LocalEngine, spec: RunSpec) -> None:
    first = finished(engine, replace(spec, epochs=2))
    later = finished(engine, replace(spec, seed=5, after=first.run_id))
    assert later.status is RunStatus.DONE, later.message
    assert later.spec.model == model_of(first)
    assert ", after " in later.name
    open_run = opened(engine)
    merged = open_run(first.run_id).deltas()
    start, base = open_run(later.run_id).begin(), engine.store.get(spec.model)
    layer, role = next(iter(merged))
    name = next(name for name, _ in base.model.named_modules() if start.layers.locate(name) == (layer, role))
    expected = base.model.get_parameter(f"{name}.weight") + merged[layer, role].dense()
    torch.testing.assert_close(engine.store.get(later.spec.model).model.get_parameter(f"{name}.weight"), expected)
    head = {key: tensor for key, tensor in start.trainable().items() if "classifier" in key}
    assert head
    old = open_run(first.run_id).restore().trainable()
    assert not any(torch.equal(tensor, old[key]) for key, tensor in head.items())
    own = open_run(later.run_id).deltas()[layer, role].dense()
    assert 0 < torch.linalg.matrix_rank(own) <= spec.rank


def test_the_model_is_written_again_where_it_is_gone(engine: LocalEngine, spec: RunSpec, settings: Settings) -> None:
    record = finished(engine, spec)
    before = states(*_pair(engine, record))
    other = LocalEngine(settings)
    torch.testing.assert_close(states(*_pair(other, record)), before)
    assert not list((settings.data_folder / "runs" / record.run_id).glob("making-*"))
    engine.runs.delete(record.run_id, "ada")
    with pytest.raises(ModelUnavailableError, match="no longer on this server"):
        LocalEngine(settings).store.get(model_of(record))


def _pair(engine: LocalEngine, record: RunRecord) -> tuple[torch.nn.Module, object]:
    loaded = engine.store.get(model_of(record))
    return loaded.model, loaded.tokenizer


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        ({"method": "prefix", "prefix_length": 4}, {}, "cannot be merged"),
        ({}, {"method": "distill", "teacher": "{first}"}, "starts from its teacher"),
        ({}, {"after": "rnobodyknows"}, "No run is called"),
    ],
    ids=["prefix", "student", "unknown"],
)
def test_what_cannot_be_started_from(
    engine: LocalEngine, spec: RunSpec, first: dict[str, Any], later: dict[str, str], said: str
) -> None:
    record = finished(engine, replace(spec, learning_rate=None, **first))
    asked = {"after": record.run_id, **{name: value.format(first=record.run_id) for name, value in later.items()}}
    with pytest.raises(BadInputError, match=said):
        engine.runs.start(replace(spec, learning_rate=None, **asked), "ada")


def test_another_model_s_run_and_random_numbers(engine: LocalEngine, spec: RunSpec, tmp_path: Path) -> None:
    record = finished(engine, spec)
    other = str(tiny.save(tmp_path / "other"))
    with pytest.raises(BadInputError, match="and not of"):
        engine.runs.start(replace(spec, model=other, after=record.run_id), "ada")
    with pytest.raises(BadInputError, match="Leave after empty"):
        replace(spec, method="full", start="random", after=record.run_id)


def test_it_is_taken_home_as_a_model_that_transformers_opens(engine: LocalEngine, spec: RunSpec) -> None:
    record = finished(engine, spec)
    job = Job("explorer.labs.finetune.jobs:export_run", on="runs")
    path = engine.follow(job, ExportParams(record.run_id, "model")).last.result(WAIT)
    assert zipfile.is_zipfile(path)
    folder = unpacked(Path(path))
    model, tokenizer = AutoModelForPreTraining.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    torch.testing.assert_close(states(model.eval(), tokenizer), states(*_pair(engine, record)))
