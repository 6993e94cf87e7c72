"""Sentences with labels for probes: a grammar writes sentences and knows their parses, and words with two senses stand beside a
word that tells which.

`python -m pretraining probes` writes the files again. In the held-out sentences some words are new, so a probe cannot answer
from a list that it has learnt by heart. The parses are dependencies as Universal Dependencies draws them: a preposition hangs on
its noun, an auxiliary on its verb.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml

LEXICON: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("probe_words.yaml").read_text(encoding="utf-8"))
WORDS = {name: found.split() for name, found in LEXICON.items() if isinstance(found, str)}

TRAINING, HELD_OUT = 260, 140
"""Sentences of the grammar."""

FEW = 10
"""Choices that are no lexicon, such as who and that, and stand in all sentences."""

DEEPEST = 4
"""Steps to the root from which on words are one class."""

IRREGULAR = {"man": "men", "woman": "women", "child": "children", "wolf": "wolves", "wife": "wives", "knife": "knives"}
OBJECTS = {"they": "them", "we": "us", "he": "him", "she": "her"}


Labelled = tuple[int, int, str, str]
"""Where a word begins and ends in its text, its label, and the word for which a control task draws a label."""


@dataclass
class Word:
    """A word with what depends on it, before and after it."""

    text: str
    tag: str
    left: list[Word] = field(default_factory=list)
    right: list[Word] = field(default_factory=list)

    def in_order(self, depth: int = 0) -> Iterator[tuple[str, str, int]]:
        """Yield text, tag and steps to the root, from left to right."""
        for word in self.left:
            yield from word.in_order(depth + 1)
        yield self.text, self.tag, depth
        for word in self.right:
            yield from word.in_order(depth + 1)


class Grammar:
    """Draws sentences. seen_only: from the words of the training sentences."""

    def __init__(self, seed: int, seen_only: bool) -> None:
        self.random, self._seen_only = Random(seed), seen_only

    def sentence(self) -> tuple[Word, str]:
        """Draw one with its closing mark."""
        kind = self.random.choices(("plain", "wish", "said", "order", "state", "question"), (40, 12, 12, 10, 13, 13))[0]
        if kind == "order":
            return self.verb_phrase(form="base"), "."
        if kind == "state":
            subject, several = self.noun_phrase(self.chance(0.5), pronouns=False)
            told = Word(self.one(self.one((WORDS["opened"], WORDS["adjectives"]))), "ADJ")
            told.left = [subject, Word("are" if several else "is", "AUX")]
            return told, "."
        subject, several = self.noun_phrase(living=self.chance(0.75) or kind != "plain")
        if kind == "plain":
            root = self.verb_phrase(several)
        elif kind == "question":
            root = self.verb_phrase(form="base")
            root.left.insert(0, Word("do" if several else "does", "AUX"))
            root.left.insert(1, subject)
            return root, "?"
        else:
            root = Word(
                self.agreeing(
                    self.one(("want", "hope", "need", "like") if kind == "wish" else WORDS["saying"]), several
                ),
                "VERB",
            )
            root.right.append(self.wished() if kind == "wish" else self.said())
        root.left.insert(0, subject)
        return root, "."

    def wished(self) -> Word:
        """Draw `to` with what is wished."""
        verb = self.verb_phrase(form="base", deep=1)
        verb.left.insert(0, Word("to", "PART"))
        return verb

    def said(self) -> Word:
        """Draw what is said, with `that` before it or without."""
        subject, several = self.noun_phrase(living=True, deep=1)
        verb = self.verb_phrase(several, deep=1)
        verb.left.insert(0, subject)
        if self.chance(0.7):
            verb.left.insert(0, Word("that", "SCONJ"))
        return verb

    def noun_phrase(self, living: bool, deep: int = 0, pronouns: bool = True) -> tuple[Word, bool]:
        """Draw what acts or is acted on, and whether it is several."""
        several = self.chance(0.4)
        if pronouns and self.chance(0.2):
            return Word(self.one(("they", "we", "you") if several else ("he", "she", "it")), "PRON"), several
        noun = self.one(WORDS["living"] if living else self.one((WORDS["things"], WORDS["both"], WORDS["both_alone"])))
        head = Word(plural(noun) if several else noun, "NOUN")
        if self.chance(0.15):  # a garden wall
            head.left.append(Word(self.one(self.one((WORDS["things"], WORDS["both"]))), "NOUN"))
        for _ in range(self.random.choices((0, 1, 2), (55, 35, 10))[0]):
            head.left.insert(0, Word(self.one(self.one((WORDS["adjectives"], WORDS["opened"]))), "ADJ"))
        head.left.insert(0, Word(self.determiner(several, [*head.left, head][0].text), "DET"))
        if deep < 2 and self.chance(0.3 if deep == 0 else 0.12):
            head.right.append(self.place(deep + 1))
        elif deep == 0 and living and self.chance(0.25):
            clause = self.verb_phrase(several, deep=1)
            clause.left.insert(0, Word(self.one(("who", "that")), "PRON"))
            head.right.append(clause)
        return head, several

    def determiner(self, several: bool, before: str) -> str:
        """Draw one that stands before a word."""
        drawn = self.one(
            ("the", "the", *(("these", "many") if several else ("a", "this", "that", "every")), "my", "her", "their")
        )
        return "an" if drawn == "a" and before[0] in "aeiou" else drawn

    def place(self, deep: int) -> Word:
        """Draw a preposition with its noun."""
        noun, _ = self.noun_phrase(self.chance(0.3), deep + 1, pronouns=False)
        noun.left.insert(0, Word(self.one(WORDS["prepositions"]), "ADP"))
        return noun

    def verb_phrase(self, several: bool = True, form: str = "finite", deep: int = 0) -> Word:
        """Draw a verb with its object and places."""
        with_object = self.chance(0.65)
        lists = (
            (WORDS["both"], WORDS["both"], WORDS["with_object"], WORDS["opened"])
            if with_object
            else (WORDS["both_alone"], WORDS["alone"])
        )
        verb = Word(self.one(self.one(lists)), "VERB")
        if form == "finite" and self.chance(0.35):
            verb.left.append(Word(self.one(("will", "can", "must", "should", "may")), "AUX"))
        elif form == "finite":
            verb.text = self.agreeing(verb.text, several)
        if self.chance(0.2):
            verb.left.append(Word(self.one(WORDS["adverbs"]), "ADV"))
        if with_object:
            noun, _ = self.noun_phrase(self.chance(0.5), deep + 1)
            noun.text = OBJECTS.get(noun.text, noun.text)
            verb.right.append(noun)
        if self.chance(0.3):
            verb.right.append(self.place(deep + 1))
        return verb

    def agreeing(self, verb: str, several: bool) -> str:
        """Return a verb's present tense; with -s it looks like a noun's plural."""
        return verb if several else {"go": "goes"}.get(verb) or plural(verb)

    def one(self, choices: Sequence[Any]) -> Any:
        """Draw one; for training, three of five words of a lexicon's list are drawn and the others never."""
        few = len(choices) < FEW or not self._seen_only
        return self.random.choice(choices if few else [word for place, word in enumerate(choices) if place % 5 < 3])

    def chance(self, share: float) -> bool:
        """Return True in this share of all draws."""
        return self.random.random() < share


def plural(noun: str) -> str:
    """Return a noun's plural, or a verb's third person."""
    if noun in IRREGULAR:
        return IRREGULAR[noun]
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeiou" else f"{noun}s"


def parsed() -> Iterator[tuple[str, list[Labelled], list[Labelled], bool]]:
    """Yield sentences, none twice, with each word's part of speech, with its steps to the root, and whether they are held out."""
    grammars = Grammar(0, seen_only=True), Grammar(1, seen_only=False)
    texts = set[str]()
    while len(texts) < TRAINING + HELD_OUT:
        held_out = len(texts) >= TRAINING
        root, mark = grammars[held_out].sentence()
        text, tags, depths = "", [], []
        for word, tag, depth in root.in_order():
            start = len(text) + bool(text)
            text = f"{text} {word}".strip()
            tags.append((start, len(text), tag, word))
            depths.append((start, len(text), f"{min(depth, DEEPEST)}{'+' * (depth >= DEEPEST)}", word))
        text = text[0].upper() + text[1:] + mark
        if text not in texts:
            texts.add(text)
            yield text, tags, depths, held_out


def with_senses() -> Iterator[tuple[str, list[Labelled], bool]]:
    """Yield sentences with the sense of a word, and whether they are held out: those with every third word that tells it."""
    for word, senses in LEXICON["senses"].items():
        for sense, clues in senses.items():
            for place, clue in enumerate(clues.split()):
                for frame in LEXICON["frames"]:
                    text = frame.format(clue=clue, word=word)
                    start = text.index(f" {word}") + 1
                    yield text, [(start, start + len(word), f"{word} ({sense})", clue)], place % 3 == 2


def write(folder: Path) -> None:
    """Write a file for each task. A line: the text, whether it is held out, and words by their place in the text, each with its
    label and with what a control label is drawn for."""
    folder.mkdir(parents=True, exist_ok=True)
    grammar = list(parsed())
    _write(folder / "pos.jsonl", ((text, tags, held_out) for text, tags, _, held_out in grammar))
    _write(folder / "depth.jsonl", ((text, depths, held_out) for text, _, depths, held_out in grammar))
    _write(folder / "sense.jsonl", with_senses())


def _write(path: Path, lines: Iterable[tuple[str, list[Labelled], bool]]) -> None:
    made = ({"text": text, "held_out": held_out, "words": found} for text, found, held_out in lines)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in made), encoding="utf-8")
