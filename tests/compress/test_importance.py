"""Importance from one pass against autograd example by example, and against what is lost without each part."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.compress import importance as module
from explorer.compress.cuts import Cut
from explorer.compress.gates import gate_gradients, layers_gated
from explorer.compress.importance import (
    block_names,
    matrices_of,
    share_gone,
    unit_sums,
    weight_scores,
    weights_gone,
    without_weights,
    zeroed,
)
from explorer.compress.removal import gates_of, masked
from explorer.compress.subject import Subject, of_run
from explorer.errors import BadInputError
from explorer.maths.importance import mean_and_error
from explorer.models.inside import gated
from explorer.models.loaded_model import LoadedModel
from explorer.tuning.adapted import adapt
from explorer.tuning.reading import Scale
from explorer.tuning.spec import RunSpec
from tests.compress.subjects import FAMILIES, adapted_by, model_subject, run_subject, tiny
from tests.compress.test_removal import outputs, some
from tests.pairs import ALL_PAIRS, DIFFERENT
from tests.tuning.small import CATS, data


@pytest.fixture(scope="module", params=FAMILIES)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return tiny(tmp_path_factory.mktemp("family"), request.param)


@pytest.fixture(autouse=True)
def in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subject, "precision", lambda subject: nullcontext())


def one_by_one(subject: Subject, unit: str, place: int, loss: str) -> torch.Tensor:
    """dL/dξ of one example, by autograd on gates that all rows share."""
    shape, tree, architecture = subject.shape, subject.tree(), subject.loaded.architecture
    width = shape.rows(unit)[1]
    gates = torch.ones((shape.depth, width) if unit != "layer" else (shape.depth,), requires_grad=True)
    if unit == "layer":
        with layers_gated(tree, architecture, gates):
            value = subject.losses(tree, [place], loss).sum()
    else:
        with gated(tree, architecture, *((gates, None) if unit == "head" else (None, gates))):
            value = subject.losses(tree, [place], loss).sum()
    value.backward()
    assert gates.grad is not None
    found = gates.grad
    if unit == "layer":
        return found[None]
    return found.sum(0, keepdim=True) if shape.shared else found


@pytest.mark.parametrize("unit", ["head", "neuron", "layer"])
def test_it_is_the_mean_of_every_examples_own_gradient(loaded: LoadedModel, unit: str) -> None:
    subjects = [(run_subject(loaded), "labels")]
    if ALL_PAIRS or loaded.architecture.family in DIFFERENT:
        subjects += [(model_subject(loaded), "labels"), (run_subject(loaded), "soft")]
    for subject, loss in subjects:
        alone = torch.stack([one_by_one(subject, unit, place, loss) for place in range(6)]).double()
        found = unit_sums(subject, unit, loss, 0, 6)
        mean, error = mean_and_error(found)
        assert mean.shape == subject.shape.rows(unit)
        assert torch.allclose(mean, alone.abs().mean(0), atol=1e-6, rtol=1e-3)
        assert torch.allclose(error, alone.abs().std(0) / 6**0.5, atol=1e-6, rtol=1e-2)
        halves = unit_sums(subject, unit, loss, 0, 2) + unit_sums(subject, unit, loss, 2, 6)
        assert torch.allclose(halves.absolute, found.absolute, atol=1e-5)


def test_gates_at_one_change_nothing(loaded: LoadedModel) -> None:
    subject = run_subject(loaded)
    tree, shape = subject.tree(), subject.shape
    whole = outputs(subject, tree)
    with (
        gated(tree, loaded.architecture, torch.ones(shape.depth, shape.heads), torch.ones(shape.depth, shape.neurons)),
        layers_gated(tree, loaded.architecture, torch.ones(shape.depth)),
    ):
        assert torch.allclose(outputs(subject, tree), whole, atol=1e-6)
    assert torch.equal(outputs(subject, tree), whole), "and they go away again"


def test_the_gradient_is_the_slope_towards_gone(loaded: LoadedModel) -> None:
    """A gate a little below 1 changes the loss by the gradient, with parts gone already."""
    subject = run_subject(loaded)
    shape, tree = subject.shape, subject.tree()
    cut = Cut(heads=some(shape.blocks * shape.heads, 1), neurons=some(shape.blocks * shape.neurons, 0, 5))
    standing = {unit: gates_of(cut, unit, shape) for unit in ("head", "neuron")}
    places, epsilon = list(range(4)), 1e-2
    found = gate_gradients(
        tree, loaded.architecture, shape, "head", lambda: subject.losses(tree, places, "labels"), 4, standing
    )
    values = []
    for sign in (1, -1):
        gates = standing["head"].clone()
        gates[[depth for depth in range(shape.depth) if shape.block_of(depth) == 0], 2] += sign * epsilon
        with gated(tree, loaded.architecture, gates, standing["neuron"]):
            values.append(subject.losses(tree, places, "labels").detach())
    slope = (values[0] - values[1]) / (2 * epsilon)
    assert torch.allclose(found[:, 0, 2], slope, atol=1e-4, rtol=2e-2)


def test_weights_against_numpy(loaded: LoadedModel) -> None:
    subject = run_subject(loaded)
    tree = subject.tree()
    names = matrices_of(subject, tree)
    assert {name for _, name in names} == set(block_names(subject))
    weights = {place: tree.get_parameter(f"{name}.weight") for place, name in names.items()}
    sizes, _ = weight_scores(subject, "magnitude", "labels", 0)
    for weight in weights.values():
        weight.requires_grad_(True)
    subject.losses(tree, list(range(12)), "labels").mean().backward()
    taylor, errors = weight_scores(subject, "gradient", "labels", 12)
    moved, _ = weight_scores(subject, "movement", "labels", 12)
    for place, weight in weights.items():
        value, gradient = weight.detach().numpy(), weight.grad.numpy()  # type: ignore[union-attr]
        assert np.array_equal(sizes[place].numpy(), np.abs(value))
        assert np.allclose(taylor[place].numpy(), np.abs(value * gradient), atol=1e-7, rtol=1e-3)
        assert np.allclose(moved[place].numpy(), -value * gradient, atol=1e-7, rtol=1e-3)
    assert errors == {}, "twelve examples are one batch"


def test_movement_follows_the_weights_as_they_move(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"), examples=40)
    moved, _ = weight_scores(subject, "movement", "labels", 40)
    tree = subject.tree()
    name = matrices_of(subject, tree)[0, "value"]
    others = [f"{other}.weight" for other in matrices_of(subject, tree).values()]
    for other in others:
        path, _, leaf = other.rpartition(".")
        copied = torch.nn.Parameter(tree.get_parameter(other).detach().clone())
        tree.get_submodule(path)._parameters[leaf] = copied
    weight, total = tree.get_parameter(f"{name}.weight"), 0.0
    for start in range(0, 40, module.WEIGHT_BATCH):
        parameters = [tree.get_parameter(other) for other in others]
        places = list(range(start, min(40, start + module.WEIGHT_BATCH)))
        gradients = torch.autograd.grad(subject.losses(tree, places, "labels").mean(), parameters)
        total = total - (weight.detach() * gradients[others.index(f"{name}.weight")])
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= module.MOVEMENT_RATE * gradient
    assert torch.allclose(moved[0, "value"], total, atol=1e-7, rtol=1e-3)
    whole = subject.tree()
    assert torch.equal(outputs(subject, whole), outputs(subject, subject.tree())), "the subject stays as it is"


@pytest.mark.parametrize("order", ["least", "most", "random"])
def test_the_share_of_weights_is_exact(loaded: LoadedModel, order: str) -> None:
    subject = run_subject(loaded)
    scores, _ = weight_scores(subject, "magnitude", "labels", 0)
    total = sum(values.numel() for values in scores.values())
    masks = weights_gone(subject, scores, 0.3, order)
    model = without_weights(subject, masks)
    assert sum(int(mask.sum()) for mask in masks.values()) == round(0.3 * total)
    assert share_gone(masks) == pytest.approx(0.3, abs=1 / total)
    zeros, kept = [], []
    for place, name in matrices_of(subject, model).items():
        gone = model.get_parameter(f"{name}.weight") == 0
        zeros.append(scores[place][gone])
        kept.append(scores[place][~gone])
    if order == "least":
        assert torch.cat(zeros).max() <= torch.cat(kept).min()
    if order == "most":
        assert torch.cat(zeros).min() >= torch.cat(kept).max()


def test_a_pretrained_model_is_asked_without_labels(tmp_path: Path) -> None:
    subject = model_subject(tiny(tmp_path, "BERT"))
    assert subject.kind.slug == "mask"
    assert subject.fixed is None
    targets = subject.examples.targets or ()
    assert all(any(target >= 0 for target in row) for row in targets)
    assert 0 <= (subject.measure(subject.tree()) or 0) <= 1


@pytest.mark.parametrize(("family", "kind"), [("GPT-2", "continue"), ("ELECTRA discriminator", "replaced")])
def test_others_are_asked_what_they_were_trained_for(tmp_path: Path, family: str, kind: str) -> None:
    assert model_subject(tiny(tmp_path, family)).kind.slug == kind


def test_virtual_tokens_no_examples_and_another_task_are_refused(tmp_path: Path) -> None:
    loaded = tiny(tmp_path, "BERT")
    with pytest.raises(BadInputError, match="virtual tokens"):
        run_subject(loaded, "prefix")
    with pytest.raises(BadInputError, match="no examples"):
        run_subject(loaded, examples=0)


def test_nothing_masked_is_the_whole_model(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "ALBERT"))
    tree = subject.tree()
    whole = outputs(subject, tree)
    with masked(tree, subject.loaded.architecture, Cut(), subject.shape):
        assert torch.equal(outputs(subject, tree), whole)


def test_weights_of_a_model_whose_adapters_stay_beside_them(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"), "houlsby")
    scores, _ = weight_scores(subject, "gradient", "labels", 12)
    masks = weights_gone(subject, scores, 0.5)
    model = without_weights(subject, masks)
    assert not torch.equal(outputs(subject, model), outputs(subject, subject.tree()))
    assert subject.fixed is not None


def test_what_is_gone_stays_gone_whatever_its_score(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"))
    scores, _ = weight_scores(subject, "magnitude", "labels", 0)
    first = weights_gone(subject, scores, 0.2, "most")
    second = weights_gone(subject, scores, 0.5, "least", before=first)
    assert share_gone(second) == pytest.approx(0.5, abs=1e-4)
    assert all(bool(second[name][mask].all()) for name, mask in first.items())
    zeroes = zeroed(subject, second)
    assert all(not bool(zeroes[name][mask].any()) for name, mask in second.items())


def test_a_run_keeps_to_its_own_number_of_classes(tmp_path: Path) -> None:
    loaded, few = tiny(tmp_path, "BERT"), data(CATS)
    alone = replace(few, task=replace(few.task, labels=few.task.labels[:1]))
    with pytest.raises(BadInputError, match="Take the run's own task"):
        of_run(adapted_by("lora", loaded), "my run", alone, Scale(), 4, 4)


def test_a_student_on_plain_text_is_the_language_model_that_it_is(tmp_path: Path) -> None:
    loaded = tiny(tmp_path, "BERT")
    spec = RunSpec(loaded.model_id, "text", "distill_text", student_layers=1)
    subject = of_run(adapt(loaded, 2, spec), "my student", data(CATS), Scale(), 6, 6)
    assert (subject.name, subject.kind.slug, subject.shape.depth) == ("my student", "mask", 1)
    cut = Cut(heads=some(4, 2))
    assert unit_sums(subject, "head", "labels", 0, 6).absolute.shape == (1, 4)
    with subject.without(cut) as model:
        assert 0 <= (subject.measure(model) or 0) <= 1
