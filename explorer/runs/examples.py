"""The worked examples that come with the app, so that no page opens empty; `python -m explorer.runs` trains them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.models.catalog import DEFAULT_MODEL
from explorer.scratch.spec import ScratchSpec
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import WEIGHTS, ablated, labels_only

OWNER = "example"
FROM_NOTHING = {"example-nothing": "example-nothing-static"}
"""The first example of pretraining that a visitor sees: masks drawn anew each time, raced with one mask for each row."""

SEEDS_FROM_NOTHING = (1, 2)
"""The seeds with which the same race was repeated."""

RECIPES = ("example-recipe-bert", "example-recipe-roberta")
"""BERT's objective and input format in small, and RoBERTa's: a race that does not come out as published."""

LEAK = ("example-next-seen", "example-next-causal")
"""Next-token prediction without a causal mask, and with one."""

FIRST = "example-lora-8"
"""The first run that a visitor sees: LoRA with its defaults, with its history."""

OTHER_RANK, OTHER_SEED = "example-lora-64", "example-lora-8-again"
"""The runs that FIRST is compared with."""

PRAISE = "A warm, funny and moving film that I would gladly watch again."
"""The text that a run is asked about if none is given."""

ANSWERS = "example-squad"
"""A run that finds answers in a text."""

ASKED = "Who was the engineer of the Orrin Bridge?"
READ = (
    "The Orrin Bridge was opened in 1887, after nine years of work under the engineer Clara Webb. It carries a single railway "
    "track 41 metres above the river. A storm damaged two of its arches in 1931, and no train crossed it again until the spring "
    "of 1933. Since 2004 walkers may use a path beside the track."
)
"""The question and the text for ANSWERS if none is given."""


@dataclass(frozen=True)
class Worked:
    """One example. run_id: its name in links. snapshots: how many of its training's snapshots are kept.

    weights: whether they are bundled; those of full fine-tuning are as large as the model. listed: whether lists of
    runs show it, or only the page that compares many.
    """

    run_id: str
    spec: RunSpec
    snapshots: int = 1
    weights: bool = True
    listed: bool = True


_LORA = RunSpec(DEFAULT_MODEL, "sst2", "lora")


def _rank(rank: int) -> RunSpec:
    """Return the settings of a rank, with alpha twice the rank, as in the sweep."""
    return replace(_LORA, rank=rank, alpha=2.0 * rank)


BY_METHOD = {method.slug: FIRST if method.slug == "lora" else f"example-{method.slug}" for method in METHODS}
"""The example of every method, by slug."""

BY_RANK = {1: "example-lora-1", 2: "example-lora-2", 4: "example-lora-4", 8: FIRST, 64: OTHER_RANK}
"""The example of every rank of the sweep."""

RANKS, RANK_SEEDS, RANK_EPOCHS = (1, 2, 8, 64), (0, 1, 2), 10
"""The sweep over the rank: trained so long that a small rank has time to learn what a large one learns sooner."""


def of_rank(rank: int, seed: int) -> str:
    """Return the name of a run of that sweep."""
    return f"example-rank-{rank}-{seed}"


TUNED = (
    *("bert-mini", "roberta-mini", "albert-mini", "electra-mini-discriminator", "deberta-mini", "distilbert-mini"),
    "gpt2-mini",
)
"""Models of one size that are fine-tuned alike, as a yardstick that treats all of them the same."""

TUNED_ON, TUNED_SEEDS = {"sst2": 5}, (0, 1, 2)
"""Tasks with their epochs, and seeds. A second task was tried: after ten epochs of QQP-like bert-mini has 80% and albert-mini
54%, which is guessing; it measures how little 320 examples teach, and not the models."""


def of_tuned(model: str, task: str, seed: int) -> str:
    """Return the name of one of these runs."""
    return f"example-{model}-{task}-{seed}"


SEEDS = 5
"""How many seeds a comparison with and without a teacher has: one seed says little."""

_SMALL = RunSpec(
    "bert-mini",
    "sst2",
    "distill",
    teacher=FIRST,
    student_layers=3,
    start="pretrained",
    soft_weight=0.5,
    hard_weight=0.5,
)
"""A small student that starts from pretrained layers and not from its teacher's: its twin on labels alone owes the
teacher nothing.
"""


def _alone(run_id: str) -> str:
    return f"{run_id}-labels"


FEW = tuple(f"example-few-{seed}" for seed in range(SEEDS))
"""Students that know 32 labels, one for each seed."""

STUDENT = FEW[0]
"""The first student that a visitor sees."""

EVERY = ("example-student", "example-student-1", "example-student-2")
"""Students with half of the teacher's layers that know all labels, as their teacher does, one for each seed."""

KNOWN_LABELS = 32
"""How many of the 480 labels the students of FEW and of the ablation know."""

_HALF = RunSpec(DEFAULT_MODEL, "sst2", "distill", teacher=FIRST, student_layers=3)
_PAIRS = (
    *((run_id, replace(_SMALL, labelled=KNOWN_LABELS, seed=seed)) for seed, run_id in enumerate(FEW)),
    *((run_id, replace(_HALF, seed=seed)) for seed, run_id in enumerate(EVERY)),
)
_THREE_TERMS = replace(
    _HALF, labelled=KNOWN_LABELS, soft_weight=WEIGHTS[0], hard_weight=WEIGHTS[1], cosine_weight=WEIGHTS[2]
)
"""Half of the teacher's layers, since the cosine needs states of its width."""

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

COMPANIONS = {**{run_id: _alone(run_id) for run_id, _ in _PAIRS}, ON_TEXT: WORDS_ONLY}
"""The run that each student is drawn beside: the same one without a teacher's help."""

BY_ABLATION = {ablation.slug: f"example-student-{ablation.slug}" for ablation in ablated(_THREE_TERMS)}
"""The example of every line of the ablation, by slug."""

_STUDENTS = (
    *(
        Worked(name, spec, weights=False, listed=False)
        for run_id, taught in _PAIRS
        for name, spec in ((run_id, taught), (_alone(run_id), labels_only(taught)))
    ),
    Worked(ON_TEXT, _ON_TEXT, weights=False, listed=False),
    Worked(WORDS_ONLY, labels_only(_ON_TEXT), weights=False, listed=False),
    *(Worked(BY_ABLATION[one.slug], one.spec, weights=False, listed=False) for one in ablated(_THREE_TERMS)),
)

_NOTHING = ScratchSpec(steps=2500, objective="mlm", row_format="full_sentences", copies=1, keep_best=True)
_STATIC = replace(_NOTHING, masking="static")
_RECIPE = ScratchSpec(steps=8000)
_NEXT = ScratchSpec(steps=600, objective="causal", row_format="doc_sentences")


def with_seed(run_id: str, seed: int) -> str:
    """Return the name of the same example with another seed."""
    return f"{run_id}-{seed}"


WRITTEN = "example-e2e-lora"
"""The first run that a visitor sees of meanings put into words."""

_WRITTEN = RunSpec(
    "gpt2-mini", "e2e", "lora", rank=16, alpha=32.0, targets=("query", "output", "ffn_in", "ffn_out"), epochs=16
)
BY_WRITER = {
    WRITTEN: _WRITTEN,
    "example-e2e-prefix": replace(_WRITTEN, method="prefix", epochs=10),
    "example-e2e-full": replace(_WRITTEN, method="full", epochs=6),
}
"""The three ways of LoRA's Table 3, in small."""

EARLIER = "example-mnli"
"""A run that others may start from, as the papers' RTE started from MNLI."""

EXAMPLES = (
    Worked("example-nothing", _NOTHING),
    Worked("example-nothing-static", _STATIC, listed=False),
    *(
        Worked(with_seed(run_id, seed), replace(spec, seed=seed), weights=False, listed=False)
        for seed in SEEDS_FROM_NOTHING
        for run_id, spec in (("example-nothing", _NOTHING), ("example-nothing-static", _STATIC))
    ),
    Worked(RECIPES[0], _RECIPE, listed=False),
    Worked(RECIPES[1], replace(_RECIPE, objective="mlm", row_format="full_sentences"), listed=False),
    Worked(LEAK[0], replace(_NEXT, objective="no_causal_mask"), weights=False, listed=False),
    Worked(LEAK[1], _NEXT, weights=False, listed=False),
    Worked(FIRST, _LORA, snapshots=10),
    Worked(OTHER_RANK, _rank(64)),
    Worked(OTHER_SEED, replace(_LORA, seed=1)),
    *(Worked(BY_RANK[rank], _rank(rank), listed=False) for rank in (1, 2, 4)),
    *(
        Worked(BY_METHOD[method.slug], RunSpec(DEFAULT_MODEL, "sst2", method.slug), 1, method.slug != "full", False)
        for method in METHODS
        if method.slug != "lora"
    ),
    *(
        Worked(of_rank(rank, seed), replace(_rank(rank), epochs=RANK_EPOCHS, seed=seed), weights=False, listed=False)
        for seed in RANK_SEEDS
        for rank in RANKS
    ),
    *(
        Worked(
            of_tuned(model, task, seed),
            RunSpec(model, task, "full", epochs=epochs, seed=seed),
            weights=False,
            listed=False,
        )
        for seed in TUNED_SEEDS
        for task, epochs in TUNED_ON.items()
        for model in TUNED
    ),
    *_STUDENTS,
    Worked(EARLIER, replace(_LORA, task="mnli", epochs=5)),
    Worked(ANSWERS, replace(_LORA, task="squad")),
    *(Worked(run_id, spec, 1, spec.method != "full", run_id == WRITTEN) for run_id, spec in BY_WRITER.items()),
)
