"""Tasks from the hub: the parquet files of GLUE, of both versions of SQuAD and of E2E, fetched as models are and read by
`datasets`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from explorer.errors import ExplorerError
from explorer.settings import Settings
from explorer.tasks.formats.e2e import E2E, read_rows
from explorer.tasks.formats.squad import made, squad_task
from explorer.tasks.given import mixed
from explorer.tasks.glue_tasks import TASKS, find_task
from explorer.tasks.task import Example, Task, TaskCard, TaskData


class TaskUnavailableError(ExplorerError):
    """Raised if a task's examples are not on this machine and cannot be fetched."""


def are_here(repository: str, files: Iterable[str], settings: Settings, branch: str = "main") -> bool:
    """Return whether files of a data set have been fetched already; never asks the network."""
    from huggingface_hub import try_to_load_from_cache

    find = partial(try_to_load_from_cache, cache_dir=settings.hub_cache, revision=branch, repo_type="dataset")
    found = [find(repository, file) for file in files]
    return all(isinstance(path, str) for path in found)


def fetch(repository: str, file: str, settings: Settings, branch: str = "main") -> Path:
    """Return one file. Raises TaskUnavailableError, whose message is the reason as part of a sentence."""
    import httpx2
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError
    from tqdm.auto import tqdm

    where = {"repo_type": "dataset", "revision": branch, "cache_dir": settings.hub_cache}
    get = partial(hf_hub_download, repository, file, **where)
    try:
        return Path(get(local_files_only=True))  # without asking the hub whether it has a newer one
    except LocalEntryNotFoundError:
        if settings.offline:
            raise TaskUnavailableError("HF_HUB_OFFLINE is set") from None
    quiet = cast("type[Any]", partial(tqdm, disable=True))
    try:
        # without a network this fails at once, where hf_hub_download tries for 23 seconds
        HfApi(endpoint=settings.hub_endpoint).dataset_info(repository, timeout=settings.hub_timeout)
        return Path(get(endpoint=settings.hub_endpoint, etag_timeout=settings.hub_timeout, tqdm_class=quiet))
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise TaskUnavailableError(_reason(error)) from error


def rows_of(file: Path) -> Any:
    """Return a file's rows as a Dataset."""
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    # `datasets` keeps a copy of what it reads, which would outlive its use.
    with tempfile.TemporaryDirectory(prefix="explorer-hub-", ignore_cleanup_errors=True) as scratch:
        return Dataset.from_parquet(str(file), cache_dir=scratch, keep_in_memory=True)


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


MARK = "@hub"
"""The ending of the name of a task from the hub."""

UNLABELLED = -1
_SPLITS = ("train", "validation")

Rows = Callable[[Any], tuple[Example, ...]]


@dataclass(frozen=True)
class Release:
    """A task on the hub.

    files: by the name of the split, the training split first. rows: returns its rows as examples. called: its name in
    sentences. instead: what to take if it is not available. listed: what a list adds to its title.
    """

    task: Task
    repository: str
    files: Mapping[str, str]
    rows: Rows
    called: str
    instead: str
    listed: str = "from the hub"
    branch: str = "main"

    @property
    def name(self) -> str:
        """The task's name in explorer.tasks.sources."""
        return f"{self.task.slug}{MARK}"


def card(name: str, settings: Settings) -> TaskCard:
    """Return a task, whose files are fetched if they are not here yet. Raises as `load` does."""
    release = _find(name)
    _fetched(release, settings)
    return TaskCard(release.task, name)


def load(name: str, settings: Settings) -> TaskData:
    """Return a task with all its examples; rows without a label are left out.

    Fetching takes from a second (RTE) to minutes (MNLI, 50 MB). Raises TaskUnavailableError with what to do if that
    fails, BadInputError for a name that the hub does not have.
    """
    release = _find(name)
    files = _fetched(release, settings)
    try:
        train, *held_out = (mixed(release.rows(rows_of(file))) for file in files)
    except TaskUnavailableError:
        raise
    except Exception as error:  # pyarrow and datasets raise many kinds for a file that is damaged
        raise TaskUnavailableError(
            f"The hub's files of {release.task.title} are damaged or have changed. Take the bundled task instead."
        ) from error
    return TaskData(release.task, name, train, dict(zip(list(release.files)[1:], held_out, strict=True)))


def choices(settings: Settings) -> list[tuple[str, str]]:
    """Return (label, name) for a list to choose from; offline only those that are on this machine."""
    listed = (release for release in RELEASES.values() if not settings.offline or is_here(release, settings))
    return [(f"{release.task.title} ({release.listed})", release.name) for release in listed]


def is_here(release: Release, settings: Settings) -> bool:
    """Return whether a task's files have been fetched already; never asks the network."""
    return are_here(release.repository, release.files.values(), settings, release.branch)


def _find(name: str) -> Release:
    slug = name.removesuffix(MARK)
    # find_task raises for an unknown slug.
    return RELEASES[slug] if slug in RELEASES else RELEASES[find_task(slug).slug]


def _fetched(release: Release, settings: Settings) -> list[Path]:
    try:
        return [fetch(release.repository, file, settings, release.branch) for file in release.files.values()]
    except TaskUnavailableError as reason:
        raise TaskUnavailableError(
            f"{release.called} could not be fetched from the hub: {reason}. Check the network and try again, {release.instead}, "
            "which needs none."
        ) from reason


def _glue(task: Task) -> Release:
    """Return a task of nyu-mll/glue."""
    splits = {"train": "train", "validation": "validation"}
    if task.slug == "mnli":
        splits = {"train": "train", "matched": "validation_matched", "mismatched": "validation_mismatched"}
    files = {name: f"{task.slug}/{split}-00000-of-00001.parquet" for name, split in splits.items()}
    instead = f"or take the bundled {task.slug}"
    return Release(
        task, "nyu-mll/glue", files, partial(_glue_rows, task), f"GLUE's {task.title}", instead, "GLUE from the hub"
    )


def _glue_rows(task: Task, rows: Any) -> tuple[Example, ...]:
    _check_classes(task, getattr(rows.features["label"], "names", None))
    # A single text is read twice, and its second copy ignored below.
    first, second = (rows[column] for column in (task.columns * 2)[:2])
    return tuple(
        Example(text, other if task.is_pair else None, float(label))
        for text, other, label in zip(first, second, rows["label"], strict=True)
        if label != UNLABELLED
    )


def _check_classes(task: Task, names: list[str] | None) -> None:
    """Raise TaskUnavailableError if the order of the classes has changed, which would turn every metric round unnoticed."""
    if names is not None and tuple(name.replace("_", " ") for name in names) != task.labels:
        raise TaskUnavailableError(
            f"The hub's {task.title} has the classes {', '.join(names)}, and not {', '.join(task.labels)} in this order. "
            "Take the bundled task instead."
        )


def _squad(repository: str, folder: str, task: Task) -> Release:
    files = {split: f"{folder}/{split}-00000-of-00001.parquet" for split in _SPLITS}
    return Release(task, repository, files, _squad_rows, task.title.split(" · ")[0], "or take the bundled squad")


def _squad_rows(rows: Any) -> tuple[Example, ...]:
    """Return SQuAD's rows as examples, without those whose answer isn't where it is said to be."""
    asked = zip(rows["question"], rows["context"], rows["answers"], strict=True)
    contexts: dict[str, str] = {}  # a context stands beside each of its questions, and is kept once
    found = (
        made(question.strip(), contexts.setdefault(context, context), answers["text"], answers["answer_start"])
        for question, context, answers in asked
    )
    return tuple(one for one in found if one is not None)


def _e2e() -> Release:
    """Return E2E: what the hub's converter has made of tuetschek/e2e_nlg, 42,061 training rows and 4,672 for validation
    by its card.
    """
    task = Task(
        *(E2E.slug, "E2E NLG Challenge · restaurants", E2E.question, E2E.columns, (), E2E.metrics),
        "Novikova, Dušek and Rieser 2017, The E2E Dataset: New Challenges For End-to-End Generation.",
        E2E.kind,
    )
    # The data set's own branch holds a loading script alone, which `datasets` no longer runs. The folders and columns
    # are as the hub's pages list them; the files' name is the converter's for splits of one file. The test split is
    # left alone.
    files = {split: f"default/{split}/0000.parquet" for split in _SPLITS}
    instead = "upload its csv, or take the bundled e2e"
    return Release(task, "tuetschek/e2e_nlg", files, _e2e_rows, "E2E", instead, branch="refs/convert/parquet")


def _e2e_rows(rows: Any) -> tuple[Example, ...]:
    pairs = zip(rows["meaning_representation"], rows["human_reference"], strict=True)
    return read_rows((number, *pair) for number, pair in enumerate(pairs, start=1))


_SQUADS = (
    _squad(
        "rajpurkar/squad_v2",
        "squad_v2",
        squad_task(
            "squad",
            "SQuAD 2.0 · answers, or none",
            "Rajpurkar, Jia and Liang 2018, Know What You Don't Know: Unanswerable Questions for SQuAD: from Wikipedia.",
        ),
    ),
    _squad(
        "rajpurkar/squad",
        "plain_text",
        squad_task(
            "squad1",
            "SQuAD 1.1 · answers",
            "Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text: paragraphs of Wikipedia.",
        ),
    ),
)

RELEASES = {release.task.slug: release for release in (*map(_glue, TASKS), *_SQUADS, _e2e())}
"""The tasks on the hub, by their slugs."""
