"""Which runs answer a question about distillation together; plain values, without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.errors import BadInputError
from explorer.tuning.methods import find_method
from explorer.tuning.spec import RunSpec

WEIGHTS = (5.0, 2.0, 1.0)
"""Of the soft, the hard and the cosine term in DistilBERT's training code; its paper gives no weights and no T."""


@dataclass(frozen=True)
class Ablation:
    """One run of the ablation. change: of DistilBERT's GLUE average, quoted from Sanh et al. 2019, Table 4."""

    slug: str
    title: str
    spec: RunSpec
    change: float | None


def is_student(spec: RunSpec) -> bool:
    """Whether a run trains a student."""
    return find_method(spec.method).is_student


def labels_only(spec: RunSpec) -> RunSpec:
    """The same student, trained on the labels (on a text: the hidden words) alone."""
    return replace(spec, soft_weight=0.0, hard_weight=1.0, cosine_weight=0.0)


def ablated(spec: RunSpec) -> tuple[Ablation, ...]:
    """The run with all three terms, then without each, then from a random start, all with one seed.

    Raises BadInputError where a term has no weight to begin with.
    """
    if not (spec.soft_weight and spec.hard_weight and spec.cosine_weight):
        raise BadInputError(
            "The ablation leaves out each term once, so all three need a weight above 0, such as 5, 2, 1."
        )
    truth = "labels" if spec.teacher else "hidden words"
    return (
        Ablation("all", "all three terms", spec, None),
        Ablation("no-soft", "without the soft targets", replace(spec, soft_weight=0.0), -2.96),
        Ablation("no-cosine", "without the cosine", replace(spec, cosine_weight=0.0), -1.46),
        Ablation("no-hard", f"without the {truth}", replace(spec, hard_weight=0.0), -0.31),
        Ablation("random", "random start", replace(spec, start="random"), -3.69),
    )
