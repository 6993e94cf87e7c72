"""Writes train.py for settings that no run has yet: the same script as in a run's export."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import CLASSES, TaskData
from explorer.tuning.adapted import Adapted, build, check_method
from explorer.tuning.counting import empty_fork
from explorer.tuning.files.script import training_script
from explorer.tuning.forks import pretrained
from explorer.tuning.kinds import kind_of
from explorer.tuning.methods import find_method
from explorer.tuning.reading import Scale
from explorer.tuning.spec import RunSpec


@dataclass(frozen=True)
class Settings:
    """The part of a run's record that the script reads, for settings without a run."""

    name: str
    spec: RunSpec
    labels: tuple[str, ...]
    scale: tuple[float, float]
    kind: str = CLASSES


def script_of_settings(loaded: LoadedModel, data: TaskData, spec: RunSpec) -> str:
    """Return the text of train.py, from the method on a model without weights (torch's meta device); nothing is
    trained.

    Empty for a student, which needs its teacher, for PiSSA, whose start is computed from the weights, and for a run
    that starts after another. Raises BadInputError where `adapt` would.
    """
    method = find_method(spec.method)
    check_method(loaded, spec, data.task.kind)
    if method.is_student or method.starts_elsewhere(spec) or spec.after:
        return ""
    layers = loaded.architecture.layers
    fork = empty_fork(loaded.model.config, layers, data.task.outputs, spec, pretrained(loaded).keys(), data.task.kind)
    with torch.device("meta"):
        adapted = Adapted(loaded, spec, *build(fork, spec, layers), kind_of(spec.method, data.task.kind))
    # The script normalises by the mean and spread of these alone.
    labels = torch.tensor([example.label for example in data.train[: spec.examples or None]])
    scale = Scale.of(labels, data.task)
    settings = Settings(
        f"{method.title} · {data.task.title}", spec, data.task.labels, (scale.mean, scale.spread), data.task.kind
    )
    return training_script(adapted, settings, data.task.metrics)
