"""GLUE from the hub: the parquet files of nyu-mll/glue, fetched as models are and read by `datasets`."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any, cast

from explorer.errors import ExplorerError
from explorer.settings import Settings
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.splitting import mixed
from explorer.tasks.task import Example, Task, TaskData

REPOSITORY = "nyu-mll/glue"
UNLABELLED = -1


class TaskUnavailableError(ExplorerError):
    """A task's examples are not on this machine and cannot be fetched."""


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
    from huggingface_hub import try_to_load_from_cache

    found = [
        try_to_load_from_cache(REPOSITORY, _file(slug, split), cache_dir=settings.hub_cache, repo_type="dataset")
        for split in _splits(slug)
    ]
    return all(isinstance(path, str) for path in found)


def _splits(slug: str) -> tuple[str, ...]:
    return ("train", "validation_matched", "validation_mismatched") if slug == "mnli" else ("train", "validation")


def _short(split: str) -> str:
    return split.removeprefix("validation_")


def _file(slug: str, split: str) -> str:
    return f"{slug}/{split}-00000-of-00001.parquet"


def _fetch(task: Task, split: str, settings: Settings) -> Path:
    """One file, from this machine where it is here, which also needs no question whether the hub has a newer one."""
    import httpx2
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError
    from tqdm.auto import tqdm

    get = partial(
        hf_hub_download, REPOSITORY, _file(task.slug, split), repo_type="dataset", cache_dir=settings.hub_cache
    )
    try:
        return Path(get(local_files_only=True))
    except LocalEntryNotFoundError:
        if settings.offline:
            raise TaskUnavailableError(_not_here(task, "HF_HUB_OFFLINE is set")) from None
    quiet = cast("type[Any]", partial(tqdm, disable=True))
    try:
        # without a network this fails at once, where hf_hub_download tries for 23 seconds
        HfApi(endpoint=settings.hub_endpoint).dataset_info(REPOSITORY, timeout=settings.hub_timeout)
        return Path(get(endpoint=settings.hub_endpoint, etag_timeout=settings.hub_timeout, tqdm_class=quiet))
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise TaskUnavailableError(_not_here(task, _reason(error))) from error


def _reason(error: Exception) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"the hub answered with an error ({status})"
    if "No space left" in str(error):
        return "the disk is full"
    if isinstance(error, PermissionError):
        return "this server may not write to its download folder"
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "what answered is not the hub (a network's login page does that)"
    return "the connection failed or broke off"


def _not_here(task: Task, reason: str) -> str:
    return (
        f"GLUE's {task.title} could not be fetched from the hub: {reason}. Check the network and try again, or take the "
        f"bundled {task.slug}, which needs none."
    )


def _read(task: Task, file: Path) -> tuple[Example, ...]:
    """Rows as examples. `datasets` keeps a copy of what it reads, which would outlive its use: it goes to a scratch folder."""
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    with tempfile.TemporaryDirectory(prefix="explorer-glue-", ignore_cleanup_errors=True) as scratch:
        rows = Dataset.from_parquet(str(file), cache_dir=scratch, keep_in_memory=True)
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
