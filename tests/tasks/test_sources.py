"""Names of tasks: what is found under each, what is kept of an upload, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.errors import BadInputError
from explorer.runs.checks import describe
from explorer.settings import Settings
from explorer.tasks import sources
from explorer.tasks.glue_tasks import TASKS, find_task
from explorer.tasks.places import bundled, uploads
from explorer.tasks.read_file import LARGEST_FILE_BYTES
from explorer.tasks.sources import card, choices, keep_upload, load
from explorer.tasks.task import TaskCard
from explorer.tuning.spec import RunSpec
from tests.tasks.conftest import Write

OWN = "text,mood\n" + "".join(f"day number {n},{'glad' if n % 2 else 'sad'}\n" for n in range(40))
SST2 = "sentence\tlabel\n" + "".join(f"film number {n}\t{n % 2}\n" for n in range(40))


def kept_in(settings: Settings) -> set[str]:
    folder = settings.data_folder / "uploads"
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def failure(path: Path, settings: Settings, task: str | None = None, validation: Path | None = None) -> str:
    """What a visitor reads; nothing of the file is kept."""
    with pytest.raises(BadInputError) as caught:
        keep_upload(path, settings, task, validation)
    assert kept_in(settings) == set()
    return str(caught.value)


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "",
            "sst-2",
            "SST2",
            "../sst2",
            "sst2/",
            "sst2@",
            "sst2@hub@hub",
            "file-",
            "file-0123456789a",
            "file-0123456789ab/..",
            "file-0123456789aB",
            "file-0123456789ab\n",
            "file-../../../etc",
            "/etc/passwd",
            "nothing",
            "nothing@hub",
            "file-0123456789ab",
            "x" * 10_000,
            None,
            3,
        ],
    )
    def test_what_names_nothing_is_refused_in_a_sentence(self, name: str, settings: Settings) -> None:
        with pytest.raises(BadInputError) as caught:
            load(name, settings)
        assert len(str(caught.value)) < 200

    @pytest.mark.parametrize("slug", [task.slug for task in TASKS])
    def test_a_bundled_task_is_never_called_by_glues_name_alone(self, slug: str, settings: Settings) -> None:
        title, real = load(slug, settings).task.title, find_task(slug).title
        assert title == real.replace(" · ", "-like, bundled · ")
        assert {label for label, name in choices(settings) if name == slug} == {title}
        assert {label for label, name in choices(settings) if name == f"{slug}@hub"} == {f"{real} (GLUE from the hub)"}

    def test_every_choice_bundled_with_the_app_loads(self, settings: Settings) -> None:
        bundled = choices(replace(settings, offline=True))
        assert [name for _, name in bundled] == [*(task.slug for task in TASKS), "squad", "e2e"]
        assert all(load(name, settings).name == name for _, name in bundled)

    def test_the_hubs_tasks_come_after_the_bundled_ones(self, settings: Settings) -> None:
        found = choices(settings)
        glue, squad = found[11:20], found[20:]
        assert [name for _, name in glue] == [f"{task.slug}@hub" for task in TASKS]
        assert all(label.endswith("(GLUE from the hub)") for label, _ in glue)
        assert [name for _, name in squad] == ["squad@hub", "squad1@hub", "e2e@hub"]
        assert len({label for label, _ in found}) == 23

    def test_a_task_is_read_once_for_all(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        sources._load.cache_clear()
        calls: list[str] = []
        read = bundled.load
        monkeypatch.setattr(bundled, "load", lambda slug: calls.append(slug) or read(slug))
        with ThreadPoolExecutor(8) as visitors:
            found = list(visitors.map(lambda _: load("sst2", settings), range(8)))
        assert calls == ["sst2"]
        assert all(data is found[0] for data in found)


class TestKeeping:
    def test_an_upload_is_found_again_by_its_name_after_a_restart(self, settings: Settings, write: Write) -> None:
        data = keep_upload(write(OWN), settings)
        assert data.name == "file-" + hashlib.sha256(OWN.encode()).hexdigest()[:12] == data.task.slug
        sources._load.cache_clear()
        again = load(data.name, settings)
        assert again == data
        assert (again.task.title, again.task.labels) == ("reviews.csv", ("glad", "sad"))
        assert (len(again.train), len(again.validation["validation"])) == (32, 8)
        assert any("8 of 40 examples are held out" in note for note in again.notes)

    def test_other_settings_know_nothing_of_it(self, settings: Settings, write: Write, tmp_path: Path) -> None:
        data = keep_upload(write(OWN), settings)
        with pytest.raises(BadInputError, match="Upload it again"):
            load(data.name, replace(settings, data_folder=tmp_path / "other"))

    def test_a_file_of_glue_is_that_task(self, settings: Settings, write: Write) -> None:
        data = keep_upload(write(SST2, "train.tsv"), settings)
        assert data.task.slug == "sst2"
        assert "Read as a file of GLUE: SST-2 · sentiment." in data.notes
        assert data.task.title == "SST-2 · sentiment", "the real one keeps its name"
        assert data.name.startswith("file-")

    def test_training_and_validation_files_belong_together(self, settings: Settings, write: Write) -> None:
        held = write("text,mood\na new day,sad\nday number 3,glad\n", "held.csv")
        data = keep_upload(write(OWN), settings, validation_path=held)
        assert data.name != keep_upload(write(OWN), settings).name
        assert len(data.train) == 40
        assert {(example.text, example.label) for example in data.validation["validation"]} == {
            ("a new day", 1),
            ("day number 3", 0),
        }
        assert any("1 of 2 validation texts are also in the training file" in note for note in data.notes)
        sources._load.cache_clear()
        assert load(data.name, settings) == data

    def test_the_task_may_be_named(self, settings: Settings, write: Write) -> None:
        rows = "".join(f"{n}\tIt is {n}.\tIt is {n + n % 2}.\t{n % 2}\n" for n in range(20))
        path = write("index\tsentence1\tsentence2\tlabel\n" + rows, "train.tsv")
        assert keep_upload(path, settings).task.slug == "wnli"
        assert keep_upload(path, settings, "wnli").name != keep_upload(path, settings).name
        with pytest.raises(BadInputError, match="line 2: the label '0'; RTE has entailment"):
            keep_upload(path, settings, "rte")

    def test_the_rows_of_a_sorted_file_are_mixed(self, settings: Settings, write: Write) -> None:
        path = write("text,mood\n" + "".join(f"day {n},{'glad' if n < 100 else 'sad'}\n" for n in range(200)))
        data = keep_upload(path, settings)
        assert {example.label for example in data.train[:12]} == {0, 1}
        assert {example.label for example in data.validation["validation"][:12]} == {0, 1}

    def test_two_visitors_with_the_same_file_do_not_disturb_each_other(self, settings: Settings, write: Write) -> None:
        path = write(OWN)
        with ThreadPoolExecutor(8) as visitors:
            names = set(visitors.map(lambda _: keep_upload(path, settings).name, range(16)))
        (name,) = names
        folder = name.removeprefix("file-")
        assert kept_in(settings) == {f"{folder}/train", f"{folder}/about.json"}
        assert [path.name for path in (settings.data_folder / "uploads").iterdir()] == [folder]

    def test_what_is_kept_is_the_file_as_it_came(self, settings: Settings, write: Write) -> None:
        content = b"\xef\xbb\xbf" + OWN.replace("\n", "\r\n").encode()
        data = keep_upload(write(content), settings)
        assert uploads.find(data.name, settings).train == content

    def test_a_damaged_folder_is_said_to_be_one(self, settings: Settings, write: Write) -> None:
        data = keep_upload(write(OWN), settings)
        about = settings.data_folder / "uploads" / data.name.removeprefix("file-") / "about.json"
        for content in ("{", "[]", json.dumps({"title": "x"})):
            about.write_text(content)
            sources._load.cache_clear()
            with pytest.raises(BadInputError, match="damaged"):
                load(data.name, settings)

    def test_the_shelf_has_an_end(self, settings: Settings, write: Write) -> None:
        """What was used a moment ago stays; what nobody uses makes room, and who asks for it is told."""
        settings = replace(settings, uploads_bytes=len(OWN) + len(SST2))
        first = keep_upload(write(OWN), settings)
        assert keep_upload(write(OWN), settings)  # it is there already
        with pytest.raises(BadInputError, match="room for uploads is used up"):
            keep_upload(write(SST2, "b.tsv"), settings)
        folder = settings.data_folder / "uploads" / first.name.removeprefix("file-")
        os.utime(folder, (1.0, 1.0))
        uploads.hold(first.name)
        with pytest.raises(BadInputError, match="room for uploads is used up"):
            keep_upload(write(SST2, "b.tsv"), settings)
        uploads.let_go(first.name)
        keep_upload(write(SST2, "b.tsv"), settings)
        sources._load.cache_clear()
        with pytest.raises(BadInputError, match="removed when room is needed"):
            load(first.name, settings)

    def test_a_visitor_makes_room_among_their_own(self, settings: Settings, write: Write) -> None:
        settings = replace(settings, visitor_uploads_bytes=len(OWN) + 150)
        other = keep_upload(write(OWN.replace("day", "night")), settings, visitor="10.0.0.1")
        first = keep_upload(write(OWN), settings, visitor="10.0.0.2")
        for name in (other.name, first.name):
            os.utime(settings.data_folder / "uploads" / name.removeprefix("file-"), (1.0, 1.0))
        again = keep_upload(write(OWN.replace("day", "week")), settings, visitor="10.0.0.2")
        there = {path.name for path in (settings.data_folder / "uploads").iterdir()}
        assert there == {name.removeprefix("file-") for name in (other.name, again.name)}

    def test_a_data_folder_that_cannot_be_written(self, settings: Settings, write: Write) -> None:
        settings.data_folder.write_text("a file stands in its place")
        with pytest.raises(BadInputError, match="may not write to its data folder"):
            keep_upload(write(OWN), settings)


class TestCards:
    """What a run is queued with, without reading an example."""

    @pytest.mark.parametrize("name", ["sst2", "stsb", "squad", "e2e", "text"])
    def test_a_bundled_task_has_the_card_that_its_examples_have(self, name: str, settings: Settings) -> None:
        data = load(name, settings)
        assert card(name, settings) == TaskCard(data.task, data.name, data.notes)

    def test_an_upload_keeps_its_card_beside_it(
        self, settings: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = keep_upload(write(OWN), settings)
        assert data.notes
        with monkeypatch.context() as patched:
            patched.setattr(uploads, "read_upload", None)
            assert card(data.name, settings) == TaskCard(data.task, data.name, data.notes)
        about = next((settings.data_folder / "uploads").glob("*/about.json"))
        kept = json.loads(about.read_text(encoding="utf-8"))
        about.write_text(json.dumps({key: value for key, value in kept.items() if key != "card"}), encoding="utf-8")
        assert card(data.name, settings).task == data.task, "one that was kept before there were cards is read"

    def test_a_run_is_queued_by_its_card_alone(
        self, settings: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = keep_upload(write(OWN), settings)
        monkeypatch.setattr(uploads, "read_upload", None)
        monkeypatch.setattr(sources, "load", None)
        told = describe(RunSpec(model="bert-mini", task=data.name), settings)
        assert (told["task_title"], told["labels"], told["notes"]) == (data.task.title, data.task.labels, data.notes)

    def test_there_is_none_of_what_is_no_task(self, settings: Settings) -> None:
        for name in ("nonsense", "file-0123456789ab", "nonsense@hub", 7):
            with pytest.raises(BadInputError):
                card(name, settings)  # type: ignore[arg-type]


class TestRefusals:
    """Each in a sentence that names the file and the fix, and without a trace on the disk."""

    @pytest.mark.parametrize(
        ("content", "what"),
        [
            (b"", "is empty"),
            (b"\xef\xbb\xbf \r\n \n", "is empty"),
            (b"text,label\n", "a header and no examples"),
            (b"sentence\tlabel\n", "holds no examples"),
            (b"text,label\na b,yes\n" * 1 + b"c d,yes\n" * 39, "all 40 examples are 'yes'"),
            (b"text,label\na b,yes\nc d,no\n", "has 2 examples, and training needs at least 8"),
            (b"PK\x03\x04\x14\x00\x06\x00", "an Excel workbook or a zip archive"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel"),
            (b"\x1f\x8b\x08\x00", "a gzip archive"),
            (b"PAR1\x15\x04", "a parquet file"),
            ("text,label\n".encode("utf-16"), "text in UTF-16"),
            (b"text,label\na\0b,1\n", "line 2: a null byte"),
            (b"text,label\ngood,1\nbad \xff,0\n", "line 3: byte 5 of the line (0xff) is not UTF-8"),
            (b"text,label\n" + b"x" * 100_000 + b",1\n", "line 2: a text of 100,000 characters"),
            (b'{"text": "a", "label": 1}\n{"text": \n', "line 2: not JSON"),
        ],
    )
    def test_a_file_that_cannot_be_used(self, content: bytes, what: str, settings: Settings, write: Write) -> None:
        message = failure(write(content), settings)
        assert "reviews.csv" in message
        assert what in message

    def test_a_file_of_60_mb(self, settings: Settings, tmp_path: Path) -> None:
        path = tmp_path / "big.csv"
        with path.open("wb") as file:
            file.truncate(60 * 2**20)
        message = failure(path, settings)
        assert "has 60 MB" in message
        assert "at most 50 MB" in message

    def test_one_byte_too_many(self, settings: Settings, tmp_path: Path) -> None:
        path = tmp_path / "big.csv"
        with path.open("wb") as file:
            file.truncate(LARGEST_FILE_BYTES + 1)
        assert "at most 50 MB" in failure(path, settings)

    def test_a_validation_file_that_does_not_fit(self, settings: Settings, write: Write) -> None:
        path = write(OWN)
        assert "The validation file has no column mood" in failure(
            path, settings, None, write("text,label\nx,sad\n", "v.csv")
        )
        assert "The validation file, line 3: the label 'angry'" in failure(
            path, settings, None, write("text,mood\nx,sad\ny,angry\n", "v.csv")
        )
        assert "The validation file is empty" in failure(path, settings, None, write("", "v.csv"))
        assert "The validation file holds no examples" in failure(
            write(SST2, "train.tsv"), settings, None, write("sentence\tlabel\n", "dev.tsv")
        )

    def test_a_missing_file_and_a_folder(self, settings: Settings, tmp_path: Path) -> None:
        assert "could not be read" in failure(tmp_path / "nothing.csv", settings)
        assert "could not be read" in failure(tmp_path, settings)

    def test_an_unknown_task(self, settings: Settings, write: Write) -> None:
        assert "There is no task called" in failure(write(OWN), settings, "../sst2")

    def test_random_bytes(self, settings: Settings, write: Write) -> None:
        content = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(200))
        message = failure(write(content), settings)
        assert "line 3: a null byte" in message
        assert "byte 4 of the line (0x9c)" in failure(write(content.replace(b"\0", b"")), settings)
