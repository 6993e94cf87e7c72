"""A fine-tuned classifier, by every method that leaves the text's positions alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.errors import BadInputError
from explorer.labs.attribution.jobs import attribute_run
from explorer.labs.attribution.params import AttributeRunParams
from explorer.labs.attribution.schema import AttributionResult
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES
from explorer.models.loaded_model import LoadedModel
from explorer.runs.open import OpenRun
from explorer.runs.record import RunStatus
from explorer.runs.store import WEIGHTS
from tests.labs.attribution.bench import AtHand, last, open_run
from tests.rows import each_row

ALL = ("integrated_gradients", "occlusion", "conductance")


def answered(loaded: LoadedModel, run: OpenRun, **changes: Any) -> AttributionResult:
    values: dict[str, Any] = {"sentence_a": "the cat sat on a mat", "method": ALL, **changes}
    result = last(attribute_run(AtHand(loaded, run), AttributeRunParams(run.record.run_id, **values)))
    assert isinstance(result, AttributionResult)
    return result


@each_row("method", ["full", "head", "bitfit", "lora", "houlsby", "pfeiffer", "ia3"])
def test_the_runs_class_is_shared_out_completely(tmp_path: Path, bert: LoadedModel, method: str) -> None:
    run = open_run(tmp_path, bert, method)
    result = answered(bert, run, baseline="zero")
    with torch.inference_mode():
        logits = run.restore().logits(encode(bert, "the cat sat on a mat").inputs)[0]
    assert result.asked.answer == run.record.labels[int(logits.argmax())]
    assert result.asked.score == pytest.approx(float(logits.max() - logits.min()), abs=1e-4)
    assert result.asked.model == run.record.name
    for part in result.chosen:
        if part.about.complete:
            assert abs(part.delta or 0) <= result.asked.tolerance


@pytest.mark.parametrize("family_name", [architecture.family for architecture in ARCHITECTURES])
def test_every_family_has_classifiers(tmp_path: Path, family: Callable[[str], LoadedModel], family_name: str) -> None:
    loaded = family(family_name)
    method = "houlsby" if family_name == "GPT-2" else "lora"
    result = answered(loaded, open_run(tmp_path, loaded, method), baseline="zero")
    for part in result.chosen:
        if part.about.complete:
            assert abs(part.delta or 0) <= result.asked.tolerance
    assert sum(value or 0 for value in result.parts[-1].values) == pytest.approx(1, abs=1e-5)


def test_the_other_class_is_the_opposite(tmp_path: Path, bert: LoadedModel) -> None:
    run = open_run(tmp_path, bert)
    one, other = (answered(bert, run, target=name, method="integrated_gradients") for name in run.record.labels)
    for value, against in zip(one.parts[0].values, other.parts[0].values, strict=True):
        assert value == pytest.approx(-(against or 0.0), abs=1e-4)


def test_a_task_on_pairs_reads_the_second_text_and_another_leaves_it_out(tmp_path: Path, bert: LoadedModel) -> None:
    pair = open_run(tmp_path, bert, columns=("sentence1", "sentence2"))
    with pytest.raises(BadInputError, match="two texts"):
        answered(bert, pair)
    result = answered(bert, pair, sentence_a="the cat", sentence_b="a mat", method="occlusion")
    assert [unit.text for unit in result.units] == ["[CLS]", "the", "cat", "[SEP]", "a", "mat", "[SEP]"]
    single = answered(bert, open_run(tmp_path, bert), sentence_a="the cat", sentence_b="a mat", method="occlusion")
    assert len(single.units) == 4


@pytest.mark.parametrize("method", ["prompt", "prefix"])
def test_virtual_tokens_are_refused_with_a_way_out(tmp_path: Path, bert: LoadedModel, method: str) -> None:
    with pytest.raises(BadInputError, match="LoRA"):
        answered(bert, open_run(tmp_path, bert, method))


def test_a_regression_has_no_class(tmp_path: Path, bert: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="classification task"):
        answered(bert, open_run(tmp_path, bert, labels=()))


def test_a_run_without_weights_cannot_be_asked(tmp_path: Path, bert: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="nothing to try yet"):
        answered(bert, open_run(tmp_path, bert, status=RunStatus.RUNNING))
    gone = open_run(tmp_path, bert, notes=("Its weights are gone.",))
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(BadInputError, match="Its weights are gone"):
        answered(bert, gone)


def test_a_class_that_there_is_not_is_refused(tmp_path: Path, bert: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="negative, positive"):
        answered(bert, open_run(tmp_path, bert), target="neutral")


@pytest.mark.parametrize("method", ["full", "lora", "houlsby"])
def test_gradients_pass_a_run_that_another_page_has_opened_in_inference_mode(
    tmp_path: Path, bert: LoadedModel, method: str
) -> None:
    run = open_run(tmp_path, bert, method)
    with torch.inference_mode():
        shared = run.restore()
    before = {name: tensor.clone() for name, tensor in shared.fork.named_parameters()}
    result = answered(bert, run, baseline="zero", method="integrated_gradients")
    assert abs(result.parts[0].delta or 0) <= result.asked.tolerance
    for name, tensor in shared.fork.named_parameters():
        assert torch.equal(tensor, before[name])
