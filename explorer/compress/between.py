"""Trains a model a little between two prunings, in weights of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.compress.cuts import Cut
from explorer.compress.removal import masked
from explorer.compress.subject import Subject
from explorer.errors import BadInputError
from explorer.models.shortening import put
from explorer.tuning.forks import own
from explorer.tuning.rows import epoch_batches
from explorer.tuning.training import LARGEST_NORM

RATE = 5e-5
BATCH = 16


def trained(
    subject: Subject,
    cut: Cut,
    weights: Mapping[str, Tensor],
    steps: int,
    round_: int,
    gone: Mapping[str, Tensor] | None = None,
) -> tuple[dict[str, Tensor], float]:
    """Train the layers for a few steps with the parts of a cut gated to 0. Returns their weights, and the mean loss of
    the steps.

    weights: what an earlier call returned, empty at first. Plain AdamW at 5e-5 on batches of 16 of the examples on
    which importance is measured. round_: the number of the pruning step before it, so that each round sees other
    batches. gone: masks of single weights, by parameter, which are 0 and stay so. The subject is not changed. Raises
    BadInputError if the training diverges.
    """
    with torch.inference_mode(False), torch.enable_grad():
        tree = with_weights(subject, weights)
        names = [name for name, _ in tree.named_parameters() if name.startswith(_layers_of(subject))]
        own(tree, names)
        parameters = [tree.get_parameter(name).requires_grad_(True) for name in names]
        optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0, fused=parameters[0].is_cpu or None)
        losses: list[float] = []
        with masked(tree, subject.loaded.architecture, cut, subject.shape):
            for places in _batches(subject, steps, round_):
                with subject.precision():
                    loss = subject.losses(tree, places, "labels").mean()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                # Without a gradient, and without weight decay, AdamW leaves a 0 at 0.
                for name, mask in (gone or {}).items():
                    tree.get_parameter(name).grad.masked_fill_(mask, 0.0)  # type: ignore[union-attr]
                nn.utils.clip_grad_norm_(parameters, LARGEST_NORM)
                optimizer.step()
                losses.append(float(loss.detach()))
        if not all(bool(parameter.isfinite().all()) for parameter in parameters):
            raise BadInputError("The training between the steps diverged. Use fewer training steps, or none.")
        return {name: tree.get_parameter(name).detach() for name in names}, sum(losses) / len(losses)


def _layers_of(subject: Subject) -> str:
    layers = subject.loaded.architecture.layers
    return layers.name(0, "").split(".0.")[0] + "."


def _batches(subject: Subject, steps: int, round_: int) -> Iterator[list[int]]:
    """Yield batches of endless epochs, `steps` of them."""
    lengths, done, epoch = subject.examples.rows.lengths, 0, 0
    while True:
        for places in epoch_batches(lengths, BATCH, round_, epoch):
            if done == steps:
                return
            done += 1
            yield places
        epoch += 1


def with_weights(subject: Subject, weights: Mapping[str, Tensor]) -> PreTrainedModel:
    """Return the subject's model in modules of the caller's own, with these parameters in place of its own."""
    tree = subject.tree()
    for name, tensor in weights.items():
        put(tree, name, nn.Parameter(tensor, requires_grad=False))
    return tree
