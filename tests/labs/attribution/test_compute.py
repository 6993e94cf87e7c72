"""The methods against captum's own calls, against sums written by hand, and where the answer is known."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients, LayerConductance
from torch import Tensor

from explorer.labs.attribution import compute
from explorer.labs.attribution.schema import Asked, GradientParams, OccludeParams, PathParams, RolloutParams
from explorer.labs.attribution.scoring import Score, log_odds, rows_of_a_block
from explorer.maths.attention import rollout
from explorer.models.encoding import encode
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import question
from tests.labs.attribution.bench import asked_of, tiny

TEXT = "the cat [MASK] on a mat ."


@pytest.fixture(scope="module")
def asked(bert: LoadedModel) -> Asked:
    return asked_of(bert, TEXT)


def job(name: str, loaded: LoadedModel, params: object) -> Tensor:
    with torch.inference_mode():
        return torch.tensor(getattr(compute, name)(loaded, params), dtype=torch.float64)


def by_hand(loaded: LoadedModel, asked: Asked, embeddings: Tensor) -> Tensor:
    """f through the model's own inputs_embeds, and the log-odds from its probabilities."""
    encoded = encode(loaded, TEXT)
    rest = {name: tensor for name, tensor in encoded.inputs.items() if name != "input_ids"}
    logits = loaded.model(inputs_embeds=embeddings, **rest).prediction_logits[0, asked.fixed.place]
    p = logits.softmax(-1)[asked.fixed.target]
    return (p / (1 - p)).log()


def test_integrated_gradients_are_a_riemann_sum_written_by_hand(bert: LoadedModel, asked: Asked) -> None:
    ids = encode(bert, TEXT).input_ids
    x = bert.model.get_input_embeddings().weight[ids].detach()[None]
    baseline = torch.where(torch.tensor([token.kept for token in asked.tokens])[None, :, None], x, torch.zeros_like(x))
    total = np.zeros(x.shape[1:])
    steps = 300
    for step in range(steps):
        point = (baseline + (step + 0.5) / steps * (x - baseline)).requires_grad_()
        (gradient,) = torch.autograd.grad(by_hand(bert, asked, point), point)
        total += gradient[0].numpy() / steps
    expected = (total * (x - baseline)[0].numpy()).sum(-1)
    np.testing.assert_allclose(job("path_block", bert, PathParams(asked.fixed, 50, 0, 50)), expected, atol=1e-4)
    with torch.no_grad():
        assert float(by_hand(bert, asked, x)) == pytest.approx(asked.score, abs=1e-4)
        assert float(by_hand(bert, asked, baseline)) == pytest.approx(asked.baseline_score, abs=1e-4)


def test_blocks_together_are_captums_integrated_gradients(bert: LoadedModel, asked: Asked) -> None:
    score = Score(bert, encode(bert, TEXT), question("mask"), asked.fixed.place, asked.fixed.target)
    baseline = score.baseline("zero", [token.kept for token in asked.tokens])
    whole = IntegratedGradients(score).attribute(score.embeddings, baseline, n_steps=20)[0].sum(-1)
    parts = [job("path_block", bert, PathParams(asked.fixed, 20, at, min(at + 7, 20))) for at in range(0, 20, 7)]
    torch.testing.assert_close(torch.stack(parts).sum(0), whole.double(), atol=1e-5, rtol=1e-4)


def test_one_pass_over_all_layers_is_captums_conductance_layer_by_layer(bert: LoadedModel, asked: Asked) -> None:
    ours = torch.zeros(2, len(asked.tokens), dtype=torch.float64)
    for first in range(0, 60, 25):
        ours += job("layers_block", bert, PathParams(asked.fixed, 60, first, min(first + 25, 60)))
    score = Score(bert, encode(bert, TEXT), question("mask"), asked.fixed.place, asked.fixed.target)
    baseline = score.baseline("zero", [token.kept for token in asked.tokens])
    for layer, row in zip(score.tree.bert.encoder.layer, ours, strict=True):
        theirs = LayerConductance(score, layer).attribute(
            score.embeddings, baseline, n_steps=600, method="riemann_trapezoid"
        )
        torch.testing.assert_close(row, theirs[0].sum(-1).double(), atol=0.02 * abs(asked.change), rtol=0)


def test_the_last_layers_conductance_is_all_at_the_asked_position(bert: LoadedModel, asked: Asked) -> None:
    last = job("layers_block", bert, PathParams(asked.fixed, 40, 0, 40))[-1]
    elsewhere = torch.ones(len(last), dtype=torch.bool)
    elsewhere[asked.fixed.place] = False
    assert not last[elsewhere].any()
    assert float(last[asked.fixed.place]) == pytest.approx(asked.change, rel=0.02)


def test_gradient_methods_are_the_gradient_at_the_text(bert: LoadedModel, asked: Asked) -> None:
    ids = encode(bert, TEXT).input_ids
    x = bert.model.get_input_embeddings().weight[ids].detach()[None].requires_grad_()
    (gradient,) = torch.autograd.grad(by_hand(bert, asked, x), x)
    product = job("gradient_block", bert, GradientParams(asked.fixed, "gradient_x_input"))
    torch.testing.assert_close(product.float(), (gradient * x)[0].sum(-1).detach(), atol=1e-5, rtol=1e-3)
    length = job("gradient_block", bert, GradientParams(asked.fixed, "saliency"))
    torch.testing.assert_close(length.float(), gradient[0].norm(dim=-1), atol=1e-5, rtol=1e-3)


def test_the_rollout_is_the_row_of_the_asked_position(bert: LoadedModel, asked: Asked) -> None:
    tree = copy.deepcopy(bert.model)
    tree.set_attn_implementation("eager")
    attentions = tree(**encode(bert, TEXT).inputs, output_attentions=True).attentions
    expected = rollout([layer.detach() for layer in attentions])[-1][0, asked.fixed.place]
    torch.testing.assert_close(job("rollout_block", bert, RolloutParams(asked.fixed)).float(), expected)


def test_a_baseline_that_is_the_text_gives_zeros(bert: LoadedModel) -> None:
    only_masks = asked_of(bert, "[MASK] [MASK]", baseline="mask", target="cat")
    assert only_masks.change == pytest.approx(0, abs=1e-5)
    for name in ("path_block", "layers_block"):
        assert not job(name, bert, PathParams(only_masks.fixed, 10, 0, 10)).abs().gt(1e-6).any()


def test_occlusion_of_a_word_takes_all_its_tokens_together(bert: LoadedModel) -> None:
    asked = asked_of(bert, "cats [MASK] sitting", baseline="pad")
    words = ((1, 2), (4, 5))
    together = job("occlude_block", bert, OccludeParams(asked.fixed, words))
    encoded = encode(bert, "cats [MASK] sitting")
    assert [token.text for token in encoded.tokens][1:6] == ["cat", "##s", "[MASK]", "sit", "##ting"]
    for group, fall in zip(words, together.tolist(), strict=True):
        ids = encoded.inputs["input_ids"].clone()
        ids[0, list(group)] = bert.tokenizer.pad_token_id
        with torch.inference_mode():
            logits = bert.model(**encoded.inputs | {"input_ids": ids}).prediction_logits[0, asked.fixed.place]
        left = float(log_odds(logits[None], asked.fixed.target))
        assert asked.score - fall == pytest.approx(left, abs=1e-4)
    one_by_one = job("occlude_block", bert, OccludeParams(asked.fixed, ((1,), (2,), (4,), (5,))))
    assert not torch.allclose(together, one_by_one.unflatten(0, (2, 2)).sum(-1), atol=1e-5)


class Linear:
    """f(z) = sum of w · z + 3, of which every method must say w_i · x_i."""

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(0)
        self.embeddings = torch.randn(1, 5, 8, generator=draw)
        self.weights = torch.randn(5, 8, generator=draw)

    def __call__(self, embeddings: Tensor) -> Tensor:
        return (embeddings * self.weights).sum((1, 2)) + 3


def test_for_a_linear_function_three_methods_agree_exactly(
    bert: LoadedModel, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear = Linear()
    monkeypatch.setattr(compute, "_opened", lambda *unused: (linear, torch.zeros_like(linear.embeddings)))
    expected = (linear.embeddings[0] * linear.weights).sum(-1).double()
    groups = tuple((position,) for position in range(5))
    answers: dict[str, Any] = {
        "integrated gradients": job("path_block", bert, PathParams(asked.fixed, 4, 0, 4)),
        "gradient x input": job("gradient_block", bert, GradientParams(asked.fixed, "gradient_x_input")),
        "occlusion": job("occlude_block", bert, OccludeParams(asked.fixed, groups)),
    }
    for values in answers.values():
        torch.testing.assert_close(values, expected, atol=2e-5, rtol=1e-5)
    linear.embeddings = linear.embeddings.detach()
    saliency = job("gradient_block", bert, GradientParams(asked.fixed, "saliency"))
    torch.testing.assert_close(saliency, linear.weights.norm(dim=-1).double())


def test_log_odds_are_the_sigmoids_inverse_for_two_classes() -> None:
    logits = torch.tensor([[1.5, -0.5], [0.0, 90.0]])
    assert log_odds(logits, 0).tolist() == pytest.approx([2.0, -90.0])
    assert log_odds(logits, 1).tolist() == pytest.approx([-2.0, 90.0])


def test_longer_texts_and_larger_models_get_smaller_blocks(bert: LoadedModel, tmp_path: Any) -> None:
    rows = [rows_of_a_block(bert, length) for length in (8, 128, 512)]
    assert rows == sorted(rows, reverse=True)
    wide = tiny(tmp_path, "BERT", hidden_size=256, intermediate_size=1024, num_hidden_layers=4)
    assert 1 <= rows_of_a_block(wide, 512) < rows_of_a_block(bert, 512)


def test_many_visitors_at_once_get_their_own_answers(bert: LoadedModel) -> None:
    texts = ("the cat [MASK] on a mat .", "[MASK] cat", "the [MASK] sat , sitting on cats", "a mat [MASK] a mat")
    fixed = [asked_of(bert, text).fixed for text in texts]
    jobs: list[tuple[str, object]] = [("path_block", PathParams(each, 10, 0, 10)) for each in fixed]
    jobs += [("gradient_block", GradientParams(each, "saliency")) for each in fixed]
    jobs += [("layers_block", PathParams(each, 10, 0, 10)) for each in fixed]
    alone = [job(name, bert, params) for name, params in jobs]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            together = list(pool.map(lambda each: job(each[0], bert, each[1]), jobs))
            for one, other in zip(alone, together, strict=True):
                torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
