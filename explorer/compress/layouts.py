"""Where a family's heads lie in its weights, beyond what explorer.models.architectures says: one entry where it differs."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedModel

from explorer.compress.cuts import Shape
from explorer.models.architectures import Architecture
from explorer.models.inside import depth_of, heads_of, modules_with_role, neurons_of


@dataclass(frozen=True)
class Layout:
    """One family's.

    by_head: a fused projection holds q, k and v side by side for each head, rather than all heads' q, then k, then v.
    beside: parameters or modules of a layer that have rows for each head besides the roles of the architecture's table.
    keeps_one: its code cannot run a layer that has no head or no neuron left, so one stays, with weights of 0.
    mixes_heads: an entry of the config which, when on, mixes heads with each other, so that none can be taken out.
    """

    by_head: bool = False
    beside: tuple[str, ...] = ()
    keeps_one: bool = False
    mixes_heads: str | None = None


_USUAL = Layout()
_IN_ATTENTION = "attention.self."

LAYOUTS = {
    "GPT-2": Layout(keeps_one=True),
    "DeBERTa": Layout(
        by_head=True,
        beside=tuple(_IN_ATTENTION + name for name in ("q_bias", "v_bias", "pos_proj", "pos_q_proj")),
        keeps_one=True,
        mixes_heads="talking_head",
    ),
    "DeBERTa-v2/v3": Layout(
        beside=tuple(_IN_ATTENTION + name for name in ("pos_key_proj", "pos_query_proj")), keeps_one=True
    ),
}


def layout_of(architecture: Architecture) -> Layout:
    """A family's layout; most have the usual one."""
    return LAYOUTS.get(architecture.family, _USUAL)


def shape_of(model: PreTrainedModel, architecture: Architecture) -> Shape:
    """How many parts a whole model has."""
    blocks = len(modules_with_role(model, architecture, "output"))
    return Shape(depth_of(model), blocks, heads_of(model), neurons_of(model))


def why_not_removed(model: PreTrainedModel, architecture: Architecture) -> str | None:
    """Why parts can be masked in a model and not taken out; None where they can."""
    switch = layout_of(architecture).mixes_heads
    if switch and getattr(model.config, switch, False):
        return f"this model mixes its heads with each other ({switch} in its config), so no head can be taken out"
    return None
