"""E2E from a stand-in hub: what its converter's branch holds, what is kept, and what is said where there is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from datasets import Dataset, disable_progress_bars

from explorer.settings import Settings
from explorer.tasks import sources
from explorer.tasks.places.hub import TaskUnavailableError
from explorer.tasks.sources import kind_of, load, written_choices
from explorer.tasks.task import WRITTEN, Example
from tests.models.fake_hub import FakeHub

ROWS = [
    {
        "meaning_representation": "name[Bar Olmo], eatType[pub], familyFriendly[yes]",
        "human_reference": "Olmo is a pub.",
    },
    {"meaning_representation": "name[Bar Olmo], eatType[pub], familyFriendly[yes]", "human_reference": "A pub: Olmo."},
    {"meaning_representation": "name[Vento], priceRange[less than £20]", "human_reference": "Vento is cheap."},
]
READ = {
    Example("name : Bar Olmo | Type : pub | family friendly : yes", None, 0.0, ("Olmo is a pub.", "A pub: Olmo.")),
    Example("name : Vento | price : less than £20", None, 0.0, ("Vento is cheap.",)),
}


@pytest.fixture
def online(settings: Settings, hub: FakeHub) -> Settings:
    sources._load.cache_clear()
    return replace(settings, hub_endpoint=hub.url, hub_timeout=20.0)


def publish(hub: FakeHub, content: bytes) -> None:
    files = {f"default/{split}/0000.parquet": content for split in ("train", "validation", "test")}
    hub.repositories["datasets/tuetschek/e2e_nlg"] = {"e2e_nlg.py": b"raise SystemExit", "README.md": b"E2E"}
    hub.repositories["datasets/tuetschek/e2e_nlg@refs/convert/parquet"] = files


def test_meanings_arrive_with_all_their_texts_and_stay(hub: FakeHub, online: Settings, tmp_path: Path) -> None:
    disable_progress_bars()
    Dataset.from_list(ROWS).to_parquet(tmp_path / "one")
    publish(hub, (tmp_path / "one").read_bytes())
    data = load("e2e@hub", online)
    assert (data.name, data.task.kind, kind_of("e2e@hub", online)) == ("e2e@hub", WRITTEN, WRITTEN)
    assert set(data.train) == set(data.validation["validation"]) == READ
    assert not any("test/" in request.path or request.path.endswith(".py") for request in hub.requests)
    sources._load.cache_clear()
    hub.requests.clear()
    offline = replace(online, offline=True)
    assert load("e2e@hub", offline) == data
    assert hub.requests == []
    assert [name for _, name in written_choices(offline)] == ["e2e", "e2e@hub"]


def test_without_a_network_the_bundled_one_is_named(online: Settings) -> None:
    offline = replace(online, offline=True)
    with pytest.raises(TaskUnavailableError, match=r"HF_HUB_OFFLINE is set.* take the bundled e2e"):
        load("e2e@hub", offline)
    assert [name for _, name in written_choices(offline)] == ["e2e"]


@pytest.mark.parametrize("rows", [None, [{"mr": "name[Vento]", "ref": "Vento."}]])
def test_a_file_of_another_kind_is_said_to_be_one(
    rows: list[dict[str, str]] | None, hub: FakeHub, online: Settings, tmp_path: Path
) -> None:
    if rows:
        Dataset.from_list(rows).to_parquet(tmp_path / "one")
    publish(hub, (tmp_path / "one").read_bytes() if rows else b"no parquet")
    with pytest.raises(TaskUnavailableError, match="damaged or have changed"):
        load("e2e@hub", online)
