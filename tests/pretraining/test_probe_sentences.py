"""The sentences for probes: written again byte by byte, parsed as they should be, and held out with words of their own."""

from __future__ import annotations

from pathlib import Path

from explorer.labs.context.probe import TASKS, ambiguous, examples
from explorer.settings import PROBES
from pretraining.probe_sentences import Grammar, plural, write


def test_the_bundled_files_are_what_the_program_writes(tmp_path: Path) -> None:
    write(tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == set(TASKS)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (PROBES / path.name).read_bytes()


def test_each_parse_is_a_tree_with_one_root() -> None:
    grammar = Grammar(5, seen_only=False)
    for _ in range(300):
        root, mark = grammar.sentence()
        words = list(root.in_order())
        assert [depth for *_, depth in words].count(0) == 1
        assert all(not depth or depth - 1 in [one for *_, one in words] for *_, depth in words)
        assert mark in ".?"


def test_no_sentence_is_in_both_parts_and_held_out_words_are_new() -> None:
    for task in TASKS:
        texts: dict[bool, set[str]] = {False: set(), True: set()}
        words: dict[bool, set[str]] = {False: set(), True: set()}
        for example in examples(task):
            texts[example.held_out].add(example.text)
            words[example.held_out] |= {word.about for word in example.words}
        assert not texts[True] & texts[False]
        assert len(words[True] - words[False]) > len(words[True]) / 4, task


def test_every_label_stands_at_its_word() -> None:
    for task in TASKS:
        for example in examples(task):
            for word in example.words:
                spelled = example.text[word.start : word.stop]
                assert spelled.isalpha()
                if task == "sense":
                    assert word.label.startswith(f"{spelled} (")
                    assert word.about in example.text.split(spelled)[0] + example.text.split(spelled)[1]
                else:
                    assert spelled.lower() == word.about


def test_words_that_can_be_two_things_are() -> None:
    assert {"dance", "clean", "her", "that", "walk"} <= ambiguous("pos")
    assert not {"the", "king", "of"} & ambiguous("pos")
    assert ambiguous("sense") == {word.split()[0] for word in {one.label for e in examples("sense") for one in e.words}}


def test_plurals() -> None:
    assert [plural(word) for word in ("box", "church", "story", "boy", "wolf", "cat")] == [
        "boxes",
        "churches",
        "stories",
        "boys",
        "wolves",
        "cats",
    ]
