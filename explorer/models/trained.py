"""The names and folders of models that runs of this server have made."""

from __future__ import annotations

import re
from pathlib import Path

from explorer.settings import BUNDLED_RUNS, Settings

TRAINED_FOLDER = "model"
"""The folder in which a run keeps its model, followed by a hyphen and the step."""

_TRAINED = re.compile(r"([a-z0-9][a-z0-9-]{5,40})@(\d{1,6})")


def trained_id(run_id: str, step: int) -> str:
    """Return the id of the model that a run has made at a step."""
    return f"{run_id}@{step}"


def made_by(model_id: str) -> str:
    """Return the run that has made a model, by the model's id; empty for another model."""
    match = _TRAINED.fullmatch(model_id)
    return match[1] if match else ""


def own_folder(model_id: str, settings: Settings) -> Path:
    """Return the folder to which this server writes such a model."""
    run_id, _, step = model_id.partition("@")
    return settings.data_folder / "runs" / run_id / f"{TRAINED_FOLDER}-{step}"


def trained_folder(model_id: str, settings: Settings) -> Path | None:
    """Return the folder of such a model; None for another id, or if its weights are gone or not written yet."""
    if not made_by(model_id):
        return None
    own = own_folder(model_id, settings)
    folders = (own, BUNDLED_RUNS / own.parent.name / own.name)
    return next((folder for folder in folders if (folder / "config.json").is_file()), None)
