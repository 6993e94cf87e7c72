"""Parts that are gone give the same outputs as their gates at 0, in every family."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.compress.cuts import Cut, Shape, choose, kept_of_share
from explorer.compress.importance import unit_sums
from explorer.compress.removal import count_parameters, masked, remove, size_in_bytes
from explorer.compress.subject import Subject
from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel
from tests.compress.subjects import FAMILIES, model_subject, run_subject, tiny
from tests.rows import each_row


@pytest.fixture(scope="module", params=FAMILIES)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return tiny(tmp_path_factory.mktemp("family"), request.param)


def outputs(subject: Subject, model: object) -> torch.Tensor:
    inputs, _ = subject.held_out.batch(range(6), subject.loaded.device)
    with torch.inference_mode():
        return subject.scores(model, inputs).float()


def some(count: int, *gone: int) -> bytes:
    return bytes(int(place in gone) for place in range(count))


def cuts(shape: Shape) -> dict[str, Cut]:
    heads, neurons = shape.blocks * shape.heads, shape.blocks * shape.neurons
    every_other = bytes(place % 2 for place in range(neurons))
    cuts = {
        "nothing": Cut(),
        "one head": Cut(heads=some(heads, 1)),
        "neurons": Cut(neurons=every_other),
        "a layer": Cut(layers=some(shape.depth, shape.depth - 1)),
        "the first layer": Cut(layers=some(shape.depth, 0)),
        "all of these": Cut(some(heads, 0, 3), every_other, some(shape.depth, 0)),
    }
    if shape.blocks > 1:
        cuts["all heads and neurons of a layer"] = Cut(
            some(heads, *range(shape.heads)), bytes(int(place < shape.neurons) for place in range(neurons))
        )
    return cuts


def test_what_is_removed_is_what_its_gate_at_zero_says(loaded: LoadedModel) -> None:
    for subject in (model_subject(loaded), run_subject(loaded)):
        whole = outputs(subject, subject.tree())
        for name, cut in cuts(subject.shape).items():
            tree = subject.tree()
            with masked(tree, loaded.architecture, cut, subject.shape):
                expected = outputs(subject, tree)
            removed = remove(subject.model, loaded.architecture, cut)
            assert torch.allclose(outputs(subject, removed.model), expected, atol=1e-4), name
            assert torch.equal(expected, whole) == cut.empty, name
        assert torch.equal(outputs(subject, subject.tree()), whole), "the subject stays as it is"


def test_it_is_measured_in_the_processors_own_precision(loaded: LoadedModel) -> None:
    for subject in (model_subject(loaded), run_subject(loaded)):
        score = subject.measure(subject.tree())
        assert score is not None
        assert subject.measure(subject.tree(), quick=False) == pytest.approx(score, abs=0.2)
        assert unit_sums(subject, "head", "labels", 0, 4).count == 4


def test_there_is_less_of_it(loaded: LoadedModel) -> None:
    subject = run_subject(loaded)
    shape, hidden = subject.shape, subject.model.config.hidden_size
    before = count_parameters(subject.model)
    gone = shape.blocks * shape.neurons // 2
    cut = Cut(neurons=bytes(place % 2 for place in range(shape.blocks * shape.neurons)))
    removed = remove(subject.model, loaded.architecture, cut)
    assert sum(removed.neurons) == gone
    is_gated = loaded.architecture.family in ("ModernBERT", "ModernBERT decoder", "EuroBERT")
    gated_parts, biases = (3, 0) if is_gated else (2, 1)
    assert before - count_parameters(removed.model) == gone * (gated_parts * hidden + biases)
    assert size_in_bytes(removed.model) == 4 * count_parameters(removed.model)
    layers = remove(subject.model, loaded.architecture, Cut(layers=some(shape.depth, 0)))
    assert layers.layers == tuple(range(1, shape.depth))
    assert (count_parameters(layers.model) < before) == (not shape.shared)


@each_row("share", [0.1, 0.25, 0.5, 0.9])
def test_the_share_that_is_reached_is_the_one_that_was_asked_for(tmp_path: Path, share: float) -> None:
    subject = model_subject(tiny(tmp_path, "BERT"))
    rows, width = subject.shape.rows("neuron")
    grid = torch.randn(rows, width, generator=torch.Generator().manual_seed(0)).tolist()
    gone = choose(grid, kept_of_share(rows * width, share))
    removed = remove(subject.model, subject.loaded.architecture, Cut(neurons=gone))
    assert sum(removed.neurons) == rows * width - round(share * rows * width)


def test_everything_of_a_kind_cannot_go(tmp_path: Path) -> None:
    subject = model_subject(tiny(tmp_path, "BERT"))
    for cut in (Cut(heads=b"\1" * 8), Cut(layers=b"\1\1"), Cut(neurons=b"\1" * 128)):
        with pytest.raises(BadInputError, match="Leave at least one"):
            remove(subject.model, subject.loaded.architecture, cut)
    with pytest.raises(BadInputError, match="this one has 8"):
        remove(subject.model, subject.loaded.architecture, Cut(heads=b"\1" * 9))


def test_heads_that_are_mixed_can_only_be_masked(tmp_path: Path) -> None:
    subject = model_subject(tiny(tmp_path, "DeBERTa", talking_head=True))
    with pytest.raises(BadInputError, match="talking_head"):
        remove(subject.model, subject.loaded.architecture, Cut(heads=some(8, 1)))
    assert not subject.can_remove(Cut(heads=some(8, 1)))
    assert subject.can_remove(Cut(neurons=some(128, 1)))
    with subject.without(Cut(heads=some(8, 1))) as model:
        assert not torch.equal(outputs(subject, model), outputs(subject, subject.tree()))


@pytest.mark.parametrize("method", ["houlsby", "pfeiffer"])
def test_adapters_between_layers_can_only_be_masked(tmp_path: Path, method: str) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"), method)
    assert "cannot be merged" in (subject.fixed or "")
    with subject.without(Cut(heads=some(8, *range(7)))) as model:
        assert not torch.allclose(outputs(subject, model), outputs(subject, subject.tree()))
    assert subject.measure(subject.tree()) is not None
