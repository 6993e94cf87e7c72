"""How far each layer moves the state of each token (Lan et al. 2020, section 3.1, Figure 1)."""

from __future__ import annotations

import itertools

import torch

from explorer.engine.resources import Resources
from explorer.labs.models.movement.schema import Movement, MovementParams, MovementResult, Step
from explorer.maths.geometry import pairwise
from explorer.models.bundle import Bundle
from explorer.models.encoding import encode, with_own_mask
from explorer.models.inside import depth_of, read


def layer_movement(resources: Resources, params: MovementParams) -> MovementResult:
    """The angle and the distance between every layer's input and output. Raises BadInputError as `encode` does."""
    return MovementResult(tuple(_moved(resources.model(name), params.text) for name in params.models))


def _moved(bundle: Bundle, text: str) -> Movement:
    encoded = encode(bundle, with_own_mask(bundle.tokenizer, text))
    places = [token.position for token in encoded.tokens if token.word is not None]
    states = torch.stack(read(bundle, encoded.inputs, attentions=False).hidden_states)[:, 0, places].double().cpu()
    steps = tuple(_step(layer, *pair) for layer, pair in enumerate(itertools.pairwise(states), start=1))
    shares = getattr(bundle.model.config, "num_hidden_groups", depth_of(bundle.model)) == 1
    return Movement(bundle.model_id, shares, len(places), steps)


def _step(layer: int, before: torch.Tensor, after: torch.Tensor) -> Step:
    """before, after: (tokens, width)."""
    angles = torch.rad2deg(torch.arccos(pairwise(before, after).clamp(-1, 1)))
    distances = (after - before).norm(dim=-1)
    return Step(layer, float(angles.mean()), float(distances.mean()), float(before.norm(dim=-1).mean()))
