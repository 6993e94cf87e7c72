"""What must hold for every family and every question."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from explorer.labs.attribution import compute
from explorer.labs.attribution.schema import (
    Asked,
    GradientParams,
    OccludeParams,
    PathParams,
    RolloutParams,
)
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import question, scores
from tests.labs.attribution.bench import CASES, Case, asked_of

BASELINES = ("mask", "pad", "zero")

Family = Callable[[str], LoadedModel]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}{'-pair' if case.second else ''}")


def asked_case(family: Family, case: Case, **changes: object) -> tuple[LoadedModel, Asked]:
    loaded = family(case.family)
    return loaded, asked_of(loaded, case.text, case.second, **changes)


def job(name: str, loaded: LoadedModel, params: object) -> Tensor:
    with torch.inference_mode():
        return torch.tensor(getattr(compute, name)(loaded, params), dtype=torch.float64)


def kept_positions(asked: Asked) -> list[int]:
    return [token.position for token in asked.tokens if token.kept]


def test_all_families_are_here() -> None:
    assert {case.family for case in CASES} == {architecture.family for architecture in ARCHITECTURES}


@every_case
def test_f_is_the_log_odds_of_the_models_own_softmax(family: Family, case: Case) -> None:
    loaded, asked = asked_case(family, case)
    encoded = encode(loaded, case.text, case.second or None)
    with torch.inference_mode():
        logits = scores(question(asked.fixed.slug), loaded, loaded.model(**encoded.inputs))[0]
    shares = logits[asked.fixed.place if len(logits) > 1 else 0].softmax(-1)
    p = float(shares[asked.fixed.target])
    assert asked.is_top == (int(shares.argmax()) == asked.fixed.target)
    assert asked.score == pytest.approx(math.log(p / (1 - p)), abs=1e-4)


@every_case
@pytest.mark.parametrize("baseline", BASELINES)
def test_integrated_gradients_are_complete(family: Family, case: Case, baseline: str) -> None:
    if case.family == "GPT-2":
        baseline = "zero"
    loaded, asked = asked_case(family, case, baseline=baseline)
    values = sum(job("path_block", loaded, PathParams(asked.fixed, 60, at, at + 20)) for at in (0, 20, 40))
    assert float(sum(values)) == pytest.approx(asked.change, abs=2e-3 * max(1, abs(asked.change)))
    assert not values[kept_positions(asked)].any(), "the baseline keeps special tokens, so nothing is theirs"
    assert values.abs().max() > 1e-4


@every_case
def test_every_layers_conductance_is_complete(family: Family, case: Case) -> None:
    loaded, asked = asked_case(family, case)
    layers = job("layers_block", loaded, PathParams(asked.fixed, 80, 0, 80))
    assert layers.shape == (depth_of(loaded.model), len(asked.tokens))
    assert asked.depth == len(layers)
    for layer in layers:
        assert float(layer.sum()) == pytest.approx(asked.change, abs=5e-3 * max(1, abs(asked.change)))
    assert not torch.allclose(layers[0], layers[1], atol=1e-5)


@every_case
def test_occlusion_is_what_comes_of_running_the_model_on_other_tokens(family: Family, case: Case) -> None:
    """With a token for a baseline, the embeddings hook and another input_ids must say the same."""
    loaded = family(case.family)
    baseline = "pad" if loaded.tokenizer.mask_token_id is None else "mask"
    if getattr(loaded.tokenizer, f"{baseline}_token_id") is None:
        pytest.skip("this family has no token that stands for nothing")
    if case.family == "RoBERTa" or case.family == "GPT-2":
        baseline = "mask"  # RoBERTa's positions skip padding
    asked = asked_of(loaded, case.text, case.second, baseline=baseline)
    groups = [(token.position,) for token in asked.tokens if not token.kept]
    falls = job("occlude_block", loaded, OccludeParams(asked.fixed, tuple(groups)))
    encoded = encode(loaded, case.text, case.second or None)
    for (position,), fall in zip(groups, falls.tolist(), strict=True):
        inputs = {name: tensor.clone() for name, tensor in encoded.inputs.items()}
        inputs["input_ids"][0, position] = getattr(loaded.tokenizer, f"{baseline}_token_id")
        with torch.inference_mode():
            logits = scores(question(asked.fixed.slug), loaded, loaded.model(**inputs))[0]
        p = float(logits[asked.fixed.place if len(logits) > 1 else 0].softmax(-1)[asked.fixed.target])
        assert asked.score - fall == pytest.approx(math.log(p / (1 - p)), abs=1e-4)


@every_case
def test_saliency_has_no_sign_and_rollout_is_a_share(family: Family, case: Case) -> None:
    loaded, asked = asked_case(family, case)
    saliency = job("gradient_block", loaded, GradientParams(asked.fixed, "saliency"))
    assert (saliency >= 0).all()
    assert saliency.max() > 0
    shares = job("rollout_block", loaded, RolloutParams(asked.fixed))
    assert len(shares) == len(asked.tokens)
    assert (shares >= 0).all()
    assert float(shares.sum()) == pytest.approx(1, abs=1e-5)


@every_case
def test_nothing_that_is_shared_is_changed(family: Family, case: Case) -> None:
    loaded, asked = asked_case(family, case)
    hooked = [hooks(module) for module in loaded.model.modules()]
    before = {name: (tensor, tensor.clone()) for name, tensor in loaded.model.state_dict(keep_vars=True).items()}
    for name, params in (
        ("path_block", PathParams(asked.fixed, 4, 0, 4)),
        ("layers_block", PathParams(asked.fixed, 4, 0, 4)),
        ("gradient_block", GradientParams(asked.fixed, "gradient_x_input")),
    ):
        job(name, loaded, params)
    for name, tensor in loaded.model.state_dict(keep_vars=True).items():
        assert tensor is before[name][0]
        assert torch.equal(tensor, before[name][1])
        assert not tensor.requires_grad
        assert tensor.grad is None
    assert [hooks(module) for module in loaded.model.modules()] == hooked


def hooks(module: nn.Module) -> int:
    return len(module._forward_hooks) + len(module._forward_pre_hooks) + len(module._backward_hooks)


def test_a_model_that_continues_a_text_is_asked_up_to_its_blank(family: Family) -> None:
    loaded = family("GPT-2")
    cut, plain = (asked_of(loaded, text, "") for text in ("the cat [MASK] on a mat.", "the cat"))
    assert [token.text for token in cut.tokens] == [token.text for token in plain.tokens]
    assert cut.score == plain.score
