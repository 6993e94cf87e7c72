"""Teachers, students and their trainings, tiny; nobody but the student may change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from explorer.models.families import ARCHITECTURES
from explorer.tasks.task import TaskData
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.distilling import Teaching, take_layers
from explorer.tuning.merging import merged
from explorer.tuning.reading import Scale
from explorer.tuning.rows import tokenise
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import lesson_of
from explorer.tuning.training import Training
from tests.tuning.samples import frozen_copy, is_unchanged, moved, tiny_loaded

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
SPEC = RunSpec("tiny", method="distill", teacher="r0", student_layers=1, epochs=2, learning_rate=1e-3)
WITH_COSINE = {"soft_weight": 5.0, "hard_weight": 2.0, "cosine_weight": 1.0}


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """Neither the shared model nor its teacher changes, whatever a test does."""
    loaded, teacher = tiny_loaded("BERT"), teacher_of()
    before, theirs = frozen_copy(loaded), teacher.state()
    yield
    assert is_unchanged(loaded, before)
    assert all(torch.equal(value, theirs[name]) for name, value in teacher.state().items())
    assert all(weight.grad is None for weight in teacher.model.parameters())


_TEACHERS: dict[tuple[str, str, int], Adapted] = {}


def teacher_of(family: str = "BERT", method: str = "lora", outputs: int = 2) -> Adapted:
    key = (family, method, outputs)
    if key not in _TEACHERS:
        _TEACHERS[key] = moved(tiny_loaded(family), method, outputs, rank=4, bottleneck=8)
    return _TEACHERS[key]


def student_of(spec: RunSpec = SPEC, family: str = "BERT", outputs: int = 2) -> Adapted:
    return adapt(tiny_loaded(family), outputs, spec)


def training_of(
    spec: RunSpec, task_data: TaskData, teacher: Adapted | None = None, scale: Scale | None = None
) -> Training:
    """As the worker makes one."""
    task, held_out = task_data.task, task_data.validation["validation"]
    lesson = lesson_of(task_data.train, spec)
    chosen = lesson.examples
    teacher = teacher or teacher_of(outputs=task.outputs)
    student = student_of(spec, outputs=task.outputs)
    if spec.start == "teacher":
        take_layers(student, merged(teacher))
    train, rows = (tokenise(student.loaded, part) for part in (chosen, held_out))
    own = Scale.of(train.labels[sorted(lesson.labelled)], task)
    teaching = Teaching(teacher, task, scale or own, own, spec, lesson.labelled)
    list(teaching.ask(chosen))
    teaching.judge(rows, held_out)
    return Training(student, task, train, rows, spec, spec.learning_rate or 1e-3, teaching)


def hard_training(spec: RunSpec, task_data: TaskData) -> Training:
    """The same student on labels alone, without a teacher in sight."""
    student = student_of(spec, outputs=task_data.task.outputs)
    if spec.start == "teacher":
        take_layers(student, merged(teacher_of(outputs=task_data.task.outputs)))
    train, held_out = (tokenise(student.loaded, part) for part in (task_data.train, task_data.validation["validation"]))
    return Training(student, task_data.task, train, held_out, spec, spec.learning_rate or 1e-3)


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
