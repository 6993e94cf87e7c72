"""JSON lines as a visitor's table: what is read of an object, and what is said of a broken line."""

from __future__ import annotations

import json

from explorer.tasks.formats.table import read_separated
from tests.rows import each_row
from tests.tasks.test_table import failure


def lines(*rows: object) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def test_texts_labels_and_what_is_neither() -> None:
    found = read_separated(
        lines(
            {"text": "It rained.", "label": "wet", "tags": ["a"], "id": 1},
            {"label": "dry", "text": "It shone,\nat last.", "note": None},
        )
    )
    assert [(example.text, example.label) for example in found.examples] == [
        ("It rained.", 1),
        ("It shone, at last.", 0),
    ]
    assert found.classes == ("dry", "wet")


def test_numbers_and_truth_values_are_labels() -> None:
    assert read_separated(lines({"text": "a", "label": 1}, {"text": "b", "label": 0})).classes == ("0", "1")
    assert read_separated(lines({"text": "a", "y": True}, {"text": "b", "y": False})).classes == (
        "false",
        "true",
    )
    assert read_separated(lines({"text": "a", "y": 0.5}, {"text": "b", "y": 2})).classes == ()


@each_row(
    ("bad", "what"),
    [
        ("{text: 1}", "not JSON"),
        ("[1, 2]", "JSON, but not an object"),
        ('{"text": "x"}', "no label in the column label"),
        ('{"label": "wet"}', "nothing in the column text"),
        ('{"text": ["x"], "label": "wet"}', "nothing in the column text"),
        ('{"text": "x", "label": NaN}', "not a finite number"),
        ('{"text": ' + "[" * 100_000, "not JSON"),
        ('{"text": "x", "label": ' + "1" * 5000 + "}", "a number or a nesting that is too large"),
    ],
)
def test_a_broken_line_is_named(bad: str, what: str) -> None:
    message = failure(lines({"text": "It rained.", "label": "wet"}) + "\n" + bad + "\n")
    assert message.startswith("own.csv, line 3: ")
    assert what in message


def test_lone_surrogates_do_not_reach_a_tokenizer() -> None:
    found = read_separated('{"text": "a \\ud800 b", "label": 1}\n{"text": "c", "label": 0}\n')
    found.examples[0].text.encode()


def test_a_json_array_is_told_how_to_become_lines() -> None:
    assert "one object a line" in failure('[\n{"text": "a", "label": 1}\n]\n')


def test_a_new_key_on_every_line_does_not_fill_the_memory() -> None:
    rows = [{"text": "a", "label": 1, f"key{place}": 1} for place in range(100)]
    assert "different keys" in failure(lines(*rows))
