"""The head at each layer, for every family that scores tokens; transformers' hidden states are the independent way."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES, Capability
from explorer.models.heads import head_at_each_layer
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save

TOKEN_HEADS = (Capability.MLM, Capability.CAUSAL, Capability.RTD)
FAMILIES = [entry.family for entry in ARCHITECTURES if set(entry.heads) & set(TOKEN_HEADS)]
TEXT = "the cat sat on a mat ."


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    changes: dict[str, Any] = {"n_layer": 3} if request.param == "GPT-2" else {"num_hidden_layers": 3}
    if request.param == "DistilBERT":
        changes = {"n_layers": 3}
    folder = save(tmp_path_factory.mktemp("heads") / "model", request.param, initializer_range=0.4, **changes)
    loaded = load_model(str(folder), Settings(device="cpu"))
    chance = torch.Generator().manual_seed(2)
    for parameter in loaded.model.parameters():
        if parameter.ndim == 1:  # a fresh LayerNorm, applied twice, does what it does once
            parameter += 0.3 * torch.randn(parameter.shape, generator=chance)
    return loaded


def head_of(loaded: LoadedModel) -> Capability:
    return next(head for head in TOKEN_HEADS if head in loaded.capabilities)


def lens(loaded: LoadedModel, places: list[int]) -> Tensor:
    return loaded.logits(head_of(loaded), head_at_each_layer(loaded, encode(loaded, TEXT).inputs, places))


def test_every_family_scores_tokens() -> None:
    assert len(FAMILIES) == len(ARCHITECTURES)


@torch.inference_mode()
def test_the_last_row_is_the_model_s_own_answer(opened: LoadedModel) -> None:
    inputs = encode(opened, TEXT).inputs
    own = opened.logits(head_of(opened), opened.model(**inputs))[0]
    for places in ([3], [0, 2, 5], list(range(inputs["input_ids"].shape[1]))):
        rows = lens(opened, places)
        assert rows.shape[:2] == (depth_of(opened.model) + 1, len(places))
        assert torch.allclose(rows[-1], own[places], atol=1e-4)


@torch.inference_mode()
def test_every_layer_has_a_row_of_its_own(opened: LoadedModel) -> None:
    rows = lens(opened, [1, 4])
    for first in range(len(rows)):
        for second in range(first):
            assert not torch.allclose(rows[first], rows[second], atol=1e-3)


def apart(loaded: LoadedModel) -> tuple[list[Tensor], Any]:
    """The states after each layer before any last LayerNorm, and what the model does with the last of them, by hand."""
    model: Any = loaded.model
    states = list(model(**encode(loaded, TEXT).inputs, output_hidden_states=True).hidden_states)
    heads: dict[str, Any] = {
        "BERT": lambda h: model.cls.predictions(h),
        **dict.fromkeys(("RoBERTa", "XLM-RoBERTa", "CamemBERT"), lambda h: model.lm_head(h)),
        "ALBERT": lambda h: model.predictions(h),
        "DistilBERT": lambda h: model.vocab_projector(
            model.vocab_layer_norm(torch.nn.functional.gelu(model.vocab_transform(h)))
        ),
        "ELECTRA generator": lambda h: model.generator_lm_head(model.generator_predictions(h)),
        "ELECTRA discriminator": lambda h: model.discriminator_predictions(h),
        "DeBERTa": lambda h: model.cls(h),
        "DeBERTa-v2/v3": lambda h: model.cls(h),
        "GPT-2": lambda h: model.lm_head(model.transformer.ln_f(h)),
        "ModernBERT": lambda h: model.decoder(model.head(model.model.final_norm(h))),
        "ModernBERT decoder": lambda h: model.decoder(model.lm_head(model.model.final_norm(h))),
        "EuroBERT": lambda h: model.lm_head(model.model.norm(h)),
    }
    return states, heads[loaded.architecture.family]


@torch.inference_mode()
def test_each_row_is_the_head_on_the_states_of_that_layer(opened: LoadedModel) -> None:
    """Without the last entry of hidden_states, which GPT-2 and ModernBERT have normalised already."""
    states, head = apart(opened)
    rows = lens(opened, [2, 3])
    assert len(rows) == len(states)
    for row, state in zip(rows[:-1], states[:-1], strict=True):
        assert torch.allclose(row, head(state)[0, [2, 3]], atol=1e-4)


@torch.inference_mode()
def test_the_last_state_of_gpt_2_is_not_normalised_twice(opened: LoadedModel) -> None:
    states, head = apart(opened)
    twice = torch.allclose(lens(opened, [2])[-1], head(states[-1])[0, [2]], atol=1e-3)
    assert twice == (opened.architecture.family not in ("GPT-2", "ModernBERT", "ModernBERT decoder", "EuroBERT"))


@torch.inference_mode()
def test_the_shared_model_is_left_alone(opened: LoadedModel) -> None:
    inputs = encode(opened, TEXT).inputs
    head = head_of(opened)
    before = opened.logits(head, opened.model(**inputs))
    found: list[Tensor] = []

    def look() -> None:
        with torch.inference_mode():
            found.append(lens(opened, [1]))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    during = opened.logits(head, opened.model(**inputs))
    for thread in threads:
        thread.join()
    assert torch.equal(before, during)
    assert len(found) == 4
    assert all(torch.equal(rows, found[0]) for rows in found)
