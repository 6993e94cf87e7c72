"""Checks made before a run is queued: of its task, its method on this model, its name, and the run that it starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.errors import BadInputError, ModelUnavailableError
from explorer.models.catalog import trained_id
from explorer.models.families import find_architecture
from explorer.models.folders import read_config, require_folder, unsupported
from explorer.runs.record import RunRecord
from explorer.scratch.spec import NOTHING, OBJECTIVES, ScratchSpec, no_bert
from explorer.scratch.text import read_documents
from explorer.settings import Settings
from explorer.tasks.sources import card
from explorer.tasks.task import Task, TaskData
from explorer.tuning.kinds import find_kind
from explorer.tuning.methods import Method, find_method
from explorer.tuning.spec import RunSpec


def describe(spec: RunSpec, settings: Settings) -> dict[str, Any]:
    """Return the record's fields that come from the task and the method. Raises ExplorerError if this run is not possible."""
    if isinstance(spec, ScratchSpec):
        return _describe_scratch(spec, settings)
    method = find_method(spec.method)
    reason = why_not(spec.model, method, settings)
    if reason is not None:
        raise BadInputError(f"{method.title} cannot be had on {spec.model}: {reason}")
    found = card(spec.task, settings)
    reason = why_not(spec.model, method, settings, found.task.kind)
    if reason is not None:
        raise BadInputError(f"{spec.model} cannot learn {found.task.title} by {method.title}: {reason}")
    return {
        "name": run_name(spec, method, found.task.title.split(" · ")[0]),
        "task_title": found.task.title,
        "labels": found.task.labels,
        "metrics": found.task.metrics,
        "columns": found.task.columns,
        "notes": found.notes,
        "kind": found.task.kind,
    }


def _describe_scratch(spec: ScratchSpec, settings: Settings) -> dict[str, Any]:
    """Describe a run that pretrains. Raises BadInputError for a start that is no BERT, or a text that is too short."""
    documents = read_documents(spec.task, settings)
    size = f"L={spec.layers} H={spec.hidden}"
    if spec.model != NOTHING:
        size = f"from {Path(spec.model).name}"
        config = read_config(spec.model, require_folder(spec.model, settings) / "config.json")
        if config.get("model_type") != "bert":
            raise no_bert(spec.model)
    seed = f" · seed {spec.seed}" if spec.seed else ""
    return {
        "name": f"{OBJECTIVES[spec.objective].title} · {size} · {documents.title}{seed}",
        "task_title": f"Masked words · {documents.title}",
        "metrics": ("accuracy",),
        "columns": ("text",),
    }


def settled(spec: RunSpec, teacher: RunRecord | None, settings: Settings) -> RunSpec:
    """Return a student's settings with its number of layers, once its teacher fits; those of any other run unchanged.

    Raises BadInputError for a student that has no teacher, is deeper than it, or learns another task.
    """
    method = find_method(spec.method)
    if not method.is_student:
        return spec
    if method.fills_masks:
        if spec.labelled:
            raise BadInputError(
                "On a text every hidden word is known, so labelled has no meaning there. Set it to 0, or choose a task."
            )
        return _sized(spec, depth_of_model(spec.model, settings))
    if teacher is None:
        raise BadInputError("A student needs a teacher: name a fine-tuned run, such as the worked example.")
    _check_teacher(spec, teacher, card(spec.task, settings).task)
    own = teacher.spec.model == spec.model
    depth = depth_of_model(spec.model, settings)
    # The teacher is itself a student, and shallower than the model.
    if own and find_method(teacher.spec.method).needs_teacher:
        depth = teacher.spec.student_layers
    if spec.start == "teacher" and not own:
        raise BadInputError(
            f"{teacher.name} is of {teacher.spec.model}, whose layers do not fit {spec.model}. Let the student start from its "
            "own pretrained layers (start = pretrained), or from random numbers (random)."
        )
    return _sized(spec, depth)


def _sized(spec: RunSpec, depth: int) -> RunSpec:
    if spec.student_layers > depth:
        raise BadInputError(
            f"The student would have {spec.student_layers} layers and can have at most {depth}, as its teacher has. "
            f"Take 1 to {depth}, or 0 for every second layer."
        )
    return replace(spec, student_layers=spec.student_layers or max(1, depth // 2))


def _check_teacher(spec: RunSpec, teacher: RunRecord, task: Task) -> None:
    if not teacher.status.has_weights:
        raise BadInputError(f"{teacher.name} is {teacher.status}: it cannot teach before it is done.")
    # "sst2@hub" is the bundled "sst2" with the hub's examples.
    same = teacher.spec.task.split("@")[0] == spec.task.split("@")[0]
    if not same or teacher.labels != task.labels:
        learned = ", ".join(teacher.labels) or "a score"
        raise BadInputError(
            f"{teacher.name} has learned another task ({teacher.task_title}: {learned}) than {task.title}. Choose its task, or "
            "another teacher."
        )
    if task.is_regression and spec.soft_weight and spec.soft_loss != "l2":
        raise BadInputError(
            f"{task.title} asks for a score, and one number has no soft targets: softmax makes it 1. Take soft_loss = l2."
        )


def depth_of_model(model_id: str, settings: Settings) -> int:
    """Return the number of a model's layers from its config's file, whatever its family calls it."""
    config = read_config(model_id, require_folder(model_id, settings) / "config.json")
    return int(next((config[name] for name in ("num_hidden_layers", "n_layers", "n_layer") if name in config), 12))


def heads_of_model(model_id: str, settings: Settings) -> int:
    """Return the number of attention heads in each layer of a model, from its config's file."""
    config = read_config(model_id, require_folder(model_id, settings) / "config.json")
    return int(next((config[name] for name in ("num_attention_heads", "n_heads", "n_head") if name in config), 12))


def matrices_of_model(model_id: str, settings: Settings, roles: Sequence[str] = ()) -> list[str]:
    """Return the names of the matrices that have these roles (any role if none is named) in each layer of a model,
    sorted as its updates are listed.

    Raises ModelUnavailableError.
    """
    config = read_config(model_id, require_folder(model_id, settings) / "config.json")
    architecture = find_architecture(str(config.get("model_type")), config.get("architectures") or ())
    if architecture is None:
        raise ModelUnavailableError(unsupported(model_id, str(config.get("model_type"))))
    return sorted(architecture.layers.matrices(roles))


def why_not(model_id: str, method: Method, settings: Settings, kind: str = "") -> str | None:
    """Return why a method is not possible on a model, or for a kind of task if one is named; None if it is.

    Raises ModelUnavailableError.
    """
    folder = require_folder(model_id, settings)
    config = read_config(model_id, folder / "config.json")
    architecture = find_architecture(str(config.get("model_type")), config.get("architectures") or ())
    if architecture is None:
        raise ModelUnavailableError(unsupported(model_id, str(config.get("model_type"))))
    if reason := method.unavailable(architecture, config):
        return reason
    return find_kind(kind).refuses(method, architecture) if kind else None


def check_classes(data: TaskData, labels: Sequence[float]) -> None:
    """Raise BadInputError if all training labels are of one class: a classifier would learn nothing but that class."""
    if data.task.labels and len(set(labels)) < 2:
        name = data.task.labels[int(labels[0])] if labels else "none"
        raise BadInputError(
            f"All {len(labels)} training examples are of one class ({name}). Use more examples, or a file with both."
        )


def run_name(spec: RunSpec, method: Method, task_title: str) -> str:
    """Return a short name for lists and legends, such as `LoRA r=8 · SST-2`."""
    what = method.title
    if "rank" in method.options:
        what = f"{what if spec.variant == 'lora' else _VARIANT_TITLES[spec.variant]} r={spec.rank}"
    if method.is_student:
        labels = f"{spec.labelled} labels" if spec.labelled else "labels"
        what = _student_name(spec, "hidden words" if method.fills_masks else labels)
    if spec.last_layers:
        what += f", last {spec.last_layers} layer{'s' if spec.last_layers > 1 else ''}"
    if spec.start == "random" and not method.is_student:
        what += ", random start"
    return f"{what} · {task_title}" + (f" · seed {spec.seed}" if spec.seed else "")


def _student_name(spec: RunSpec, truth: str) -> str:
    """Name a student by its layers, what it learns from, and where it starts unless from its teacher's layers."""
    soft = "soft targets" if spec.soft_loss == "kl" else "logits"
    terms = ((soft, spec.soft_weight), (truth, spec.hard_weight), ("cosine", spec.cosine_weight))
    learns = " + ".join(name for name, weight in terms if weight)
    start = {"pretrained": ", pretrained start", "random": ", random start"}.get(spec.start, "")
    return f"{spec.student_layers}-layer student, {learns}{start}"


_VARIANT_TITLES = {"rslora": "rsLoRA", "dora": "DoRA", "pissa": "PiSSA"}


# Runs that start where an earlier one ended, as the papers' MRPC, RTE and STS-B started from MNLI.
#
# RoBERTa's single-task results on these (Liu et al. 2019, section 5.1) and LoRA's (Hu et al. 2021, section 5.2; the runs marked †
# there start from the pretrained weights).


def model_of(record: RunRecord) -> str:
    """Return the id of the model that a fine-tuned run has made."""
    return trained_id(record.run_id, record.kept or record.step)


def why_no_model(record: RunRecord) -> str:
    """Return why no other run can start from this one's model; empty if one can."""
    method = find_method(record.spec.method)
    if not record.status.has_weights:
        return f"{record.name} is {record.status}. Wait until it is done, or choose another run."
    if method.unmergeable:
        return f"{record.name} cannot be merged into the model's weights: {method.unmergeable}"
    if method.is_student:
        return f"{record.name} is a student with layers of its own. Choose a run of the whole model."
    return ""


def begun_from(spec: RunSpec, facts: dict[str, Any], first: RunRecord) -> tuple[RunSpec, dict[str, Any]]:
    """Return a run's settings and described facts for a start from an earlier run's weights. Raises BadInputError if it
    can't.
    """
    own = model_of(first)
    if first.from_nothing:
        raise BadInputError(f"{first.name} has made a model of its own: choose {own} as the model instead.")
    if reason := why_no_model(first):
        raise BadInputError(reason)
    if spec.model not in (first.spec.model, own):
        raise BadInputError(
            f"{first.name} is of {first.spec.model} and not of {spec.model}. Choose its model, or another run."
        )
    if find_method(spec.method).is_student:
        raise BadInputError(
            "A student starts from its teacher, so it has no other run to start from. Leave after empty."
        )
    what, _, task = facts["name"].partition(" · ")
    name = f"{what}, after {first.task_title.split(' · ')[0].split(',')[0]} · {task}"
    return replace(spec, model=own), {**facts, "name": name}
