"""The names and folders of models that runs of this server have made."""

from __future__ import annotations

import re
from pathlib import Path

from explorer.settings import BUNDLED_RUNS, Settings

TRAINED_FOLDER = "model"
"""What a run keeps its model in, with a hyphen and the step behind."""

_TRAINED = re.compile(r"([a-z0-9][a-z0-9-]{5,40})@(\d{1,6})")


def trained_id(run_id: str, step: int) -> str:
    """The model's name of what a run has made at a step."""
    return f"{run_id}@{step}"


def made_by(model_id: str) -> str:
    """The run that has made a model, by the model's name; empty for another model."""
    match = _TRAINED.fullmatch(model_id)
    return match[1] if match else ""


def own_folder(model_id: str, settings: Settings) -> Path:
    """Where this server writes such a model."""
    run_id, _, step = model_id.partition("@")
    return settings.data_folder / "runs" / run_id / f"{TRAINED_FOLDER}-{step}"


def trained_folder(model_id: str, settings: Settings) -> Path | None:
    """The folder of such a model; None for another name, or where its weights are gone or not written yet."""
    if not made_by(model_id):
        return None
    own = own_folder(model_id, settings)
    folders = (own, BUNDLED_RUNS / own.parent.name / own.name)
    return next((folder for folder in folders if (folder / "config.json").is_file()), None)
