"""Methods on the last layers alone, and full fine-tuning from random numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.merging import merged
from explorer.tuning.methods import METHODS
from explorer.tuning.plan import plan
from explorer.tuning.spec import RunSpec
from tests.engine.working import Run
from tests.models import conftest as models_conftest
from tests.rows import each_row
from tests.tuning.samples import tiny_loaded
from tests.tuning.small import data, losses, training_of

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert

REACHING = [method.slug for method in METHODS if "last_layers" in method.options]
FAMILIES = ("BERT", "DistilBERT", "GPT-2", "RoBERTa")


def layers_of(adapted: Adapted) -> set[int | None]:
    """Where something is trained that is no fresh head."""
    body = f"{adapted.layers.body}."
    names = [name.removeprefix("base_model.model.") for name in adapted.trainable()]
    return {adapted.layers.layer_of(name) for name in names if name.startswith(body) and ".pooler." not in name}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", REACHING)
def test_only_the_last_layers_change(family: str, method: str) -> None:
    loaded = tiny_loaded(family)
    depth = loaded.model.config.num_hidden_layers
    spec = RunSpec(loaded.model_id, method=method, bottleneck=4, rank=2, last_layers=1, epochs=1, learning_rate=1e-2)
    training = training_of(loaded, spec, data())
    assert layers_of(training.adapted) == {depth - 1}
    losses(training, 3)
    if training.adapted.method.changes_matrices:
        moved = {place[0] for place, delta in training.adapted.deltas().items() if delta.dense().abs().max() > 0}
        assert moved == {depth - 1}
    if not training.adapted.method.unmergeable:
        inputs = training.held_out.batch(range(4), torch.device("cpu"))[0]
        plain = merged(training.adapted)
        said = plain(**training.adapted.taken(inputs)).logits
        assert torch.allclose(said, training.adapted.logits(inputs), atol=1e-5)


@each_row("method", REACHING)
def test_a_plan_counts_what_is_trained(bert: LoadedModel, method: str) -> None:
    spec = RunSpec("tiny", method=method, bottleneck=4, rank=2, last_layers=1)
    trained = sum(parameter.numel() for parameter in adapt(bert, 2, spec).trainable().values())
    assert plan(bert, 2, spec, 48, 10.0).trainable == trained
    assert trained < plan(bert, 2, RunSpec("tiny", method=method, bottleneck=4, rank=2), 48, 10.0).trainable


@each_row(
    ("changes", "says"),
    [
        ({"method": "prefix", "prefix_length": 4, "last_layers": 1}, "Prefix-layer is not put on single layers"),
        ({"method": "lora", "last_layers": 30}, "layers, and last_layers is 30"),
        ({"method": "lora", "start": "random"}, "From random numbers every weight has to be trained"),
        ({"method": "full", "start": "random", "last_layers": 1}, "From random numbers every weight"),
    ],
)
def test_what_cannot_be_had_is_said(bert: LoadedModel, changes: dict[str, object], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        adapt(bert, 2, RunSpec("tiny", **changes))  # type: ignore[arg-type]


def test_albert_has_no_last_layer() -> None:
    loaded = tiny_loaded("ALBERT")
    with pytest.raises(BadInputError, match="one layer that serves at every depth"):
        adapt(loaded, 2, RunSpec(loaded.model_id, last_layers=1))


def test_from_random_numbers_nothing_of_the_model_is_left_but_its_shape(bert: LoadedModel, tmp_path: Path) -> None:
    spec = RunSpec("tiny", method="full", start="random", epochs=2)
    one, again = (adapt(bert, 2, spec).state() for _ in range(2))
    assert all(torch.equal(one[name], again[name]) for name in one)
    other = adapt(bert, 2, RunSpec("tiny", method="full", start="random", seed=1)).state()
    known = dict(bert.model.named_parameters())
    for name, tensor in one.items():
        if tensor.ndim > 1 and name in known:
            assert not torch.allclose(tensor, known[name])
            assert not torch.allclose(tensor, other[name])
    run = Run(bert, tmp_path, spec)
    assert run.work().score is not None
    restored = adapt(bert, 2, spec)
    restored.load_state(run.weights)
    with pytest.raises(BadInputError, match="began with random numbers"):
        restored.deltas()
