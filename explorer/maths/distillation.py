"""Knowledge distillation in formulas: soft targets, the losses between a teacher and a student, and the reason for T².

z are logits, p = softmax(z_t / T) the teacher's soft targets, q = softmax(z_s / T) the student's. All losses are means
over rows. Sources: Hinton, Vinyals and Dean 2015, section 2; Sanh et al. 2019 (DistilBERT), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, log_softmax, mse_loss


def softened(logits: Tensor, temperature: float) -> Tensor:
    """Return softmax(z / T) over the last dimension (Hinton et al., equation 1). Raises ValueError unless T is above 0."""
    return (logits / _checked(temperature)).softmax(-1)


def entropy(probabilities: Tensor) -> Tensor:
    """Return -Σ p ln p over the last dimension, in nats; 0 ln 0 is 0."""
    # Rounding may give a little below 0, and -0.0 for a sure row.
    return (-torch.xlogy(probabilities, probabilities).sum(-1)).clamp_min(0).abs()


def dark_mass(probabilities: Tensor) -> Tensor:
    """Return the probability of all classes but the likeliest: the part of a target that a hard label does not have."""
    # Summed from the small probabilities, so that it keeps its digits if one class has nearly everything.
    return probabilities.sort(-1).values[..., :-1].sum(-1)


def soft_loss(student: Tensor, teacher: Tensor, temperature: float, scaled: bool = True) -> Tensor:
    """Return T² KL(p ‖ q) of logits (rows, classes), a scalar; without the factor T² unless `scaled`."""
    T = _checked(temperature)  # noqa: N806
    p, q = log_softmax(teacher / T, -1), log_softmax(student / T, -1)
    divergence = (p.exp() * (p - q)).sum(-1).mean()
    return T**2 * divergence if scaled else divergence


def logit_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean squared difference of logits (rows, classes): what T² KL tends to, for large T, up to a factor
    and means.
    """
    return mse_loss(student, teacher)


def hard_loss(student: Tensor, targets: Tensor) -> Tensor:
    """Return -ln softmax(z_s) at the true classes; logits (rows, classes), targets (rows,) class numbers."""
    rows = torch.arange(len(targets), device=student.device)
    return -log_softmax(student, -1)[rows, targets].mean()


def cosine_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return 1 - cos of hidden states (rows, width): 0 if they point the same way, 2 if they are opposite (DistilBERT)."""
    return (1 - cosine_similarity(student, teacher, dim=-1)).mean()


def gradient_norms(
    student: Tensor, teacher: Tensor, temperatures: Sequence[float], scaled: bool = True
) -> tuple[float, ...]:
    """Return the norm of the soft loss's gradient with respect to the student's logits (classes,) at each T, by autograd."""
    norms = []
    for temperature in temperatures:
        logits = student.detach().clone().requires_grad_()
        loss = soft_loss(logits[None], teacher[None], temperature, scaled)
        (gradient,) = torch.autograd.grad(loss, logits)
        norms.append(float(gradient.norm()))
    return tuple(norms)


def gradient(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Return T (softmax(z_s / T) - softmax(z_t / T)), the gradient of T² KL in closed form (Hinton et al., equation 2
    times T²).
    """
    return temperature * (softened(student, temperature) - softened(teacher, temperature))


def gradient_limit(student: Tensor, teacher: Tensor) -> float:
    """Return the norm that T² KL's gradient tends to as T grows: of (z_s - z_t) / N, each with its mean subtracted
    (equation 4).
    """
    difference = student - teacher
    return float((difference - difference.mean()).norm() / len(difference))


def _checked(temperature: float) -> float:
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(f"the temperature must be above 0; got {temperature}")
    return temperature
