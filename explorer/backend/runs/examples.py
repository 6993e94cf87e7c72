"""The worked examples that come with the app, so that no page opens empty; `python -m explorer.backend.runs` trains them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.models.catalog import DEFAULT_MODEL
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import WEIGHTS, ablated, labels_only

OWNER = "example"
FIRST = "example-lora-8"
"""What a first visitor sees: LoRA with its defaults, with its history."""

OTHER_RANK, OTHER_SEED = "example-lora-64", "example-lora-8-again"
"""What FIRST is compared with."""

PRAISE = "A warm, funny and moving film that I would gladly watch again."
"""What a run is asked where no text is given."""


@dataclass(frozen=True)
class Worked:
    """One example. run_id: its name in links. snapshots: how many moments of its training are kept.

    weights: whether they are bundled; those of full fine-tuning are as large as the model. listed: whether lists of runs
    show it, or only the page that compares many.
    """

    run_id: str
    spec: RunSpec
    snapshots: int = 1
    weights: bool = True
    listed: bool = True


_LORA = RunSpec(DEFAULT_MODEL, "sst2", "lora")


def _rank(rank: int) -> RunSpec:
    """As the sweep does: alpha is twice the rank."""
    return replace(_LORA, rank=rank, alpha=2.0 * rank)


BY_METHOD = {method.slug: FIRST if method.slug == "lora" else f"example-{method.slug}" for method in METHODS}
"""The example of every method, by slug."""

BY_RANK = {1: "example-lora-1", 2: "example-lora-2", 4: "example-lora-4", 8: FIRST, 64: OTHER_RANK}
"""The example of every rank of the sweep."""

_STUDENT = RunSpec(DEFAULT_MODEL, "sst2", "distill", teacher=FIRST, student_layers=3)
_THREE_TERMS = replace(_STUDENT, soft_weight=WEIGHTS[0], hard_weight=WEIGHTS[1], cosine_weight=WEIGHTS[2])

STUDENT, LABELS_ONLY = "example-student", "example-student-labels"
"""A student of FIRST, and the same one without a teacher's help."""

_ON_TEXT = RunSpec(
    DEFAULT_MODEL,
    "text",
    "distill_text",
    student_layers=3,
    examples=480,
    soft_weight=0.7,
    hard_weight=0.3,
    cosine_weight=0.15,
)
ON_TEXT, WORDS_ONLY = "example-student-text", "example-student-words"
"""A student of the model itself, which learns to fill masks, and the same one on the hidden words alone."""

COMPANIONS = {STUDENT: LABELS_ONLY, ON_TEXT: WORDS_ONLY}
"""What a student is drawn beside."""

BY_ABLATION = {ablation.slug: f"example-student-{ablation.slug}" for ablation in ablated(_THREE_TERMS)}
"""The example of every line of the ablation, by slug."""

_STUDENTS = (
    Worked(STUDENT, _STUDENT, weights=False, listed=False),
    Worked(LABELS_ONLY, labels_only(_STUDENT), weights=False, listed=False),
    Worked(ON_TEXT, _ON_TEXT, weights=False, listed=False),
    Worked(WORDS_ONLY, labels_only(_ON_TEXT), weights=False, listed=False),
    *(Worked(BY_ABLATION[one.slug], one.spec, weights=False, listed=False) for one in ablated(_THREE_TERMS)),
)

EXAMPLES = (
    Worked(FIRST, _LORA, snapshots=10),
    Worked(OTHER_RANK, _rank(64)),
    Worked(OTHER_SEED, replace(_LORA, seed=1)),
    *(Worked(BY_RANK[rank], _rank(rank), listed=False) for rank in (1, 2, 4)),
    *(
        Worked(BY_METHOD[method.slug], RunSpec(DEFAULT_MODEL, "sst2", method.slug), 1, method.slug != "full", False)
        for method in METHODS
        if method.slug != "lora"
    ),
    *_STUDENTS,
)
