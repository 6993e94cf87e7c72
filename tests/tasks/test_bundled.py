"""The bundled tasks, measured: large enough, balanced, varied, without copies, and in GLUE's own layout."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from explorer.settings import BUNDLED_TASKS, Settings
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.sources import load
from explorer.tasks.task import Example, TaskData
from tests.rows import each_row

FEWEST = {"train": 240, "validation": 80}
LARGEST_OVERLAP = 0.3
FEWEST_WORDS = {"train": 550, "validation": 300}
SLUGS = [task.slug for task in TASKS]
FILES = sorted(BUNDLED_TASKS.glob("*/*.tsv"))


def splits(slug: str) -> Iterator[tuple[str, tuple[Example, ...]]]:
    """(train or validation, its examples), MNLI's two validation splits one after the other."""
    data = load(slug, Settings())
    yield "train", data.train
    for examples in data.validation.values():
        yield "validation", examples


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def trigrams(example: Example) -> set[tuple[str, ...]]:
    found = words(f"{example.text} {example.second or ''}")
    return set(zip(found, found[1:], found[2:], strict=False)) or {tuple(found)}


def key(example: Example) -> str:
    return " ".join([*words(example.text), "|", *words(example.second or "")])


def closest(example: Example, owners: dict[tuple[str, ...], list[int]], others: list[set[tuple[str, ...]]]) -> float:
    """The largest Jaccard overlap of an example's trigrams with another's: |both| / |either|."""
    mine = trigrams(example)
    shared = Counter(place for gram in mine for place in owners.get(gram, ()))
    return max((count / (len(mine) + len(others[place]) - count) for place, count in shared.items()), default=0.0)


@pytest.fixture(params=SLUGS)
def data(request: pytest.FixtureRequest) -> TaskData:
    return load(request.param, Settings())


def test_the_folder_holds_these_tasks_and_their_splits() -> None:
    names = {slug: ["train", "validation"] for slug in SLUGS}
    names["mnli"] = ["train", "validation_matched", "validation_mismatched"]
    assert {slug: [path.stem for path in FILES if path.parent.name == slug] for slug in SLUGS} == names
    assert len(FILES) == 19


@each_row("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_is_clean_and_recognised_as_glues(path: Path) -> None:
    content = path.read_bytes()
    assert content.endswith(b"\n")
    assert b"\r" not in content
    assert b'"' not in content
    assert not content.startswith(b"\xef\xbb\xbf")
    found = read_glue(path)
    assert (found.task, found.notes) == (path.parent.name, ())
    header = 0 if path.parent.name == "cola" else 1
    assert len(found.examples) == content.count(b"\n") - header


@each_row("slug", SLUGS)
def test_there_is_enough_of_it(slug: str) -> None:
    for name, examples in splits(slug):
        assert len(examples) >= FEWEST[name]


@each_row("slug", SLUGS)
def test_labels_are_balanced(slug: str) -> None:
    """45-55% of each of two classes, 28-39% of each of MNLI's three, 12-28% in each fifth of STS-B's scale."""
    low, high = {"mnli": (0.28, 0.39), "stsb": (0.12, 0.28)}.get(slug, (0.45, 0.55))
    for _, examples in splits(slug):
        counts = Counter(min(4, int(example.label)) for example in examples)
        assert len(counts) == {"mnli": 3, "stsb": 5}.get(slug, 2)
        assert all(low <= count / len(examples) <= high for count in counts.values()), counts


@each_row("slug", SLUGS)
def test_the_classes_are_shuffled(slug: str) -> None:
    """No run of one label is longer than chance makes it: 20 in a row of a fair coin has a chance of one in a thousand."""
    for _, examples in splits(slug):
        labels = [min(4, int(example.label)) for example in examples]
        longest = run = 1
        for before, after in pairwise(labels):
            run = run + 1 if after == before else 1
            longest = max(longest, run)
        assert longest < 20


@each_row("slug", SLUGS)
def test_openings_and_words_vary(slug: str) -> None:
    for name, examples in splits(slug):
        openings = Counter(tuple(words(example.text)[:3]) for example in examples)
        assert openings.most_common(1)[0][1] <= max(3, 0.03 * len(examples))
        vocabulary = {word for example in examples for word in words(f"{example.text} {example.second or ''}")}
        assert len(vocabulary) >= FEWEST_WORDS[name]


def test_nothing_is_there_twice(data: TaskData) -> None:
    everything = [key(example) for _, examples in splits(data.task.slug) for example in examples]
    assert [text for text, count in Counter(everything).items() if count > 1] == []


def test_no_validation_example_rewords_a_training_example(data: TaskData) -> None:
    others = [trigrams(example) for example in data.train]
    owners: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, grams in enumerate(others):
        for gram in grams:
            owners[gram].append(place)
    assert closest(data.train[0], owners, others) == 1
    for examples in data.validation.values():
        near = [example for example in examples if closest(example, owners, others) > LARGEST_OVERLAP]
        assert near == []


def test_a_pairs_two_texts_differ(data: TaskData) -> None:
    pairs = [example for _, examples in splits(data.task.slug) for example in examples if example.second is not None]
    assert bool(pairs) == data.task.is_pair
    assert [pair for pair in pairs if pair.text == pair.second] == []


def test_cola_stars_what_is_unacceptable() -> None:
    for path in sorted((BUNDLED_TASKS / "cola").glob("*.tsv")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        assert {(row[1], row[2]) for row in rows} == {("0", "*"), ("1", "")}


def test_the_readme_counts_what_is_there() -> None:
    text = (BUNDLED_TASKS / "README.md").read_text(encoding="utf-8")

    def sizes(examples: Iterable[tuple[str, tuple[Example, ...]]]) -> list[int]:
        return [len(split) for _, split in examples]

    for slug in SLUGS:
        row = next(line for line in text.splitlines() if line.startswith(f"| {slug} "))
        assert [int(number) for number in re.findall(r"\b\d+\b", row.split("|")[2] + row.split("|")[3])] == sizes(
            splits(slug)
        )
