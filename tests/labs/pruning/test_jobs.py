"""The page's streams, from a run that was just trained and from a pretrained model."""

from __future__ import annotations

import importlib.util
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from explorer.action import LiveAction
from explorer.compress.cuts import kept_of_share
from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError, ExplorerError, MissingCapabilityError
from explorer.labs.pruning import LAB, params
from explorer.labs.pruning.params import (
    ExportParams,
    HandParams,
    ImportanceParams,
    OrdersParams,
    PruneParams,
    QuantiseParams,
    StepsParams,
)
from explorer.labs.pruning.work import find
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
from tests.models.tiny import save_reader
from tests.rows import each_row

FEW: dict[str, Any] = {"examples": 20, "held_out": 20}


@pytest.fixture(scope="module")
def engine(data_folder: Path) -> LocalEngine:
    return LocalEngine(Settings(device="cpu", offline=True, data_folder=data_folder / "pruning"))


def trained(engine: LocalEngine, model: str, **spec: Any) -> str:
    run = engine.runs.start(RunSpec(model, "sst2", **{"examples": 32, "epochs": 1, **spec}), "me")
    while engine.runs.get(run).status.is_active:
        time.sleep(0.05)
    return run


@pytest.fixture(scope="module")
def run(engine: LocalEngine, tiny_model: str) -> str:
    return trained(engine, tiny_model)


ACTIONS = {action.name: action for action in LAB.actions if isinstance(action, LiveAction)}


def results(engine: LocalEngine, name: str, params: Any) -> list[Any]:
    """What a page that looks all the time gets to see."""
    found = []
    for result in ACTIONS[name].follow(engine, params, "me"):
        if result is None:
            time.sleep(0.01)
        else:
            found.append(result)
    return found


def importance(engine: LocalEngine, **given: Any) -> Any:
    return results(engine, "importance", ImportanceParams(**{**FEW, **given}))


@pytest.mark.parametrize("unit", ["head", "neuron", "layer"])
def test_importance_grows_with_its_examples(engine: LocalEngine, run: str, tiny_model: str, unit: str) -> None:
    for where in ({"run": run}, {"model": tiny_model}):
        found = importance(engine, unit=unit, **where)
        counts = [result.count for result in found]
        assert counts == sorted(set(counts))
        assert counts[-1] == 20
        last = found[-1]
        assert last.done
        sizes = {"head": (2, 2), "neuron": (2, 64), "layer": (1, 2)}[unit]
        assert (len(last.grid), len(last.grid[0])) == sizes
        table = LAB.actions[0].table(last)
        assert table.columns == ("layer", "unit", "importance", "standard_error")
        assert len(table.rows) == sizes[0] * sizes[1]
        assert all(row[2] >= 0 and row[3] >= 0 for row in table.rows)  # type: ignore[operator]


def test_the_models_own_output_is_another_loss(engine: LocalEngine, run: str) -> None:
    labels, soft = (importance(engine, run=run, loss=loss)[-1].grid for loss in ("labels", "soft"))
    assert labels != soft
    assert all(value > 0 for row in soft for value in row)


@pytest.mark.parametrize("score", ["gradient", "magnitude", "movement"])
def test_weights(engine: LocalEngine, run: str, score: str) -> None:
    (found,) = importance(engine, run=run, unit="weight", score=score)
    assert found.columns == ("query", "key", "value", "output", "ffn_in", "ffn_out")
    assert (len(found.grid), len(found.grid[0])) == (2, 6)


@each_row("unit", ["head", "both", "layer", "weight"])
def test_three_orders(engine: LocalEngine, run: str, unit: str) -> None:
    found = results(engine, "compare_orders", OrdersParams(run=run, unit=unit, draws=1, **FEW))
    last = found[-1]
    assert last.done
    assert len(last.points) == last.total == 3 * (1 + len(params.SHARES))
    starts = {point.metric for point in last.points if point.share == 0}
    assert len(starts) == 1, "all lines begin with the whole model"
    for order in ("least", "most", "random"):
        line = [point for point in last.points if point.order == order]
        assert [point.share for point in line] == sorted(point.share for point in line)
        assert [point.parameters for point in line] == sorted((p.parameters for p in line), reverse=True)


def test_pruned_in_one_step_and_taken_home(engine: LocalEngine, run: str, tmp_path: Path) -> None:
    last = results(engine, "prune", PruneParams(run=run, share=0.5, **FEW))[-1]
    assert last.done
    assert [step.share for step in last.steps] == [0.0, 0.5]
    assert last.left.gap < 1e-5
    assert sum(last.left.heads) == kept_of_share(4, 0.5)
    assert sum(last.left.neurons) == kept_of_share(128, 0.5)
    assert [speed.batch for speed in last.speeds] == [1, 4, 16, 64]
    turns = last.speeds[2]
    ends = [step.measured.milliseconds for step in (last.steps[0], last.steps[-1])]
    assert ends == [turns.before, turns.after], "whole and pruned took turns, and were not timed at two moments"
    before, after = (step.measured for step in last.steps)
    assert after.parameters < before.parameters
    assert after.bytes == 4 * after.parameters
    (exported,) = results(engine, "export_pruned", ExportParams(run=run, key=last.key, **FEW))
    with zipfile.ZipFile(exported.path) as archive:
        assert set(exported.files) == set(archive.namelist())
        archive.extractall(tmp_path)
    source = importlib.util.spec_from_file_location("load_pruned", tmp_path / "load_pruned.py")
    assert source is not None
    assert source.loader is not None
    script = importlib.util.module_from_spec(source)
    source.loader.exec_module(script)
    model, tokenizer = script.load_pruned(tmp_path)
    assert sum(parameter.numel() for parameter in model.parameters()) == after.parameters
    with torch.inference_mode():
        assert model(**tokenizer("A fine film.", return_tensors="pt")).logits.shape == (1, 2)


def test_many_steps_with_training_between(engine: LocalEngine, run: str, tmp_path: Path) -> None:
    asked = PruneParams(run=run, unit="head", share=0.5, steps=2, train_between=3, **FEW)
    last = results(engine, "prune", asked)[-1]
    assert [step.share for step in last.steps] == [0.0, 0.25, 0.5]
    assert [step.loss is None for step in last.steps] == [True, False, False]
    (exported,) = results(engine, "export_pruned", ExportParams(run=run, key=last.key, **FEW))
    assert Path(exported.path).stat().st_size > last.steps[-1].measured.bytes
    again = results(engine, "prune", PruneParams(run=run, unit="head", share=0.5, **FEW))[-1]
    assert again.steps[0].measured.metric == last.steps[0].measured.metric, "the run itself has not been trained"


def test_weights_are_set_to_zero_and_nothing_gets_smaller(engine: LocalEngine, run: str) -> None:
    last = results(engine, "prune", PruneParams(run=run, unit="weight", score="magnitude", share=0.3, **FEW))[-1]
    before, after = (step.measured for step in last.steps)
    assert before.bytes == after.bytes
    matrices = 2 * (4 * 32 * 32 + 2 * 32 * 64)
    assert before.parameters - after.parameters == round(0.3 * matrices)
    assert "not taken out" in last.note


@pytest.mark.parametrize("score", ["magnitude", "gradient", "movement"])
def test_weights_go_in_steps_and_stay_away_while_the_others_train(
    engine: LocalEngine, run: str, score: str, tmp_path: Path
) -> None:
    asked = PruneParams(run=run, unit="weight", score=score, share=0.5, steps=2, train_between=3, **FEW)
    last = results(engine, "prune", asked)[-1]
    assert last.done
    assert [step.share for step in last.steps] == [0.0, 0.25, 0.5]
    assert [step.loss is None for step in last.steps] == [True, False, False]
    matrices = 2 * (4 * 32 * 32 + 2 * 32 * 64)
    whole = last.steps[0].measured.parameters
    assert [whole - step.measured.parameters for step in last.steps] == [0, matrices // 4, matrices // 2]
    kept = find(last.key)
    assert kept is not None
    for name, gone in kept.gone.items():
        assert not kept.weights[name][gone].any(), "training has brought a weight back"
    (exported,) = results(engine, "export_pruned", ExportParams(run=run, key=last.key, **FEW))
    with zipfile.ZipFile(exported.path) as archive:
        archive.extractall(tmp_path)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    zeros = sum(int((tensor == 0).sum()) for name, tensor in model.state_dict().items() if name in kept.gone)
    assert zeros >= matrices // 2


def test_another_score_sets_other_weights_to_zero(engine: LocalEngine, run: str) -> None:
    def gone(score: str, steps: int) -> torch.Tensor:
        asked = PruneParams(run=run, unit="weight", score=score, share=0.5, steps=steps, **FEW)
        kept = find(results(engine, "prune", asked)[-1].key)
        assert kept is not None
        return torch.cat([mask.flatten() for mask in kept.gone.values()])

    once = gone("magnitude", 1)
    assert torch.equal(once, gone("magnitude", 3)), "sizes of weights that are not trained stay as they are"
    assert not torch.equal(once, gone("gradient", 1))
    assert not torch.equal(gone("gradient", 1), gone("gradient", 3)), "without the first to go others matter"


def test_one_step_against_many_for_weights(engine: LocalEngine, run: str) -> None:
    asked = StepsParams(run=run, unit="weight", score="magnitude", steps=2, train_between=1, share=0.4, **FEW)
    last = results(engine, "compare_steps", asked)[-1]
    assert last.done
    assert {round(steps[-1].share, 3) for _, steps in last.lines} == {0.4}


def test_one_step_against_many(engine: LocalEngine, run: str) -> None:
    found = results(engine, "compare_steps", StepsParams(run=run, steps=2, train_between=1, **FEW))
    last = found[-1]
    assert last.done
    assert [(name, len(steps)) for name, steps in last.lines] == [
        ("one step", 2), ("many steps", 3), ("many steps, training between", 3),
    ]  # fmt: skip
    assert {steps[-1].share for _, steps in last.lines} == {0.5}
    assert [result.progress for result in found] == sorted(result.progress for result in found)


def test_by_hand(engine: LocalEngine, run: str) -> None:
    *before, some = results(engine, "prune_heads", HandParams(run=run, heads="0.1, 1.0", **FEW))  # type: ignore[arg-type]
    assert all((one.heads, one.after) == (some.heads, None) for one in before), "the switches stand there first"
    assert some.after.parameters < some.before.parameters
    none = results(engine, "prune_heads", HandParams(run=run, **FEW))[-1]
    assert none.before.milliseconds == none.after.milliseconds > 0, "a model is not compared with itself"
    assert (none.after.metric, none.after.parameters) == (none.before.metric, none.before.parameters)
    with pytest.raises(BadInputError, match="Every head would be gone"):
        results(engine, "prune_heads", HandParams(run=run, heads="0.0,0.1,1.0,1.1", **FEW))  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="no head 2 in layer 0"):
        results(engine, "prune_heads", HandParams(run=run, heads="0.2", **FEW))  # type: ignore[arg-type]


def test_fewer_bits(engine: LocalEngine, run: str) -> None:
    found = results(engine, "quantise", QuantiseParams(run=run, share=0.5, batch=2, **FEW))
    last = found[-1]
    assert [result.done for result in found] == [False] * (len(found) - 1) + [True]
    assert len(found) <= 7, "one for each form and share, and one before; who looks late sees only the newest"
    assert [(form.form, form.pruned) for form in last.forms] == [
        (form, share) for share in (0.0, 0.5) for form in ("fp32", "bf16", "int8")
    ]
    assert last.forms[3].bytes < last.forms[0].bytes
    assert all(form.milliseconds > 0 for form in last.forms)


def test_virtual_tokens_and_models_without_a_head_are_refused(
    engine: LocalEngine, tiny_model: str, tmp_path: Path
) -> None:
    prefix = trained(engine, tiny_model, method="prefix")
    with pytest.raises(BadInputError, match="virtual tokens"):
        importance(engine, run=prefix)
    with pytest.raises(MissingCapabilityError, match="Choose a fine-tuned run"):
        importance(engine, model=save_reader("BertModel", tmp_path / "body"))
    with pytest.raises(ExplorerError, match="No run is called"):
        importance(engine, run="nobody")


def test_a_task_with_other_classes_is_refused(engine: LocalEngine, run: str) -> None:
    with pytest.raises(BadInputError, match="Take the run's own task"):
        importance(engine, run=run, task="mnli")


def test_an_export_that_is_not_kept_says_so(engine: LocalEngine, run: str) -> None:
    with pytest.raises(BadInputError, match="not kept any more"):
        results(engine, "export_pruned", ExportParams(run=run, key="0123456789abcdef", **FEW))
