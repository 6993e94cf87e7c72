"""A loss in chunks is the loss at once: value, gradients and accuracy against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_embedding_loss, cross_entropy, kl_div

from explorer.objectives import losses
from explorer.objectives.electra import Sampler
from explorer.objectives.losses import TrueTokens, chunked_loss
from pretraining.objectives.distilbert import SoftTargets, cosine_distance, softened_divergence
from pretraining.recipes import DISTILBERT_MINI

ROWS, WIDTH, VOCABULARY = 23, 8, 50


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "ROWS", 4)
    monkeypatch.setattr(losses, "GATHERED", 10)


def given(bias: bool = True) -> tuple[Tensor, nn.Linear, Tensor]:
    torch.manual_seed(0)
    return torch.randn(ROWS, WIDTH, requires_grad=True), nn.Linear(WIDTH, VOCABULARY, bias), torch.randint(50, (ROWS,))


@pytest.mark.parametrize("bias", [True, False])
def test_loss_gradients_and_accuracy_are_torch_s(bias: bool) -> None:
    states, decoder, truth = given(bias)
    logits = decoder(states)
    expected = cross_entropy(logits, truth)
    expected.backward()
    wanted = [states.grad, *(parameter.grad for parameter in decoder.parameters())]
    states.grad = None
    decoder.zero_grad()
    judge = TrueTokens(truth)
    loss = chunked_loss(states, decoder, judge)
    loss.backward()
    torch.testing.assert_close(loss, expected)
    for found, other in zip([states.grad, *(p.grad for p in decoder.parameters())], wanted, strict=True):
        torch.testing.assert_close(found, other)
    assert judge.accuracy == pytest.approx(float((logits.argmax(-1) == truth).float().mean()))


def test_the_gradient_is_scaled_by_what_comes_after() -> None:
    states, decoder, truth = given()
    (3 * chunked_loss(states, decoder, TrueTokens(truth))).backward()
    tripled = states.grad
    states.grad = None
    chunked_loss(states, decoder, TrueTokens(truth)).backward()
    torch.testing.assert_close(tripled, 3 * states.grad)


def test_frozen_embeddings_get_no_gradient_and_no_rows_cost_nothing() -> None:
    states, decoder, truth = given()
    decoder.weight.requires_grad_(False)
    chunked_loss(states, decoder, TrueTokens(truth)).backward()
    assert decoder.weight.grad is None
    assert decoder.bias.grad is not None
    empty = chunked_loss(states[:0], decoder, TrueTokens(truth[:0]))
    assert float(empty) == 0.0
    assert TrueTokens(truth[:0]).accuracy == 0.0


def test_under_autocast_it_is_near_the_exact_loss() -> None:
    states, decoder, truth = given()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = chunked_loss(states, decoder, TrueTokens(truth))
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, cross_entropy(decoder(states), truth), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_the_divergence_is_torch_s_and_its_gradient_autograd_s(temperature: float) -> None:
    torch.manual_seed(0)
    student, teacher = torch.randn(ROWS, VOCABULARY, requires_grad=True), torch.randn(ROWS, VOCABULARY)
    soft, hard = (student / temperature).log_softmax(-1), (teacher / temperature).softmax(-1)
    expected = kl_div(soft, hard, reduction="sum") * temperature**2
    expected.backward()
    loss, gradient = softened_divergence(student.detach(), teacher, temperature)
    assert loss == pytest.approx(float(expected), rel=1e-4)
    torch.testing.assert_close(gradient, student.grad, atol=1e-5, rtol=1e-4)


def test_a_student_equal_to_its_teacher_has_no_divergence_and_no_distance() -> None:
    logits = torch.randn(5, VOCABULARY)
    loss, gradient = softened_divergence(logits.clone(), logits, 2.0)
    assert loss == pytest.approx(0.0, abs=1e-4)
    assert float(gradient.abs().max()) < 1e-6
    states = torch.randn(5, WIDTH)
    assert float(cosine_distance(states, states.clone())) == pytest.approx(0.0, abs=1e-6)
    assert float(cosine_distance(states, -states)) == pytest.approx(2.0, abs=1e-6)


def test_the_cosine_distance_is_torch_s_own_loss() -> None:
    ours, wanted = torch.randn(9, WIDTH), torch.randn(9, WIDTH)
    torch.testing.assert_close(cosine_distance(ours, wanted), cosine_embedding_loss(ours, wanted, torch.ones(9)))


def test_soft_targets_weigh_the_two_losses_as_the_recipe_says() -> None:
    states, decoder, truth = given()
    wanted, teacher = torch.randn(ROWS, WIDTH), nn.Linear(WIDTH, VOCABULARY).requires_grad_(False)
    judge = SoftTargets(truth, wanted, teacher, DISTILBERT_MINI)
    loss = chunked_loss(states, decoder, judge)
    loss.backward()
    found, states.grad = states.grad, None
    logits, temperature = decoder(states), DISTILBERT_MINI.temperature
    soft = kl_div(
        (logits / temperature).log_softmax(-1), (teacher(wanted) / temperature).softmax(-1), reduction="batchmean"
    )
    expected = 5.0 * temperature**2 * soft + 2.0 * cross_entropy(logits, truth)
    expected.backward()
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found, states.grad, rtol=1e-3, atol=1e-4)
    assert judge.figures["soft_loss"] == pytest.approx(float(temperature**2 * soft), rel=1e-3)
    agreed = (logits.argmax(-1) == teacher(wanted).argmax(-1)).float().mean()
    assert judge.figures["agreement_accuracy"] == pytest.approx(float(agreed))


def test_a_sampler_draws_one_token_a_row_in_the_rows_order() -> None:
    states, decoder, truth = given()
    with torch.no_grad():
        decoder.weight.zero_()
        decoder.bias.fill_(-100.0)
        decoder.bias[7] = 100.0
    judge = Sampler(truth, torch.Generator().manual_seed(0))
    chunked_loss(states, decoder, judge)
    assert judge.tokens.tolist() == [7] * ROWS
