"""GLUE from the hub: the parquet files of nyu-mll/glue."""

from __future__ import annotations

from pathlib import Path

from explorer.settings import Settings
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.hub_files import TaskUnavailableError, are_here, fetch, rows_of
from explorer.tasks.splitting import mixed
from explorer.tasks.task import Example, Task, TaskData

REPOSITORY = "nyu-mll/glue"
UNLABELLED = -1


def load_hub_task(slug: str, settings: Settings) -> TaskData:
    """One of GLUE's tasks with all its examples; rows without a label are left out.

    Fetches what is not here yet, which takes from a second (RTE) to minutes (MNLI, 50 MB). Raises TaskUnavailableError with
    what to do where that fails.
    """
    task = find_task(slug)
    files = {split: _fetch(task, split, settings) for split in _splits(slug)}
    try:
        splits = {split: _read(task, file) for split, file in files.items()}
    except TaskUnavailableError:
        raise
    except Exception as error:  # pyarrow and datasets raise many kinds for a file that is damaged
        raise TaskUnavailableError(
            f"The hub's files of {task.title} are damaged or have changed. Take the bundled task instead."
        ) from error
    train = splits.pop("train")
    return TaskData(task, f"{slug}@hub", train, {_short(split): examples for split, examples in splits.items()})


def is_here(slug: str, settings: Settings) -> bool:
    """Whether a task's files have been fetched already; never asks the network."""
    return are_here(REPOSITORY, (_file(slug, split) for split in _splits(slug)), settings)


def _splits(slug: str) -> tuple[str, ...]:
    return ("train", "validation_matched", "validation_mismatched") if slug == "mnli" else ("train", "validation")


def _short(split: str) -> str:
    return split.removeprefix("validation_")


def _file(slug: str, split: str) -> str:
    return f"{slug}/{split}-00000-of-00001.parquet"


def _fetch(task: Task, split: str, settings: Settings) -> Path:
    try:
        return fetch(REPOSITORY, _file(task.slug, split), settings)
    except TaskUnavailableError as reason:
        raise TaskUnavailableError(
            f"GLUE's {task.title} could not be fetched from the hub: {reason}. Check the network and try again, or take the "
            f"bundled {task.slug}, which needs none."
        ) from reason


def _read(task: Task, file: Path) -> tuple[Example, ...]:
    """Rows as examples."""
    rows = rows_of(file)
    _check_classes(task, getattr(rows.features["label"], "names", None))
    first, second = (rows[column] for column in (task.columns * 2)[:2])
    labels = rows["label"]
    return mixed(
        tuple(
            Example(text, other if task.is_pair else None, float(label))
            for text, other, label in zip(first, second, labels, strict=True)
            if label != UNLABELLED
        )
    )


def _check_classes(task: Task, names: list[str] | None) -> None:
    """A changed order of the classes would turn every metric round unnoticed."""
    if names is not None and tuple(name.replace("_", " ") for name in names) != task.labels:
        raise TaskUnavailableError(
            f"The hub's {task.title} has the classes {', '.join(names)}, and not {', '.join(task.labels)} in this order. "
            "Take the bundled task instead."
        )
