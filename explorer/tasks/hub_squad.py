"""SQuAD from the hub: the parquet files of rajpurkar/squad (1.1) and rajpurkar/squad_v2 (2.0)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.settings import Settings
from explorer.tasks.hub_files import TaskUnavailableError, are_here, fetch, rows_of
from explorer.tasks.splitting import mixed
from explorer.tasks.squad import made, squad_task
from explorer.tasks.task import Example, Task, TaskData


@dataclass(frozen=True)
class Release:
    """One version on the hub: its repository, the folder of its files there, and its task."""

    repository: str
    folder: str
    task: Task


RELEASES = {
    release.task.slug: release
    for release in (
        Release(
            "rajpurkar/squad_v2",
            "squad_v2",
            squad_task(
                "squad",
                "SQuAD 2.0 · answers, or none",
                "Rajpurkar, Jia and Liang 2018, Know What You Don't Know: Unanswerable Questions for SQuAD: from Wikipedia.",
            ),
        ),
        Release(
            "rajpurkar/squad",
            "plain_text",
            squad_task(
                "squad1",
                "SQuAD 1.1 · answers",
                "Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text: paragraphs of Wikipedia.",
            ),
        ),
    )
}
"""By their names in explorer.tasks.sources, without what says that they are the hub's."""

SPLITS = ("train", "validation")


def load_hub_squad(slug: str, settings: Settings) -> TaskData:
    """One version with all its questions. Raises TaskUnavailableError with what to do where it cannot be had."""
    release = RELEASES[slug]
    files = {split: _fetch(release, split, settings) for split in SPLITS}
    try:
        splits = {split: _read(file) for split, file in files.items()}
    except Exception as error:  # pyarrow and datasets raise many kinds for a file that is damaged
        raise TaskUnavailableError(
            f"The hub's files of {release.task.title} are damaged or have changed. Take the bundled task instead."
        ) from error
    return TaskData(release.task, f"{slug}@hub", splits["train"], {"validation": splits["validation"]})


def is_here(slug: str, settings: Settings) -> bool:
    """Whether a version's files have been fetched already; never asks the network."""
    release = RELEASES[slug]
    return are_here(release.repository, (_file(release, split) for split in SPLITS), settings)


def _file(release: Release, split: str) -> str:
    return f"{release.folder}/{split}-00000-of-00001.parquet"


def _fetch(release: Release, split: str, settings: Settings) -> Path:
    try:
        return fetch(release.repository, _file(release, split), settings)
    except TaskUnavailableError as reason:
        raise TaskUnavailableError(
            f"{release.task.title.split(' · ')[0]} could not be fetched from the hub: {reason}. Check the network and try again, "
            "or take the bundled squad, which needs none."
        ) from reason


def _read(file: Path) -> tuple[Example, ...]:
    """Rows as examples; one whose answer isn't where it is said to be is left out."""
    rows = rows_of(file)
    asked = zip(rows["question"], rows["context"], rows["answers"], strict=True)
    contexts: dict[str, str] = {}  # a context stands beside each of its questions, and is kept once
    found = (
        made(question.strip(), contexts.setdefault(context, context), answers["text"], answers["answer_start"])
        for question, context, answers in asked
    )
    return mixed(tuple(one for one in found if one is not None))
