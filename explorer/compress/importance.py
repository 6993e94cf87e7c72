"""Measures the importance of a subject's heads, neurons, layers or single weights, on its examples; and sets single weights to
0, after which the model keeps its shape, and its file its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.compress.between import with_weights
from explorer.compress.cuts import Cut
from explorer.compress.gates import gate_gradients
from explorer.compress.removal import gates_of
from explorer.compress.subject import TOKENS_AT_ONCE, Subject
from explorer.maths.importance import SCORES, Sums, lowest, sums
from explorer.models.shortening import put
from explorer.tuning.rows import ordered_batches

WEIGHT_BATCH = 16
MOVEMENT_RATE = 1e-3
"""The learning rate of the plain gradient steps over which movement is summed."""

ROLES = ("query", "key", "value", "output", "ffn_in", "ffn_out")


def unit_sums(
    subject: Subject,
    unit: str,
    loss: str,
    start: int,
    stop: int,
    cut: Cut | None = None,
    model: nn.Module | None = None,
) -> Sums:
    """Return sums of |dL/dξ| over the examples from `start` to `stop`, for every gate of a unit (head, neuron or
    layer).

    Their shape is (grid rows, units); they are float64 on the CPU. cut: what is removed already. model: the subject's
    if None.
    """
    cut, shape = cut or Cut(), subject.shape
    standing = {kind: gates_of(cut, kind, shape) for kind in ("head", "neuron", "layer") if any(cut.of(kind))}
    tree = subject.tree() if model is None else model
    found: Sums | None = None
    for places in ordered_batches(subject.examples.rows.lengths[start:stop], TOKENS_AT_ONCE):
        chosen = [start + place for place in places]
        gradients = gate_gradients(
            tree,
            subject.loaded.architecture,
            shape,
            unit,
            lambda chosen=chosen: _losses(subject, tree, chosen, loss),  # type: ignore[misc]
            len(chosen),
            standing,
        )
        part = sums(gradients.cpu())
        found = part if found is None else found + part
    assert found is not None
    return found


def _losses(subject: Subject, model: nn.Module, places: list[int], loss: str) -> Tensor:
    with subject.precision():
        return subject.losses(model, places, loss)


Weights = dict[tuple[int, str], Tensor]
"""A tensor for each weight matrix, by (block, name of its roles), in its module's orientation."""


def matrices_of(subject: Subject, model: nn.Module) -> dict[tuple[int, str], str]:
    """Return the names of the modules that hold a model's weight matrices, block by block."""
    layers = subject.loaded.architecture.layers
    return {
        place: name if hasattr(module, "weight") else f"{name}.base_layer"  # an adapter of its own stands around it
        for name, module in model.named_modules()
        if (place := layers.locate(name)) is not None
    }


def weight_scores(
    subject: Subject, score: str, loss: str, examples: int
) -> tuple[Weights, dict[tuple[int, str], float]]:
    """Return a score for every single weight of the layers' matrices, and the standard error of each matrix's mean.

    score: one of SCORES that weights can have. Gradients are of batches of 16; the errors are over batches, and there
    are none if no gradient is read or if they are summed while the weights change.
    """
    by = SCORES[score]
    tree = subject.tree().requires_grad_(False)
    modules = {place: tree.get_submodule(name) for place, name in matrices_of(subject, tree).items()}
    if by.of_weights is not None:
        return {place: by.of_weights(module.get_parameter("weight").detach()) for place, module in modules.items()}, {}
    assert by.of_gradients is not None
    owned = {place: _own_weight(module, by.while_training) for place, module in modules.items()}
    total: Weights = {}
    means: dict[tuple[int, str], list[float]] = {place: [] for place in owned}
    for gradients in _batch_gradients(subject, tree, owned, loss, examples):
        for (place, weight), gradient in zip(owned.items(), gradients, strict=True):
            with torch.no_grad():
                part = by.of_gradients(weight.detach(), gradient)
                total[place] = part if place not in total else total[place].add_(part)
                means[place].append(float(part.mean()))
                if by.while_training:
                    # Movement sums over the steps of a training, so each gradient has to be that of moved weights.
                    weight.sub_(MOVEMENT_RATE * gradient)
    batches = len(next(iter(means.values())))
    if by.while_training:
        return total, {}
    errors = {place: float(torch.tensor(values).std() / batches**0.5) for place, values in means.items() if batches > 1}
    return {place: values / batches for place, values in total.items()}, errors


def _own_weight(module: nn.Module, copied: bool) -> nn.Parameter:
    """Return a weight whose gradient may be asked for, in the caller's own tree; a copy if it will be changed."""
    value = module.get_parameter("weight").detach()
    parameter = nn.Parameter(value.clone() if copied else value, requires_grad=True)
    put(module, "weight", parameter)
    return parameter


def _batch_gradients(
    subject: Subject, tree: nn.Module, owned: dict[tuple[int, str], nn.Parameter], loss: str, examples: int
) -> Iterator[tuple[Tensor, ...]]:
    """Yield dL/dw of each batch's mean loss."""
    count = min(examples, len(subject.examples))
    for start in range(0, count, WEIGHT_BATCH):
        places = list(range(start, min(start + WEIGHT_BATCH, count)))
        with torch.inference_mode(False), torch.enable_grad():
            yield torch.autograd.grad(_losses(subject, tree, places, loss).mean(), list(owned.values()))


def block_names(subject: Subject) -> tuple[str, ...]:
    """Return the names of one block's matrices, in the order of ROLES; a fused one once."""
    return tuple(subject.loaded.architecture.layers.matrices(ROLES))


Masks = dict[str, Tensor]
"""True where a weight is removed, by the name of its matrix's parameter."""


@torch.no_grad()
def weights_gone(
    subject: Subject,
    scores: Mapping[tuple[int, str], Tensor],
    share: float,
    order: str = "least",
    seed: int = 0,
    before: Mapping[str, Tensor] | None = None,
) -> Masks:
    """Choose which of the layers' weights go, so that a share of them is gone.

    before: what is gone already, and stays so whatever its score is now.
    """
    names = {f"{name}.weight": place for place, name in matrices_of(subject, subject.model).items()}
    # One threshold over all matrices: the lowest scores of the whole model go, wherever they are.
    flat = torch.cat([scores[place].flatten() for place in names.values()])
    if order == "random":
        flat = torch.rand(flat.shape, generator=torch.Generator().manual_seed(seed)).to(flat.device)
    elif order == "most":
        flat = -flat
    if before:
        flat = flat.masked_fill(torch.cat([before[name].flatten() for name in names]), -torch.inf)
    gone = lowest(flat, round(share * flat.numel())).split([scores[place].numel() for place in names.values()])
    return {name: part.view_as(scores[place]) for (name, place), part in zip(names.items(), gone, strict=True)}


@torch.no_grad()
def zeroed(subject: Subject, gone: Masks) -> dict[str, Tensor]:
    """Return the matrices of a subject's model with these weights at 0."""
    return {name: subject.model.get_parameter(name).detach().masked_fill(mask, 0.0) for name, mask in gone.items()}


def without_weights(subject: Subject, gone: Masks) -> PreTrainedModel:
    """Return the model with these weights at 0, in modules of its own."""
    return with_weights(subject, zeroed(subject, gone))


def share_gone(gone: Masks) -> float:
    """Return the share of the matrices' weights that is gone."""
    return sum(int(mask.sum()) for mask in gone.values()) / sum(mask.numel() for mask in gone.values())
