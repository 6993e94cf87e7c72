"""The bundled sentences with labels on which probes are trained, and the labels of their control tasks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from explorer.settings import PROBES

TASKS = {"sense": "Sense of a word", "pos": "Part of speech", "depth": "Depth in the parse"}


@dataclass(frozen=True)
class LabelledWord:
    """A word by its place in the text. about: the word for which a control task draws a label: the word itself in small
    letters, or, where senses are told apart, the other word that tells the sense."""

    start: int
    stop: int
    label: str
    about: str


@dataclass(frozen=True)
class Example:
    """A sentence with its labelled words."""

    text: str
    held_out: bool
    words: tuple[LabelledWord, ...]


@cache
def examples(task: str) -> tuple[Example, ...]:
    """Return a task's sentences (assets/probes, written by `python -m pretraining probes`)."""
    lines = (PROBES / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(
        Example(line["text"], line["held_out"], tuple(LabelledWord(*word) for word in line["words"]))
        for line in map(json.loads, lines)
    )


def ambiguous(task: str) -> frozenset[str]:
    """Return the words, in small letters, that stand under more than one label."""
    labels: dict[str, set[str]] = {}
    for example in examples(task):
        for word in example.words:
            labels.setdefault(example.text[word.start : word.stop].lower(), set()).add(word.label)
    return frozenset(spelled for spelled, found in labels.items() if len(found) > 1)


def control_labels(words: Sequence[tuple[str, LabelledWord]], seed: int) -> list[str]:
    """Return a control task's label of each word: drawn once for each word type, so that it can only be learnt by heart.

    words: of all sentences, with their spelling. Labels are drawn as often as the task has them. A sense is drawn for
    each word that tells it, out of the senses that the labelled word has. (Hewitt and Liang 2019, section 2.1)
    """
    random, drawn = Random(seed), dict[tuple[str, str], str]()
    of_senses = any(spelled != word.about for spelled, word in words)
    labels: dict[str, Counter[str]] = {}
    for spelled, word in words:
        labels.setdefault(spelled if of_senses else "", Counter())[word.label] += 1
    found = []
    for spelled, word in words:
        key = (spelled if of_senses else "", word.about)
        if key not in drawn:
            counts = labels[key[0]]
            drawn[key] = random.choices(list(counts), list(counts.values()))[0]
        found.append(drawn[key])
    return found
