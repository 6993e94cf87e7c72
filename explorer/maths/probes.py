"""Linear probes: what a linear function can read from a model's states (Alain and Bengio 2017; Hewitt and Liang 2019)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

LIKE_NOTHING = 1e-6
"""Of a deviation: below it a dimension says nothing."""

STEPS, GRADIENT = 400, 1e-5
"""L-BFGS ends after so many steps, or once no entry of the gradient is larger. Held-out words are then labelled as an exact
solution would label them; tests compare with scikit-learn's."""


def standardised(training: Tensor, held_out: Tensor) -> tuple[Tensor, Tensor]:
    """Return both, (n, width) each, with mean 0 and deviation 1 of the training states in each dimension."""
    mean, deviation = training.mean(0), training.std(0, correction=0)
    deviation = torch.where(deviation > LIKE_NOTHING, deviation, torch.ones_like(deviation))
    return (training - mean) / deviation, (held_out - mean) / deviation


def fitted(states: Tensor, labels: Tensor, classes: int, penalty: float) -> tuple[Tensor, Tensor]:
    """Return W (width, classes) and b (classes,) of multinomial logistic regression.

    states: (n, width), standardised. labels: (n,) from 0. It minimises the mean cross-entropy plus penalty / 2 · ‖W‖²;
    with a penalty above 0 there is one solution, which no seed changes.
    """
    with torch.inference_mode(False), torch.enable_grad():
        states, labels = states.clone(), labels.clone()  # a gradient needs them outside of inference mode
        weight = torch.zeros(states.shape[1], classes, dtype=states.dtype, requires_grad=True)
        bias = torch.zeros(classes, dtype=states.dtype, requires_grad=True)
        solver = torch.optim.LBFGS(
            [weight, bias], max_iter=STEPS, tolerance_grad=GRADIENT, tolerance_change=0, line_search_fn="strong_wolfe"
        )

        def loss() -> float:
            solver.zero_grad()
            found = cross_entropy(states @ weight + bias, labels) + penalty / 2 * weight.square().sum()
            found.backward()
            return float(found.detach())

        solver.step(loss)
    return weight.detach(), bias.detach()
