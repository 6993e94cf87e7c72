"""SQuAD from a stand-in hub: both versions, what is kept, and what is said where there is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, disable_progress_bars

from explorer.settings import Settings
from explorer.tasks import sources
from explorer.tasks.places.hub import TaskUnavailableError
from explorer.tasks.sources import choices, load
from explorer.tasks.task import NO_ANSWER, SPAN, Example
from tests.models.fake_hub import FakeHub

ROWS: list[dict[str, Any]] = [
    {
        "question": " Who found it?",
        "context": "Ada found it.",
        "answers": {"text": ["Ada", "Ada"], "answer_start": [0, 0]},
    },
    {"question": "Where?", "context": "Ada found it.", "answers": {"text": [], "answer_start": []}},
    {"question": "Wrong?", "context": "Ada found it.", "answers": {"text": ["Ada"], "answer_start": [4]}},
]
READ = {Example("Who found it?", "Ada found it.", 0, ("Ada",)), Example("Where?", "Ada found it.", NO_ANSWER)}


@pytest.fixture
def online(settings: Settings, hub: FakeHub) -> Settings:
    sources._load.cache_clear()
    return replace(settings, hub_endpoint=hub.url, hub_timeout=20.0)


def publish(hub: FakeHub, folder: Path, repository: str, prefix: str) -> None:
    disable_progress_bars()
    Dataset.from_list([{"id": str(n), "title": "t", **row} for n, row in enumerate(ROWS)]).to_parquet(folder / "one")
    content = (folder / "one").read_bytes()
    files = {f"{prefix}/{split}-00000-of-00001.parquet": content for split in ("train", "validation")}
    hub.repositories.setdefault(f"datasets/{repository}", {}).update(files)


@pytest.mark.parametrize(
    ("name", "repository", "prefix"),
    [("squad@hub", "rajpurkar/squad_v2", "squad_v2"), ("squad1@hub", "rajpurkar/squad", "plain_text")],
)
def test_questions_arrive_and_stay(
    name: str, repository: str, prefix: str, hub: FakeHub, online: Settings, tmp_path: Path
) -> None:
    publish(hub, tmp_path, repository, prefix)
    data = load(name, online)
    assert (data.name, data.task.kind) == (name, SPAN)
    assert set(data.train) == set(data.validation["validation"]) == READ
    sources._load.cache_clear()
    hub.requests.clear()
    offline = replace(online, offline=True)
    assert load(name, offline) == data
    assert hub.requests == []
    assert [one for _, one in choices(offline) if one.endswith("@hub")] == [name]


def test_without_a_network_the_bundled_ones_are_named(online: Settings) -> None:
    with pytest.raises(TaskUnavailableError, match=r"SQuAD 2.0 could not be fetched .* take the bundled squad"):
        load("squad@hub", replace(online, offline=True))


def test_a_damaged_file_is_said_to_be_one(hub: FakeHub, online: Settings) -> None:
    files = {f"squad_v2/{split}-00000-of-00001.parquet": b"no parquet" for split in ("train", "validation")}
    hub.repositories["datasets/rajpurkar/squad_v2"] = files
    with pytest.raises(TaskUnavailableError, match="damaged or have changed"):
        load("squad@hub", online)
