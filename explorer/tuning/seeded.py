"""Random numbers that depend on a run's seed alone, however many runs start and train in other threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode


class Seeded(TorchDispatchMode):
    """Inside `with Seeded(seed):` every random operation of this thread draws from generators of its own.

    The libraries that initialise weights (transformers, peft) draw from torch's global generator, which all threads
    share. This hands their operations another one, without touching the global one's state; other threads notice
    nothing. Raises RuntimeError for an operation that takes no generator.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation of torch, with this run's generator if it is random."""
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **kwargs)
        tensor = next((value for value in args if isinstance(value, Tensor)), None)
        device = tensor.device if tensor is not None else torch.device(kwargs.get("device") or "cpu")
        if device.type == "meta":  # meta tensors have no values to draw
            return func(*args, **kwargs)
        return _taking_generator(func)(*args, **{**kwargs, "generator": self._generator(device)})

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


def _taking_generator(func: Any) -> Any:
    """Return the form of an operation that takes a generator: randn.default has none, randn.generator is the same with one."""
    if any(argument.name == "generator" for argument in func._schema.arguments):
        return func
    name = "generator" if func._overloadname == "default" else f"{func._overloadname}_generator"
    if name not in func.overloadpacket.overloads():
        raise RuntimeError(f"{func} cannot be given a generator, so its result would depend on other threads.")
    return getattr(func.overloadpacket, name)


class SeededDropout(nn.Module):
    """Dropout whose mask is drawn from a generator of its own, so that a run does not depend on what runs beside it."""

    def __init__(self, p: float, seed: int) -> None:
        super().__init__()
        self.p = p
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def restart(self, *key: int) -> None:
        """Reseed the mask from these numbers, so that a resumed run draws the same masks."""
        self._seed = int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0])
        self._generators.clear()

    def forward(self, x: Tensor) -> Tensor:
        """Return x; while training, zero each entry with probability p and divide the others by 1 - p."""
        if not self.training or self.p == 0:
            return x
        if x.device not in self._generators:
            self._generators[x.device] = torch.Generator(x.device).manual_seed(self._seed)
        kept = torch.empty_like(x).bernoulli_(1 - self.p, generator=self._generators[x.device])
        return x * kept / (1 - self.p)
