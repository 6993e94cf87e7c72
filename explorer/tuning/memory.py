"""A plan's memory in its parts, by the formula that the plan is made with."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.tuning.plan import ADAM_NUMBERS, NUMBER, Plan


@dataclass(frozen=True)
class Parts:
    """Bytes. weights: the model's own, held once for all runs. copies: frozen matrices that a method changes at its start.
    parameters, gradients, moments: of what is trained. activations: what a batch keeps for the backward pass. checkpoint: on
    disk, and in no sum."""

    weights: int
    copies: int
    parameters: int
    gradients: int
    moments: int
    activations: int
    checkpoint: int

    @property
    def total(self) -> int:
        """All but the checkpoint."""
        return self.weights + self.copies + self.parameters + self.gradients + self.moments + self.activations


def parts_of(plan: Plan) -> Parts:
    """Their total is the plan's memory_bytes."""
    trained = NUMBER * plan.trainable
    return Parts(
        weights=plan.shared_bytes,
        copies=plan.own_bytes - ADAM_NUMBERS * trained,
        parameters=trained,
        gradients=trained,
        moments=(ADAM_NUMBERS - 2) * trained,
        activations=plan.activation_bytes,
        checkpoint=plan.checkpoint_bytes,
    )
