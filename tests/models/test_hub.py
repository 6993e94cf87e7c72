"""Downloads from a stand-in hub: what arrives, what never travels, and what a visitor reads when it goes wrong."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import constants

from explorer.errors import ModelUnavailableError
from explorer.models.catalog import DEFAULT_MODEL
from explorer.models.folders import explain, local_folder, require_folder, weight_files
from explorer.models.hub import download
from explorer.models.loaded_model import load_model
from explorer.settings import Settings
from tests.models import tiny
from tests.models.fake_hub import SILENCE, FakeHub, Faults, stuck
from tests.ports import free_port
from tests.rows import each_row

MODEL = "someone/tiny-bert"
WEIGHTS = "model.safetensors"


@pytest.fixture
def published(hub: FakeHub, bert_folder: Path) -> dict[str, bytes]:
    """A tiny BERT on the hub, as MODEL."""
    return hub.add(MODEL, bert_folder)


def failure(settings: Settings, model_id: str = MODEL) -> str:
    """What a visitor reads when a download fails."""
    with pytest.raises(ModelUnavailableError) as caught:
        list(download(model_id, settings))
    return str(caught.value)


def part_of_weights(settings: Settings) -> list[Path]:
    return list(settings.hub_cache.rglob("*.incomplete"))


def change_config(files: dict[str, bytes], **changes: object) -> None:
    files["config.json"] = json.dumps({**json.loads(files["config.json"]), **changes}).encode()


class TestADownloadThatWorks:
    def test_progress_rises_from_nothing_to_everything(self, settings: Settings, published: dict[str, bytes]) -> None:
        asking, *updates = list(download(MODEL, settings))
        assert (asking.done, asking.total, asking.share) == (0, 0, 0.0)
        done = [update.done for update in updates]
        assert {update.total for update in updates} == {sum(len(content) for content in published.values())}
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, updates[-1].total)
        assert (updates[0].share, updates[-1].share) == (0.0, 1.0)

    def test_the_model_then_loads_without_asking_the_network(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        list(download(MODEL, settings))
        hub.requests.clear()
        hub.close()
        folder = local_folder(MODEL, settings)
        assert folder is not None
        assert (folder / WEIGHTS).read_bytes() == published[WEIGHTS]
        assert load_model(MODEL, settings).parameters > 0
        assert hub.requests == []

    def test_the_weights_come_last_so_that_a_folder_with_weights_is_complete(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        list(download(MODEL, settings))
        fetched = [Path(request.path).name for request in hub.requests if request.method == "GET"]
        assert fetched.index(WEIGHTS) > max(fetched.index(name) for name in published if name != WEIGHTS)

    def test_nothing_is_downloaded_twice(self, hub: FakeHub, settings: Settings, published: dict[str, bytes]) -> None:
        list(download(MODEL, settings))
        list(download(MODEL, settings))
        assert hub.sent == {name: len(content) for name, content in published.items()}

    def test_code_and_pickles_stay_where_they_are(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        wanted = set(published)
        unwanted = ("modeling_evil.py", "pytorch_model.bin", "training_args.bin", "tf_model.h5", "README.md")
        published.update(dict.fromkeys((*unwanted, "onnx/model.onnx", "old/model.safetensors"), b"x" * 10))
        list(download(MODEL, settings))
        assert hub.fetched() == wanted

    def test_sharded_weights_arrive_with_their_index(self, hub: FakeHub, settings: Settings, tmp_path: Path) -> None:
        model = tiny.build(tiny.by_family("BERT"))
        model.save_pretrained(tmp_path / "shards", max_shard_size="60KB")
        tiny.wordpiece().save_pretrained(tmp_path / "shards")
        shards = {name for name in hub.add(MODEL, tmp_path / "shards") if name.endswith(".safetensors")}
        assert len(shards) > 1
        updates = list(download(MODEL, settings))
        assert [update.done for update in updates] == sorted(update.done for update in updates)
        assert shards < hub.fetched()
        assert load_model(MODEL, settings).parameters == sum(weight.numel() for weight in model.parameters())

    def test_progress_is_told_while_bytes_trickle_in(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults.pause = 0.05
        done = [update.done for update in download(MODEL, settings)]
        small = sum(len(content) for name, content in published.items() if name != WEIGHTS)
        assert len({here for here in done if small < here < small + len(published[WEIGHTS])}) >= 3

    def test_a_login_stays_with_the_hub(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
        list(download(MODEL, settings))
        told = {request.path: request.authorization for request in hub.requests}
        assert told[f"/api/models/{MODEL}"] == "Bearer hf_secret"
        from_storage = [login for path, login in told.items() if "/resolve/" not in path and "/api/" not in path]
        assert from_storage == [None]


class TestBrokenAndStoppedDownloads:
    def test_a_connection_that_breaks_once_is_taken_up_again_unnoticed(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = Faults(cut_at=10_000, cuts=1)
        updates = list(download(MODEL, settings))
        assert updates[-1].share == 1.0
        assert hub.resumed_at() == [10_000]

    def test_a_connection_that_stays_broken_is_told_and_the_next_try_goes_on(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = Faults(cut_at=10_000)
        message = failure(settings)
        assert MODEL in message
        assert "connection" in message
        assert DEFAULT_MODEL in message
        assert local_folder(MODEL, settings) is None
        assert [part.stat().st_size for part in part_of_weights(settings)] == [10_000]
        hub.faults = Faults()
        list(download(MODEL, settings))
        assert hub.sent[WEIGHTS] == len(published[WEIGHTS])
        assert part_of_weights(settings) == []
        assert load_model(MODEL, settings).parameters > 0

    def test_a_server_that_cannot_go_on_sends_the_whole_file(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = Faults(cut_at=10_000)
        failure(settings)
        hub.faults = Faults(ignores_ranges=True)
        list(download(MODEL, settings))
        assert (require_folder(MODEL, settings) / WEIGHTS).read_bytes() == published[WEIGHTS]

    def test_a_silent_connection_is_given_up(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = Faults(cut_at=10_000, silence=3.0)
        with pytest.raises(ModelUnavailableError, match="connection") as caught:
            list(download(MODEL, replace(settings, hub_timeout=0.3)))
        assert isinstance(caught.value.__cause__, httpx2.ReadTimeout)

    def test_a_hub_that_takes_a_question_and_says_nothing_is_given_up(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = Faults(mute="/api/")
        updates = download(MODEL, replace(settings, hub_timeout=0.2))
        assert next(updates).total == 0, "something can be stopped before the hub has spoken"
        began = time.monotonic()
        with pytest.raises(ModelUnavailableError, match="the connection failed or broke off"):
            list(updates)
        assert time.monotonic() - began < SILENCE / 2

    def test_a_wrong_byte_is_noticed_and_the_next_try_starts_over(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults.wrong_byte = True
        assert "not what the hub holds" in failure(settings)
        assert part_of_weights(settings) == []
        assert local_folder(MODEL, settings) is None
        hub.faults.wrong_byte = False
        list(download(MODEL, settings))
        assert load_model(MODEL, settings).parameters > 0

    def test_a_leftover_longer_than_the_file_does_not_block_it(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = Faults(cut_at=10_000)
        failure(settings)
        part_of_weights(settings)[0].write_bytes(b"x" * (len(published[WEIGHTS]) + 1))
        hub.faults = Faults()
        list(download(MODEL, settings))
        assert load_model(MODEL, settings).parameters > 0

    def test_closing_the_generator_stops_it_and_keeps_what_has_arrived(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = stuck()
        updates = download(MODEL, settings)
        next(update for update in updates if update.done > 40_000)
        updates.close()
        kept = part_of_weights(settings)[0].stat().st_size
        assert 30_000 < kept <= 60_000
        assert local_folder(MODEL, settings) is None
        hub.faults = Faults()
        list(download(MODEL, settings))
        assert hub.resumed_at() == [kept]
        assert load_model(MODEL, settings).parameters > 0

    def test_closing_the_generator_leaves_nothing_running(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults.pause = 0.05
        before = set(threading.enumerate())
        updates = download(MODEL, settings)
        next(update for update in updates if update.done > 8_000)
        updates.close()
        kept = part_of_weights(settings)[0].stat().st_size
        time.sleep(0.3)
        assert part_of_weights(settings)[0].stat().st_size == kept
        assert hub.sent[WEIGHTS] < len(published[WEIGHTS])
        assert not any(thread.name.startswith("download") for thread in set(threading.enumerate()) - before)

    def test_two_visitors_share_one_download(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults.pause = 0.01
        with ThreadPoolExecutor(2) as visitors:
            ends = list(visitors.map(lambda _: [*download(MODEL, settings)][-1], range(2), timeout=180))
        assert [end.share for end in ends] == [1.0, 1.0]
        assert hub.sent[WEIGHTS] == len(published[WEIGHTS])

    def test_a_second_visitor_sees_how_far_the_first_one_is(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = stuck()
        first, second = download(MODEL, settings), download(MODEL, settings)
        far = next(update for update in first if update.done > 50_000)
        seen = next(update for update in second if update.done > 30_000)
        assert seen.done <= far.done
        first.close()
        hub.faults = Faults()
        assert [*second][-1].share == 1.0

    def test_it_may_be_stopped_from_another_thread_than_the_one_it_ran_in(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults = stuck()
        updates = download(MODEL, settings)
        with ThreadPoolExecutor(1) as other_thread:
            other_thread.submit(lambda: next(update for update in updates if update.done > 40_000)).result(timeout=180)
            updates.close()
            hub.faults = Faults()
            assert [*download(MODEL, settings)][-1].share == 1.0


def test_the_servers_list_holds_for_what_was_fetched_before_it_was_made(
    settings: Settings, published: dict[str, bytes]
) -> None:
    list(download(MODEL, replace(settings, hub_allowed=("Someone/*",))))
    assert local_folder(MODEL, settings) is not None
    closed = replace(settings, hub_allowed=("google-bert/*",))
    assert local_folder(MODEL, closed) is None
    with pytest.raises(ModelUnavailableError, match="EXPLORER_HUB_ALLOW"):
        require_folder(MODEL, closed)
    assert local_folder(DEFAULT_MODEL, closed) is not None


class TestRefusals:
    """Each before a byte of the weights has travelled."""

    @pytest.fixture(autouse=True)
    def _no_weights_travel(self, hub: FakeHub) -> object:
        yield
        assert WEIGHTS not in hub.fetched()

    @pytest.mark.parametrize("status", [401, 404])
    def test_an_unknown_name(self, hub: FakeHub, settings: Settings, status: int) -> None:
        hub.faults.api = (status, "RepoNotFound")
        message = failure(settings, "someone/mispelt")
        assert "no model called someone/mispelt" in message
        assert "spelling" in message

    @pytest.mark.parametrize("status", [401, 403])
    @pytest.mark.parametrize("where", ["api", "resolve"])
    def test_a_gated_model(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes], where: str, status: int
    ) -> None:
        setattr(hub.faults, where, (status, "GatedRepo"))
        message = failure(settings)
        assert "gated" in message
        assert "log in" in message

    def test_pickled_weights(self, hub: FakeHub, settings: Settings, published: dict[str, bytes]) -> None:
        published["pytorch_model.bin"] = published.pop(WEIGHTS)
        message = failure(settings)
        assert "without safetensors" in message
        assert "can run code" in message
        assert "pytorch_model.bin" not in hub.fetched()

    def test_another_family(self, settings: Settings, published: dict[str, bytes]) -> None:
        change_config(published, model_type="t5", architectures=["T5Model"])
        message = failure(settings)
        assert "t5 model" in message
        assert "ModernBERT" in message

    def test_a_repository_without_a_config(self, settings: Settings, published: dict[str, bytes]) -> None:
        del published["config.json"]
        assert "no config.json" in failure(settings)

    @pytest.mark.parametrize("content", [b"{not json", b"[]", b"\xff\xfe\x00"])
    def test_a_config_that_cannot_be_read(
        self, settings: Settings, published: dict[str, bytes], content: bytes
    ) -> None:
        published["config.json"] = content
        assert "config.json" in failure(settings)

    def test_a_model_larger_than_this_server_downloads(self, settings: Settings, published: dict[str, bytes]) -> None:
        message = failure(replace(settings, largest_download_bytes=1000))
        assert "more than this server downloads" in message

    def test_a_model_that_is_not_on_the_servers_list(self, settings: Settings, published: dict[str, bytes]) -> None:
        message = failure(replace(settings, hub_allowed=("google-bert/*", "someone/other")))
        assert "google-bert/*, someone/other" in message
        assert "EXPLORER_HUB_ALLOW" in message

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_hub_in_trouble(self, hub: FakeHub, settings: Settings, published: dict[str, bytes], status: int) -> None:
        hub.faults.api = (status, None)
        message = failure(settings)
        assert str(status) in message
        assert "Try again" in message

    def test_weights_that_the_storage_does_not_hand_out(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults.weights = (503, None)
        assert "503" in failure(settings)

    def test_a_login_page_in_the_place_of_the_hub(
        self, hub: FakeHub, settings: Settings, published: dict[str, bytes]
    ) -> None:
        hub.faults.login_page = True
        assert "login page" in failure(settings)

    @pytest.mark.parametrize("model_id", ["a b", "", "one/two words", "-x-", "a..b", "ü/ü"])
    def test_an_id_that_is_none(self, hub: FakeHub, settings: Settings, model_id: str) -> None:
        assert "is not a model id" in failure(settings, model_id)
        assert hub.requests == []

    def test_a_hub_that_nobody_answers_at(self, settings: Settings) -> None:
        message = failure(replace(settings, hub_endpoint=f"http://127.0.0.1:{free_port()}"))
        assert "network" in message
        assert DEFAULT_MODEL in message

    def test_no_network_by_choice(self, hub: FakeHub, settings: Settings, published: dict[str, bytes]) -> None:
        assert "HF_HUB_OFFLINE" in failure(replace(settings, offline=True))
        assert hub.requests == []

    def test_a_folder_that_holds_no_model(self, hub: FakeHub, settings: Settings, tmp_path: Path) -> None:
        assert "no model in the folder" in failure(settings, str(tmp_path / "nothing"))
        assert hub.requests == []

    def test_folders_on_a_server_that_opens_none(self, hub: FakeHub, settings: Settings, bert_folder: Path) -> None:
        closed = replace(settings, local_folders=False)
        assert local_folder(str(bert_folder), closed) is None
        assert "does not open folders" in failure(closed, str(bert_folder))
        with pytest.raises(ModelUnavailableError, match="does not open folders"):
            require_folder(str(bert_folder), closed)
        assert hub.requests == []


class TestFolders:
    def test_a_folder_named_by_the_visitor_is_found(self, bert_folder: Path, tmp_path: Path) -> None:
        assert local_folder(str(bert_folder), Settings(hub_cache=tmp_path)) == bert_folder

    @each_row(
        "model_id", ["~nobody-of-this-name/x", "/" + "a" * 5000, "/a\0b", "/\ud800", "./nothing", "a\\b", "../../.."]
    )
    def test_strange_folder_names_find_nothing_and_say_so(self, model_id: str, tmp_path: Path) -> None:
        settings = Settings(hub_cache=tmp_path)
        assert local_folder(model_id, settings) is None
        with pytest.raises(ModelUnavailableError):
            require_folder(model_id, settings)

    def test_a_model_that_was_never_fetched_is_not_here(self, tmp_path: Path) -> None:
        settings = Settings(hub_cache=tmp_path)
        assert local_folder(MODEL, settings) is None
        with pytest.raises(ModelUnavailableError, match="not on this machine yet"):
            require_folder(MODEL, settings)

    def test_bundled_models_are_found_whatever_the_settings(self, tmp_path: Path) -> None:
        settings = Settings(hub_cache=tmp_path, local_folders=False, offline=True)
        assert weight_files(require_folder(DEFAULT_MODEL, settings))

    def test_shards_count_only_when_all_are_there(self, tmp_path: Path) -> None:
        index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
        (tmp_path / "model-1.safetensors").touch()
        assert weight_files(tmp_path) == []
        (tmp_path / "model-2.safetensors").touch()
        assert [file.name for file in weight_files(tmp_path)] == ["model-1.safetensors", "model-2.safetensors"]

    @each_row("index", ["{broken", "{}", "[]", '{"weight_map": 3}'])
    def test_a_broken_index_names_no_weights(self, tmp_path: Path, index: str) -> None:
        (tmp_path / "model.safetensors.index.json").write_text(index)
        assert weight_files(tmp_path) == []


def test_a_full_disk_and_a_locked_folder_are_told_apart() -> None:
    assert "disk is full" in explain(MODEL, OSError(28, "No space left on device"))
    assert "may not write" in explain(MODEL, PermissionError(13, "Permission denied"))
