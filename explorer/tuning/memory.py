"""Splits a plan's memory into its parts, by the formula that the plan is made with."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.tuning.plan import ADAM_NUMBERS, NUMBER, Plan


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
        copies=plan.own_bytes - ADAM_NUMBERS * trained,  # own_bytes holds the trained numbers in all four forms
        parameters=trained,
        gradients=trained,
        moments=(ADAM_NUMBERS - 2) * trained,  # less the parameters and the gradients
        activations=plan.activation_bytes,
        checkpoint=plan.checkpoint_bytes,
    )
