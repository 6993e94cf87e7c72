"""A run's model, opened as any model is."""

from __future__ import annotations

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.encoding import encode
from explorer.models.inside import depth_of, heads_of, read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.models.questions import question, scores
from explorer.settings import Settings
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.merging import as_loaded
from explorer.tuning.spec import RunSpec
from tests.models.tiny import save


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(str(save(tmp_path_factory.mktemp("small") / "bert")), Settings(device="cpu"))


def adapted_by(method: str, loaded: LoadedModel) -> Adapted:
    adapted = adapt(loaded, 2, RunSpec(model=loaded.model_id, task="sst2", method=method, prefix_length=4))
    with torch.no_grad():
        for parameter in adapted.trainable().values():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    return adapted


@pytest.mark.parametrize("method", ["full", "head", "bitfit", "lora", "houlsby", "pfeiffer", "ia3"])
@torch.inference_mode()
def test_it_answers_as_the_run_does_and_its_gates_work(small: LoadedModel, method: str) -> None:
    adapted = adapted_by(method, small)
    opened = as_loaded(adapted, "my run")
    encoded = encode(opened, "the cat sat on a mat")
    asked = question("class")
    depth, heads = depth_of(opened.model), heads_of(opened.model)
    reading = read(opened, encoded.inputs, torch.ones(depth, heads))
    ours = scores(asked, opened, reading.output)[0, asked.places(opened, encoded)[0]]
    assert torch.allclose(ours, adapted.logits(encoded.inputs)[0], atol=1e-5)
    assert len(reading.attentions) == depth
    off = torch.ones(depth, heads)
    off[0] = 0
    assert not torch.allclose(scores(asked, opened, read(opened, encoded.inputs, off).output)[0, 0], ours, atol=1e-7)


@pytest.mark.parametrize("method", ["prompt", "prefix"])
def test_virtual_tokens_are_refused_with_a_way_out(small: LoadedModel, method: str) -> None:
    with pytest.raises(BadInputError, match="LoRA"):
        as_loaded(adapted_by(method, small), "my run")
