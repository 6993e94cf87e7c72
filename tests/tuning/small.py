"""Tasks that a tiny model learns in a second, over the few words that it knows."""

from __future__ import annotations

from itertools import islice
from random import Random

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example, Task, TaskData
from explorer.tuning.adapted import adapt
from explorer.tuning.methods import find_method
from explorer.tuning.rows import tokenise
from explorer.tuning.spec import RunSpec
from explorer.tuning.training import Training

CATS = Task("cats", "Cats", "Is there a cat?", ("text",), ("no", "yes"), ("accuracy", "f1", "matthews"), "made up")
BOTH = Task("both", "Both", "Is there a cat in both?", ("one", "two"), ("no", "yes"), ("accuracy",), "made up")
WEIGHT = Task("weight", "Weight", "How much do they weigh?", ("text",), (), ("pearson", "spearman"), "made up")
KILOS, BASKET = 10.0, 500.0
"""WEIGHT's unit: each cat adds KILOS to the BASKET's."""

_FILLERS = ("the", "sat", "on", "a", "mat", ".")


def text(draw: Random, cats: int) -> str:
    words = [*draw.choices(_FILLERS, k=draw.randint(3, 9)), *["cat"] * cats]
    draw.shuffle(words)
    return " ".join(words)


def examples(task: Task, count: int, seed: int = 0) -> tuple[Example, ...]:
    draw, made = Random(seed), []
    for number in range(count):
        if task is WEIGHT:
            cats = draw.randint(0, 4)
            made.append(Example(text(draw, cats), None, BASKET + KILOS * cats))
        elif task is BOTH:
            cats = number % 2
            made.append(Example(text(draw, cats), text(draw, cats), float(cats)))
        else:
            made.append(Example(text(draw, number % 2), None, float(number % 2)))
    return tuple(made)


def data(task: Task = CATS, train: int = 48, held_out: int = 24) -> TaskData:
    return TaskData(task, task.slug, examples(task, train, seed=1), {"validation": examples(task, held_out, seed=2)})


def training_of(loaded: LoadedModel, spec: RunSpec, task_data: TaskData) -> Training:
    """As the worker makes one."""
    adapted = adapt(loaded, task_data.task.outputs, spec)
    train, held_out = (
        tokenise(loaded, part, adapted.longest) for part in (task_data.train, task_data.validation["validation"])
    )
    rate = spec.learning_rate or find_method(spec.method).learning_rate
    return Training(adapted, task_data.task, train, held_out, spec, rate)


def losses(training: Training, steps: int | None = None) -> list[float]:
    return [update.loss for update in islice(training.updates(), steps)]
