"""A model that was trained from nothing, as a file."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

from explorer.errors import BadInputError
from explorer.labs.pretrain.train import TakeHomeParams
from explorer.runs.open import OpenRuns
from explorer.runs.record import RunRecord
from explorer.settings import settings
from explorer.tuning.files.zips import export_path, write_zip

OPENS = """\
from transformers import AutoModelForPreTraining, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("model")
model = AutoModelForPreTraining.from_pretrained("model")
"""
"""The two lines that open what is taken home, in its README."""


def pretrained_model(open_run: OpenRuns, params: TakeHomeParams) -> str:
    """Write a zip with the model, its tokenizer, its settings and its curves, and return its path.

    Raises BadInputError for a run of another kind, or one that has nothing to take yet.
    """
    run = open_run(params.run)
    record = run.record
    if not record.from_nothing:
        raise BadInputError(f"{record.name} did not begin from nothing; it is taken home on the Fine-tune page.")
    # The folders of the last step: ELECTRA has two models.
    folders = sorted(path for path in run.folder.glob(f"*-{record.step}") if path.is_dir())
    if not record.status.has_weights or not folders:
        raise BadInputError(
            f"{record.name} is {record.status}: there is no model to take home yet. Wait, or press Stop."
        )
    name = re.sub(r"[^A-Za-z0-9]+", "-", record.name).strip("-").lower()
    target = export_path(record.owner, record.run_id, f"{name}.zip", settings())
    files = {f"{folder.name.rsplit('-', 1)[0]}/{path.name}": path for folder in folders for path in _files(folder)}
    return str(write_zip(target, {**files, "README.md": _readme(record), "training.json": _training(record)}))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _readme(record: RunRecord) -> str:
    return f"# {record.name}\n\n{record.parameters:,} parameters, {record.step:,} steps.\n\n```python\n{OPENS}```\n"


def _training(record: RunRecord) -> str:
    curve = [{"step": step, **values} for step, values in record.evaluations]
    return json.dumps({"settings": asdict(record.spec), "steps": record.step, "measured": curve}, indent=2) + "\n"
