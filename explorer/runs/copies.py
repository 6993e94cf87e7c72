"""A second copy of each run's record, in a file of its own: from these a list that is damaged or gone is made again."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from explorer.runs.record import RunRecord, RunStatus

FOLDER = "records"
"""Beside the runs' folder, in which each folder is one run's."""

Row = tuple[str, str, str, float, str]
"""run_id, owner, status, created and the record as JSON: what the list holds of a run."""


class Copies:
    """Files below a data folder. One of a run that trains is written with each status and checkpoint, and not in between."""

    def __init__(self, data_folder: Path) -> None:
        self.folder = data_folder / FOLDER
        self._kept: dict[str, tuple[RunStatus, int]] = {}
        """What active runs have a copy of."""

    def keep(self, record: RunRecord, text: str) -> None:
        """Write a record, whose JSON is `text`; where that fails the list has it still."""
        state = (record.status, record.saved)
        if self._kept.get(record.run_id) == state:
            return
        if self.write(record.run_id, text) and record.status.is_active:
            self._kept[record.run_id] = state
        else:
            self._kept.pop(record.run_id, None)

    def write(self, run_id: str, text: str) -> bool:
        """Write one file, whole or not at all; whether that worked."""
        path = self.folder / f"{run_id}.json"
        part = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8")
            os.replace(part, path)
        except OSError as error:
            logging.getLogger("explorer").warning("no copy of the record of %s could be kept: %s", run_id, error)
            return False
        return True

    def forget(self, run_id: str) -> None:
        """Remove a deleted run's."""
        self._kept.pop(run_id, None)
        try:
            (self.folder / f"{run_id}.json").unlink(missing_ok=True)
        except OSError as error:
            logging.getLogger("explorer").warning("the copy of the record of %s stays: %s", run_id, error)

    def rows(self) -> Iterator[Row]:
        """All that can be read, as rows of the list."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                text = path.read_text(encoding="utf-8")
                found = json.loads(text)
                row = (path.stem, str(found["owner"]), str(found["status"]), float(found["created"]), text)
            except (OSError, ValueError, LookupError, TypeError) as error:
                logging.getLogger("explorer").warning("%s cannot be read: %s", path, error)
                continue
            yield row
