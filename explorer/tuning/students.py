"""Plans runs that answer a question about distillation together, and what a student reads; plain values, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from explorer.errors import BadInputError
from explorer.tasks.task import Example
from explorer.tuning.methods import find_method
from explorer.tuning.spec import RunSpec

WEIGHTS = (5.0, 2.0, 1.0)
"""The weights of the soft, the hard and the cosine term in DistilBERT's training code; its paper gives no weights and no T."""


@dataclass(frozen=True)
class Ablation:
    """One run of the ablation. change: in DistilBERT's GLUE average, quoted from Sanh et al. 2019, Table 4."""

    slug: str
    title: str
    spec: RunSpec
    change: float | None


@dataclass(frozen=True)
class Lesson:
    """What a student reads. labelled: the indices of the examples whose label it may see. withheld: how many labels it
    may not see.
    """

    examples: tuple[Example, ...]
    labelled: frozenset[int]
    withheld: int = 0


def lesson_of(examples: Sequence[Example], spec: RunSpec) -> Lesson:
    """Return a run's training examples, of which spec.labelled keep their label; all of them if that is 0 or not below
    their number.

    A student that learns from nothing but labels reads the labelled examples over and over, up to the number of all, so
    that students with and without a teacher take as many steps.
    """
    count = spec.labelled if find_method(spec.method).needs_teacher else 0
    if not 0 < count < len(examples):
        return Lesson(tuple(examples), frozenset(range(len(examples))))
    import numpy as np  # here, since lists of runs are read by pages and scripts that compute nothing

    # By the seed alone: two students of one seed know the same labels.
    places = sorted(np.random.default_rng(spec.seed).permutation(len(examples))[:count].tolist())
    if spec.soft_weight or spec.cosine_weight:
        return Lesson(tuple(examples), frozenset(places), len(examples) - count)
    repeated = tuple(examples[places[number % count]] for number in range(len(examples)))
    return Lesson(repeated, frozenset(range(len(repeated))), len(examples) - count)


def is_student(spec: RunSpec) -> bool:
    """Return whether a run trains a student."""
    return find_method(spec.method).is_student


def labels_only(spec: RunSpec) -> RunSpec:
    """Return the settings of the same student, trained on the labels (for a text: the hidden words) alone."""
    return replace(spec, soft_weight=0.0, hard_weight=1.0, cosine_weight=0.0)


def ablated(spec: RunSpec) -> tuple[Ablation, ...]:
    """Return the run with all three terms, then without each, then from a random start, all with one seed.

    Raises BadInputError if a term has no weight to begin with.
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
