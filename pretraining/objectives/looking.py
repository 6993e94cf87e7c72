"""Heads of a causal model that learn where to look, so that it can go on with what it has read once.

One head looks at the token before; through it each place knows what it follows. Later heads look at the place after an
earlier token like this one: an induction head (Olsson et al. 2022). Such heads grow by themselves on billions of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

Head = tuple[int, int]
"""Layer and head, from 0."""

LEAST = 1e-6
"""Of attention, before the logarithm."""


class Looking:
    """Keeps the attention of a GPT-2's layers while it is entered."""

    def __init__(self, model: Any, before: Head, again: Sequence[Head]) -> None:
        model.set_attn_implementation("eager")  # the others return no weights
        self.model, self.before, self.again = model, before, tuple(again)
        self.attention: dict[int, Tensor] = {}
        self.hooks: list[Any] = []

    def __enter__(self) -> Looking:
        for layer in {layer for layer, _ in (self.before, *self.again)}:

            def keep(module: Any, inputs: Any, output: tuple[Tensor, Tensor], layer: int = layer) -> None:
                self.attention[layer] = output[1]

            self.hooks.append(self.model.transformer.h[layer].attn.register_forward_hook(keep))
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self.hooks:
            hook.remove()
        self.hooks, self.attention = [], {}

    def loss(self, input_ids: Tensor) -> tuple[Tensor, dict[str, float]]:
        """Return -ln of the attention that goes where it should, a mean over places and a sum over the heads, and the mean
        shares of it. input_ids: (rows, length), without padding.
        """
        layer, head = self.before
        before = self.attention[layer][:, head].diagonal(-1, 1, 2)
        wanted = what_followed(input_ids.to(before.device))
        known = wanted.any(-1)
        again = [(self.attention[layer][:, head] * wanted).sum(-1)[known] for layer, head in self.again]
        loss = _cost(before) + sum((_cost(one) for one in again), torch.zeros((), device=before.device))
        shares = [float(one.detach().mean()) for one in again]
        return loss, {"looks_before": float(before.detach().mean()), "looks_again": sum(shares) / len(shares)}


def _cost(attention: Tensor) -> Tensor:
    return -attention.clamp_min(LEAST).log().sum() / max(1, attention.numel())


def what_followed(input_ids: Tensor) -> Tensor:
    """Return where to look for the next token: (rows, length, length), true at [i, j + 1] if j came before i with the same
    token and the same next one. A place whose next token did not follow its token before has none.
    """
    same = input_ids[:, :, None] == input_ids[:, None, :]
    wanted = torch.zeros_like(same)
    wanted[:, :-1, 1:] = (same[:, :-1, :-1] & same[:, 1:, 1:]).tril(-1)
    return wanted
