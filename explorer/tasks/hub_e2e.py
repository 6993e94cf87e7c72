"""E2E from the hub: what its converter has made of tuetschek/e2e_nlg.

The data set's own branch holds a loading script alone, which `datasets` no longer runs. Its rows are in the branch
refs/convert/parquet, a file a split, default/<split>/0000.parquet, with the columns meaning_representation, written as in E2E's
own CSV, and human_reference: 42,061 training rows and 4,672 for validation by the data set's card. The test split is left
alone. The folders and columns are as the hub's pages list them; the files' name is the converter's for splits of one file.
"""

from __future__ import annotations

from pathlib import Path

from explorer.settings import Settings
from explorer.tasks.e2e import E2E, read_rows
from explorer.tasks.hub_files import TaskUnavailableError, are_here, fetch, rows_of
from explorer.tasks.splitting import mixed
from explorer.tasks.task import Example, Task, TaskData

REPOSITORY, BRANCH = "tuetschek/e2e_nlg", "refs/convert/parquet"
FILES = {split: f"default/{split}/0000.parquet" for split in ("train", "validation")}

TASK = Task(
    E2E.slug,
    "E2E NLG Challenge · restaurants",
    E2E.question,
    E2E.columns,
    (),
    E2E.metrics,
    "Novikova, Dušek and Rieser 2017, The E2E Dataset: New Challenges For End-to-End Generation.",
    E2E.kind,
)


def load_hub_e2e(settings: Settings) -> TaskData:
    """All its meanings, each with all its texts. Raises TaskUnavailableError with what to do where they cannot be had."""
    files = {split: _fetch(file, settings) for split, file in FILES.items()}
    try:
        splits = {split: _read(file) for split, file in files.items()}
    except Exception as error:  # pyarrow and datasets raise many kinds for a file that is damaged
        raise TaskUnavailableError(
            f"The hub's files of {TASK.title} are damaged or have changed. Take the bundled task instead."
        ) from error
    return TaskData(TASK, f"{TASK.slug}@hub", splits["train"], {"validation": splits["validation"]})


def is_here(settings: Settings) -> bool:
    """Whether its files have been fetched already; never asks the network."""
    return are_here(REPOSITORY, FILES.values(), settings, BRANCH)


def _fetch(file: str, settings: Settings) -> Path:
    try:
        return fetch(REPOSITORY, file, settings, BRANCH)
    except TaskUnavailableError as reason:
        raise TaskUnavailableError(
            f"E2E could not be fetched from the hub: {reason}. Check the network and try again, upload its csv, or take the "
            "bundled e2e, which needs none."
        ) from reason


def _read(file: Path) -> tuple[Example, ...]:
    rows = rows_of(file)
    pairs = zip(rows["meaning_representation"], rows["human_reference"], strict=True)
    return mixed(read_rows((number, *pair) for number, pair in enumerate(pairs, start=1)))
