"""Gates on heads, neurons and whole layers, and the gradient of every gate for every example from one forward and
backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from explorer.compress.cuts import Shape
from explorer.models.families import Architecture
from explorer.models.inside import gated


def gate_gradients(
    model: nn.Module,
    architecture: Architecture,
    shape: Shape,
    unit: str,
    losses: Callable[[], Tensor],
    rows: int,
    standing: dict[str, Tensor] | None = None,
) -> Tensor:
    """Return dL/dξ of each example's own loss for each unit's gate, (rows, grid rows, units); grid as in Shape.rows.

    model: a tree of the caller's own, with nothing gated. losses: runs the model on `rows` examples and returns each
    one's loss, (rows,). If one block serves several depths (ALBERT) its gate stands at each of them, so its gradient is
    the sum of theirs.

    standing: gates of parts that are removed already, by unit, as returned by explorer.compress.removal.gates_of.
    """
    device = next(model.parameters()).device
    with torch.inference_mode(False), torch.enable_grad():
        # Jobs compute in inference mode, and no gradient passes a tensor that was made there: these are copies.
        start = {name: gates.to(device).clone() for name, gates in (standing or {}).items()}
        if unit not in start:
            ones = shape.depth if unit == "layer" else (shape.depth, shape.rows(unit)[1])
            start[unit] = torch.ones(ones, device=device)
        # Every row has gates of its own, so the gradient of the losses' sum holds every example's gradient: all gates
        # from one pass (Michel et al. 2019, section 4.1: "a forward and backward pass").
        asked = start[unit].clone().expand(rows, *start[unit].shape).contiguous().requires_grad_(True)
        with ExitStack() as stack:
            gates = {**start, unit: asked}
            stack.enter_context(gated(model, architecture, gates.get("head"), gates.get("neuron")))
            if "layer" in gates:
                stack.enter_context(layers_gated(model, architecture, gates["layer"]))
            total = losses().sum()
        (found,) = torch.autograd.grad(total, asked)
    return _by_block(found.detach(), shape, unit)


def _by_block(gradients: Tensor, shape: Shape, unit: str) -> Tensor:
    """Return (rows, depth, units) summed over the depths of each block; whole layers as one row."""
    if unit == "layer":
        return gradients[:, None]
    if not shape.shared:
        return gradients
    blocks = torch.tensor([shape.block_of(depth) for depth in range(shape.depth)], device=gradients.device)
    summed = gradients.new_zeros(len(gradients), shape.blocks, gradients.shape[-1])
    return summed.index_add(1, blocks, gradients)


@contextmanager
def layers_gated(model: nn.Module, architecture: Architecture, gates: Tensor) -> Iterator[None]:
    """Replace layer(h) by h + ξ (layer(h) - h) at each depth while the context lasts: 1 leaves a layer unchanged, 0
    skips it.

    gates: (depth,), or (rows, depth) with gates for each row.
    """
    layers = architecture.layers
    count = layers.count(name for name, _ in model.named_parameters())
    gate = _LayerGate(gates)
    handles = [
        model.get_submodule(layers.name(number, "").rstrip(".")).register_forward_hook(gate, with_kwargs=True)
        for number in range(count)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class _LayerGate:
    """A hook on every layer; the k-th call of a forward pass is the k-th depth's."""

    def __init__(self, gates: Tensor) -> None:
        self.gates, self.calls = gates, 0

    def __call__(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Any) -> Any:
        before = given[0] if given else named["hidden_states"]
        gate = self.gates[..., self.calls % self.gates.shape[-1]]
        self.calls += 1
        own, *others = output if isinstance(output, tuple) else (output,)
        gate = gate.to(own).reshape(-1, *[1] * (own.ndim - 1))
        # A gate on the layer's two contributions would leave its LayerNorms behind; this one at 0 equals a removed
        # layer.
        passed = before + gate * (own - before)
        return (passed, *others) if isinstance(output, tuple) else passed
