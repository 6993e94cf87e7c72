"""GLUE from a stand-in hub: what arrives, what is kept, and what a visitor reads where nothing does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from datasets import ClassLabel, Dataset, Features, Value, disable_progress_bars
from huggingface_hub import constants

from explorer.errors import BadInputError
from explorer.settings import Settings
from explorer.tasks import sources
from explorer.tasks.places.hub import RELEASES, TaskUnavailableError, is_here
from explorer.tasks.sources import choices, load
from explorer.tasks.task import Example
from tests.models.fake_hub import FakeHub

PUBLISHED = f"datasets/{RELEASES['sst2'].repository}"
NAMES = {"sst2": ["negative", "positive"], "mnli": ["entailment", "neutral", "contradiction"]}


@pytest.fixture
def online(settings: Settings, hub: FakeHub) -> Settings:
    """Settings that know the stand-in; nothing is left in memory of another test's."""
    sources._load.cache_clear()
    return replace(settings, hub_endpoint=hub.url, hub_timeout=20.0)


def parquet(folder: Path, rows: dict[str, list[object]], names: list[str] | None) -> bytes:
    """A split as nyu-mll/glue has it."""
    disable_progress_bars()
    label = Value("float32") if names is None else ClassLabel(names=names)
    types = {name: Value("string") for name in rows} | {"label": label, "idx": Value("int32")}
    idx = list(range(len(rows["label"])))
    Dataset.from_dict(rows | {"idx": idx}, features=Features(types)).to_parquet(folder / "one.parquet")
    return (folder / "one.parquet").read_bytes()


def publish(hub: FakeHub, slug: str, **splits: bytes) -> None:
    files = {f"{slug}/{split}-00000-of-00001.parquet": content for split, content in splits.items()}
    hub.repositories.setdefault(PUBLISHED, {}).update(files)


def sst2(folder: Path, *rows: tuple[str, int], names: list[str] | None = None) -> bytes:
    return parquet(
        folder, {"sentence": [text for text, _ in rows], "label": [label for _, label in rows]}, names or NAMES["sst2"]
    )


@pytest.fixture
def published(hub: FakeHub, tmp_path: Path) -> None:
    """A small SST-2, with a row without a label."""
    train = [(f"film {n}", n % 2) for n in range(40)]
    publish(hub, "sst2", train=sst2(tmp_path, *train), validation=sst2(tmp_path, ("dull", 0), ("?", -1), ("fun", 1)))


def failure(settings: Settings, name: str = "sst2@hub") -> str:
    with pytest.raises(TaskUnavailableError) as caught:
        load(name, settings)
    return str(caught.value)


@pytest.mark.usefixtures("published")
class TestAFetchThatWorks:
    def test_rows_arrive_with_their_labels_and_unlabelled_ones_stay_away(self, online: Settings) -> None:
        data = load("sst2@hub", online)
        assert (data.name, data.task.slug) == ("sst2@hub", "sst2")
        assert {(example.text, example.label) for example in data.train} == {(f"film {n}", n % 2) for n in range(40)}
        assert set(data.validation["validation"]) == {Example("dull", None, 0), Example("fun", None, 1)}

    def test_afterwards_nothing_is_asked_again(self, hub: FakeHub, online: Settings) -> None:
        first = load("sst2@hub", online)
        sources._load.cache_clear()
        hub.requests.clear()
        assert load("sst2@hub", online) == first
        sources._load.cache_clear()
        assert load("sst2@hub", replace(online, offline=True)) == first
        assert hub.requests == []

    def test_offline_the_list_has_what_is_here(self, online: Settings) -> None:
        offline = replace(online, offline=True)
        assert not is_here(RELEASES["sst2"], offline)
        load("sst2@hub", online)
        assert is_here(RELEASES["sst2"], offline)
        assert [name for _, name in choices(offline) if name.endswith("@hub")] == ["sst2@hub"]

    def test_nothing_is_left_in_the_home_of_datasets(
        self, online: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
        (tmp_path / "scratch").mkdir()
        load("sst2@hub", online)
        assert list((tmp_path / "scratch").iterdir()) == []


class TestOtherTasks:
    def test_mnli_has_two_validation_splits(self, hub: FakeHub, online: Settings, tmp_path: Path) -> None:
        def split(text: str) -> bytes:
            rows: dict[str, list[object]] = {"premise": [text], "hypothesis": ["so"], "label": [2]}
            return parquet(tmp_path, rows, NAMES["mnli"])

        publish(hub, "mnli", train=split("t"), validation_matched=split("m"), validation_mismatched=split("mm"))
        data = load("mnli@hub", online)
        assert list(data.validation) == ["matched", "mismatched"]
        assert data.train == (Example("t", "so", 2),)
        assert data.validation["mismatched"] == (Example("mm", "so", 2),)

    def test_scores_are_no_classes(self, hub: FakeHub, online: Settings, tmp_path: Path) -> None:
        rows: dict[str, list[object]] = {"sentence1": ["a", "c"], "sentence2": ["b", "d"], "label": [0.0, 3.5]}
        content = parquet(tmp_path, rows, None)
        publish(hub, "stsb", train=content, validation=content)
        assert set(load("stsb@hub", online).train) == {Example("a", "b", 0), Example("c", "d", 3.5)}


class TestFailures:
    @pytest.mark.usefixtures("published")
    def test_another_order_of_the_classes_is_noticed(self, hub: FakeHub, online: Settings, tmp_path: Path) -> None:
        publish(hub, "sst2", train=sst2(tmp_path, ("fun", 0), ("dull", 1), names=["positive", "negative"]))
        assert "has the classes positive, negative" in failure(online)

    @pytest.mark.usefixtures("published")
    def test_a_damaged_file(self, hub: FakeHub, online: Settings) -> None:
        publish(hub, "sst2", train=b"PAR1 and no more")
        assert "damaged" in failure(online)

    @pytest.mark.usefixtures("published")
    def test_offline_says_which_switch_and_offers_the_bundled_task(self, hub: FakeHub, online: Settings) -> None:
        message = failure(replace(online, offline=True))
        assert "HF_HUB_OFFLINE is set" in message
        assert "bundled sst2" in message
        assert hub.requests == []

    def test_no_network(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        message = failure(settings)
        assert "the connection failed" in message
        assert "bundled sst2" in message

    @pytest.mark.usefixtures("published")
    def test_a_hub_in_trouble_is_asked_again_the_next_time(self, hub: FakeHub, online: Settings) -> None:
        hub.faults.api = (503, None)
        assert "the hub answered with an error (503)" in failure(online)
        hub.faults.api = None
        assert len(load("sst2@hub", online).train) == 40

    def test_a_login_page_in_the_place_of_the_hub(self, hub: FakeHub, online: Settings) -> None:
        hub.faults.login_page = True
        assert "login page" in failure(online)

    def test_a_task_that_glue_does_not_have(self, online: Settings) -> None:
        with pytest.raises(BadInputError, match="no task called"):
            load("imdb@hub", online)
