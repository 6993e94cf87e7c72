"""Estimates what a run will cost, before it starts: parameters by group, checkpoint, memory in its parts, and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import nn

from explorer.models.loaded_model import LoadedModel
from explorer.models.timing import milliseconds
from explorer.tasks.task import CLASSES
from explorer.tuning.adapted import check_method
from explorer.tuning.counting import Sizes, count
from explorer.tuning.forks import pretrained
from explorer.tuning.kinds import kind_of
from explorer.tuning.methods import find_method
from explorer.tuning.reading import precision
from explorer.tuning.spec import RunSpec

NUMBER = 4
"""Bytes of a float32."""

ADAM_NUMBERS = 4
"""Numbers in memory for each trained parameter: itself, its gradient, and Adam's two moments."""

HALF_SHARE = 0.6
"""Activation memory under bfloat16 as a share of that in float32. The step's bfloat16 copies of the matrices come on top."""

STEP_NUMBERS = 12
"""Numbers that AdamW and gradient clipping move through memory for each trained parameter in a step."""

LAYER_SECONDS = 4e-4
"""Seconds to start one layer's operations, forward and back, however small they are."""


@dataclass(frozen=True)
class Plan:
    """The estimate. groups: trained parameters by group, largest first. total: parameters of the model with the
    adapter.

    checkpoint_bytes: what the run leaves on disk. shared_bytes: the frozen weights, held once for all runs. own_bytes:
    the trained parameters, their gradients and Adam's moments, and copies of frozen matrices if a method changes them.
    activation_bytes: what one batch keeps for the backward pass. seconds: of training, with the evaluations in between,
    from this machine's measured speed; right to a factor of about two. notes: what these settings mean on this model,
    in sentences.
    """

    groups: tuple[tuple[str, int], ...]
    total: int
    checkpoint_bytes: int
    shared_bytes: int
    own_bytes: int
    activation_bytes: int
    seconds: float
    notes: tuple[str, ...]

    @property
    def trainable(self) -> int:
        """How many parameters are trained."""
        return sum(number for _, number in self.groups)

    @property
    def share(self) -> float:
        """The trained part of the model, in [0, 1]."""
        return self.trainable / self.total

    @property
    def memory_bytes(self) -> int:
        """Weights, trained parameters and activations together."""
        return self.shared_bytes + self.own_bytes + self.activation_bytes


def plan(
    loaded: LoadedModel,
    outputs: int,
    spec: RunSpec,
    examples: int,
    mean_tokens: float,
    kind: str = CLASSES,
    held_out: int = 0,
) -> Plan:
    """Plan a run on `examples` texts of `mean_tokens` tokens on average, measured on `held_out` others of like length.

    Raises BadInputError where `adapt` would.
    """
    check_method(loaded, spec, kind)
    sizes = count(loaded.model.config, loaded.architecture.layers, outputs, spec, pretrained(loaded).keys(), kind)
    method = find_method(spec.method)
    moved = method.starts_elsewhere(spec)
    # PiSSA keeps its factors beside their starts.
    factors = sum(number for group, number in sizes.groups.items() if group.startswith("LoRA")) if moved else 0
    # It takes its factors out of W, so it needs a copy of W.
    copies = sizes.of_roles(loaded.architecture.layers.matrices(spec.targets)) if moved else 0
    virtual = spec.prefix_length if method.lengthens else 0
    tokens = spec.batch_size * (mean_tokens + virtual)
    steps = spec.epochs * -(-examples // spec.batch_size)  # -(-a // b) rounds up
    read = kind_of(spec.method, kind).measured(spec.epochs, held_out) / spec.batch_size
    return Plan(
        groups=tuple(sizes.groups.items()),
        total=sizes.total,
        checkpoint_bytes=NUMBER * (sizes.trained + factors),
        shared_bytes=loaded.bytes,
        own_bytes=NUMBER * (ADAM_NUMBERS * sizes.trained + copies),
        activation_bytes=_activations(loaded, spec, sizes, tokens),
        seconds=steps * _step_seconds(loaded, spec, sizes, tokens) + read * _reading_seconds(loaded, sizes, tokens),
        notes=tuple(_notes(loaded, spec, sizes)),
    )


def _activations(loaded: LoadedModel, spec: RunSpec, sizes: Sizes, tokens: float) -> int:
    """Return the bytes of activations: tokens x layers x hidden size x the numbers that the method keeps; none if
    nothing below the head is trained.
    """
    config, kept = loaded.model.config, find_method(spec.method).kept
    numbers = float(tokens * sizes.depth * _share(spec, sizes) * config.hidden_size * kept)
    if not _is_half(loaded.device) or not kept:
        return round(NUMBER * numbers)
    # 2: autocast's bfloat16 copies of the matrices.
    return round(NUMBER * HALF_SHARE * numbers + 2 * sum(sizes.matrices.values()))


def _share(spec: RunSpec, sizes: Sizes) -> float:
    """Return the part of the layers through which gradients go."""
    return spec.last_layers / sizes.depth if spec.last_layers else 1.0


def _step_seconds(loaded: LoadedModel, spec: RunSpec, sizes: Sizes, tokens: float) -> float:
    """Return the seconds of one step: products forward (1), back to what each layer read (1) and to the matrices if
    they are trained (1), then AdamW.
    """
    through = 1 + (find_method(spec.method).products - 1) * _share(spec, sizes)
    products, moved = _speed(loaded.device)
    body = sum(sizes.matrices.values()) * sizes.passes
    starting = float(LAYER_SECONDS * sizes.depth * through)
    # 2: a product is a multiplication and an addition.
    return 2 * tokens * body * through / products + NUMBER * STEP_NUMBERS * sizes.trained / moved + starting


def _reading_seconds(loaded: LoadedModel, sizes: Sizes, tokens: float) -> float:
    """Return the seconds of reading a batch of held-out texts, forward alone."""
    products, _ = _speed(loaded.device)
    return 2 * tokens * sum(sizes.matrices.values()) * sizes.passes / products + LAYER_SECONDS * sizes.depth


def _is_half(device: torch.device) -> bool:
    with precision(device):
        return bool(torch.is_autocast_enabled(device.type))


@lru_cache(maxsize=4)
def _speed(device: torch.device) -> tuple[float, float]:
    """Measure this machine's multiplications and additions a second in a layer's largest product, and bytes moved a second."""
    hidden, weight = torch.ones(192, 768, device=device), torch.ones(3072, 768, device=device)
    many = torch.ones(2**22, device=device)
    with torch.no_grad(), precision(device):
        (product,) = milliseconds([lambda: nn.functional.linear(hidden, weight)], device)
        (sweep,) = milliseconds([lambda: many.add_(1.0)], device)
    # 2000: two operations, or a read and a write, in milliseconds.
    return 2000 * hidden.numel() * len(weight) / product, 2000 * NUMBER * many.numel() / sweep


def _notes(loaded: LoadedModel, spec: RunSpec, sizes: Sizes) -> Iterator[str]:
    """Yield what these settings mean on this model beyond their numbers."""
    layers, family = loaded.architecture.layers, loaded.architecture.family
    method = find_method(spec.method)
    matrices = layers.matrices(spec.targets if "targets" in method.options else ("key", "value"))
    fused = next((name for name in matrices if "+" in name), None)
    if fused and method.changes_matrices and not method.whole_tensors:
        parts = fused.replace("+", ", ")
        yield f"{family} computes {parts} with one matrix, so all of them are adapted together."
    if sizes.passes > 1 and method.reaches_layers:
        yield f"{family} goes through one layer {sizes.passes} times, so what is added to it acts {sizes.passes} times too."
    if method.has_virtual_tokens:
        left = loaded.longest - spec.prefix_length
        yield f"{spec.prefix_length} of the {loaded.longest} positions are taken; a text may have {left} tokens."
    yield from method.notes(spec, layers)


@dataclass(frozen=True)
class Parts:
    """Bytes of each part. weights: the model's own, held once for all runs. copies: frozen matrices that a method
    changes at its start. parameters, gradients, moments: of what is trained. activations: what a batch keeps for the
    backward pass. checkpoint: on disk, and not in the total.
    """

    weights: int
    copies: int
    parameters: int
    gradients: int
    moments: int
    activations: int
    checkpoint: int

    @property
    def total(self) -> int:
        """The sum of all parts but the checkpoint."""
        return self.weights + self.copies + self.parameters + self.gradients + self.moments + self.activations


def parts_of(plan: Plan) -> Parts:
    """Return a plan's parts, whose total is the plan's memory_bytes."""
    trained = NUMBER * plan.trainable
    return Parts(
        weights=plan.shared_bytes,
        copies=plan.own_bytes - ADAM_NUMBERS * trained,  # own_bytes holds the trained parameters in all four forms
        parameters=trained,
        gradients=trained,
        moments=(ADAM_NUMBERS - 2) * trained,  # less the parameters and the gradients
        activations=plan.activation_bytes,
        checkpoint=plan.checkpoint_bytes,
    )
