"""Models with fewer layers, of every family: the layers that stay are the model's own, under their new numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.models.shortening import half_of, layers_kept, renamed, shortened, shortened_config
from explorer.settings import Settings
from tests.models.tiny import save
from tests.tuning.samples import frozen_copy, is_unchanged, plain_inputs

DEPTH = 4
DEEPER: dict[str, dict[str, Any]] = {"distilbert": {"n_layers": DEPTH}, "gpt2": {"n_layer": DEPTH}}
EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Models of four layers, made once a family."""
    made: dict[str, LoadedModel] = {}

    def of(architecture: Architecture) -> LoadedModel:
        if architecture.family not in made:
            sizes = DEEPER.get(architecture.model_type, {"num_hidden_layers": DEPTH})
            folder = save(tmp_path_factory.mktemp("deep") / "model", architecture.family, **sizes)
            made[architecture.family] = load_model(str(folder), Settings(device="cpu"))
        return made[architecture.family]

    return of


def test_layers_are_kept_evenly_from_the_first() -> None:
    assert layers_kept(6, 3) == (0, 2, 4)
    assert layers_kept(12, 6) == (0, 2, 4, 6, 8, 10)
    assert layers_kept(6, 4) == (0, 1, 3, 4)
    assert layers_kept(6, 1) == (0,)
    assert layers_kept(6, 6) == tuple(range(6))
    for depth in range(1, 25):
        for count in range(1, depth + 1):
            kept = layers_kept(depth, count)
            assert len(set(kept)) == count
            assert max(kept) < depth
    assert [half_of(depth) for depth in (1, 2, 6, 7, 12)] == [1, 1, 3, 3, 6]


@pytest.mark.parametrize("count", [0, -1, 7])
def test_no_other_number_of_layers_can_be_kept(count: int) -> None:
    with pytest.raises(BadInputError, match="Take 1 to 6 layers"):
        layers_kept(6, count)


@EVERY_FAMILY
def test_a_short_model_holds_the_kept_layers_and_shares_their_memory(architecture: Architecture, deep: Any) -> None:
    loaded = deep(architecture)
    before = frozen_copy(loaded)
    short = shortened(loaded, 2)
    layout, model = architecture.layers, loaded.model
    assert depth_of(short.model) == 2
    assert depth_of(model) == DEPTH
    theirs = dict(model.named_parameters(remove_duplicate=False))
    shared = layout.count(theirs) < DEPTH
    for name, parameter in short.model.named_parameters(remove_duplicate=False):
        origin = name if shared else name.replace(layout.name(1, ""), layout.name(2, ""))
        assert parameter.data_ptr() == theirs[origin].data_ptr(), name
        assert parameter.device.type == "cpu"
    assert all(buffer.device.type == "cpu" for buffer in short.model.buffers())
    layer = sum(value.numel() for name, value in model.named_parameters() if name.startswith(layout.name(1, "")))
    assert short.parameters == loaded.parameters - (0 if shared else 2 * layer)
    output = short.model(**plain_inputs(short.model), output_hidden_states=True)
    assert len(output.hidden_states) == 3
    assert is_unchanged(loaded, before)


@EVERY_FAMILY
def test_all_layers_give_the_same_answer(architecture: Architecture, deep: Any) -> None:
    loaded = deep(architecture)
    inputs = plain_inputs(loaded.model)
    with torch.no_grad():
        whole, again = (model(**inputs) for model in (loaded.model, shortened(loaded, DEPTH).model))
    for one, other in zip(whole.to_tuple(), again.to_tuple(), strict=True):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(one, other)


@EVERY_FAMILY
def test_the_first_layers_of_a_short_model_say_what_the_models_do(architecture: Architecture, deep: Any) -> None:
    """One layer kept is layer 0: its output is the model's after its first layer."""
    loaded = deep(architecture)
    inputs = plain_inputs(loaded.model)
    seen: list[torch.Tensor] = []

    def keep(module: Any, given: Any, output: Any) -> None:
        seen.append((output[0] if isinstance(output, tuple) else output).detach())

    answers = []
    for model in (loaded.model, shortened(loaded, 1).model):
        hook = model.get_submodule(architecture.layers.name(0, "").rstrip(".")).register_forward_hook(keep)
        with torch.no_grad():
            model(**inputs)
        hook.remove()
        answers.append(seen[0])
        seen.clear()
    torch.testing.assert_close(answers[0], answers[1])


def test_kinds_of_attention_go_with_their_layers(deep: Any) -> None:
    loaded = deep(next(entry for entry in ARCHITECTURES if entry.family == "ModernBERT"))
    config: Any = loaded.model.config
    assert config.layer_types == ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
    assert shortened_config(config, (0, 3)).layer_types == ["full_attention", "full_attention"]
    assert len(config.layer_types) == DEPTH


def test_names_outside_the_layers_stay(deep: Any) -> None:
    loaded = deep(next(entry for entry in ARCHITECTURES if entry.family == "BERT"))
    names = dict.fromkeys(name for name, _ in loaded.model.named_parameters())
    kept = renamed(names, loaded.architecture.layers, DEPTH, (0, 2))
    outside = {name for name in names if "encoder.layer." not in name}
    assert outside == {name for name in kept if "encoder.layer." not in name}
    assert {name.split(".")[3] for name in set(kept) - outside} == {"0", "1"}


def test_more_layers_than_there_are_is_refused(deep: Any, tmp_path: Path) -> None:
    loaded = deep(next(entry for entry in ARCHITECTURES if entry.family == "BERT"))
    with pytest.raises(BadInputError, match="cannot be cut from 4"):
        shortened(loaded, 5)
