"""What can be said of a run before it is queued: its task, its method on this model, and the name that it goes by."""

from __future__ import annotations

from typing import Any

from explorer.errors import BadInputError, ModelUnavailableError
from explorer.models.architectures import find_architecture
from explorer.models.hub import read_config, require_folder, unsupported
from explorer.settings import Settings
from explorer.tasks.sources import load
from explorer.tuning.methods import Method, find_method
from explorer.tuning.spec import RunSpec


def describe(spec: RunSpec, settings: Settings) -> dict[str, Any]:
    """The record's fields that come from the task and the method. Raises ExplorerError where the run cannot be had."""
    method = find_method(spec.method)
    reason = why_not(spec.model, method, settings)
    if reason is not None:
        raise BadInputError(f"{method.title} cannot be had on {spec.model}: {reason}")
    data = load(spec.task, settings)
    return {
        "name": run_name(spec, method, data.task.title.split(" · ")[0]),
        "task_title": data.task.title,
        "labels": data.task.labels,
        "metrics": data.task.metrics,
        "columns": data.task.columns,
        "notes": data.notes,
    }


def why_not(model_id: str, method: Method, settings: Settings) -> str | None:
    """Why a method cannot be had on a model; None where it can. Raises ModelUnavailableError."""
    folder = require_folder(model_id, settings)
    config = read_config(model_id, folder / "config.json")
    architecture = find_architecture(str(config.get("model_type")), config.get("architectures") or ())
    if architecture is None:
        raise ModelUnavailableError(unsupported(model_id, str(config.get("model_type"))))
    return method.unavailable(architecture, config)


def run_name(spec: RunSpec, method: Method, task_title: str) -> str:
    """A short name for lists and legends, such as `LoRA r=8 · SST-2`."""
    what = method.title
    if "rank" in method.options:
        what = f"{what if spec.variant == 'lora' else _VARIANT_TITLES[spec.variant]} r={spec.rank}"
    return f"{what} · {task_title}" + (f" · seed {spec.seed}" if spec.seed else "")


_VARIANT_TITLES = {"rslora": "rsLoRA", "dora": "DoRA", "pissa": "PiSSA"}
