"""GLUE's nine layouts with their quirks, in small files made here."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.errors import BadInputError
from explorer.tasks.formats.glue import LAYOUTS, read_glue, recognise
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.task import Example
from tests.rows import each_row
from tests.tasks.conftest import Write

MNLI_TRAIN = (
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\t"
    "sentence1\tsentence2\tlabel1\tgold_label\n"
    "0\t3\t3n\tfiction\t( a )\t( b )\t(A)\t(B)\tIt rained.\tIt was wet.\tentailment\tentailment\n"
    "1\t4\t4c\tfiction\t( a )\t( b )\t(A)\t(B)\tIt rained.\tIt was dry.\tneutral\tcontradiction\n"
)
MNLI_DEV = (
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\t"
    "sentence1\tsentence2\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\tgold_label\n"
    "0\t3\t3n\tletters\tp\tp\tp\tp\tA dog ran.\tIt was brown.\tneutral\tneutral\tneutral\tneutral\tneutral\tneutral\n"
    "1\t4\t4n\tletters\tp\tp\tp\tp\tA cat sat.\tIt stood.\tneutral\tentailment\tneutral\tentailment\tcontradiction\t-\n"
)
FILES = {
    "cola": (
        "bc01\t1\t\tThe bells rang.\nbc01\t0\t*\tThe bells ringed.\nsk2\t0\t?*\tBells rung the.\n",
        [("The bells rang.", None, 1), ("The bells ringed.", None, 0), ("Bells rung the.", None, 0)],
    ),
    "sst2": ("sentence\tlabel\na joy to watch \t1\n`` flat '' , dull \t0\n", [("a joy to watch", None, 1)]),
    "mrpc": (
        "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
        '1\t10\t11\t"We won, he said.\tHe said they "won.\n'
        "0\t12\t13\tRates rose.\tRates fell.\n",
        [('"We won, he said.', 'He said they "won.', 1), ("Rates rose.", "Rates fell.", 0)],
    ),
    "qqp": (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
        "0\t1\t2\tHow do I bake?\tHow to bake?\t1\n"
        "1\t3\t4\tWhy is the sky blue?\n"
        "\tHow old is it?\t0\n"
        "2\t5\t6\tWho sings?\t\t0\n"
        "3\t7\t8\tWhat is tin?\tWhere is Rome?\t0\n",
        [("How do I bake?", "How to bake?", 1), ("What is tin?", "Where is Rome?", 0)],
    ),
    "stsb": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
        "0\tnews\tx\t2012\t0001\tnone\tnone\tA plane flies.\tA plane is flying.\t5.000\n"
        '1\tnews\tx\t2012\t0002\tnone\tnone\tHe said "no.\tIt rained.\t0.25\n',
        [("A plane flies.", "A plane is flying.", 5), ('He said "no.', "It rained.", 0.25)],
    ),
    "mnli": (MNLI_TRAIN, [("It rained.", "It was wet.", 0), ("It rained.", "It was dry.", 2)]),
    "qnli": (
        "index\tquestion\tsentence\tlabel\n0\tWho?\tShe did.\tentailment\n1\tWhen?\tIt is red.\tnot_entailment\n",
        [("Who?", "She did.", 0), ("When?", "It is red.", 1)],
    ),
    "rte": (
        "index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\tnot_entailment\n1\tC.\tC.\tentailment\n",
        [("A.", "B.", 1), ("C.", "C.", 0)],
    ),
    "wnli": (
        "index\tsentence1\tsentence2\tlabel\n0\tIt broke as it fell.\tIt broke.\t1\n1\tA.\tB.\t0\n",
        [("It broke as it fell.", "It broke.", 1), ("A.", "B.", 0)],
    ),
}
EVERY = pytest.mark.parametrize("slug", FILES)


def examples(expected: list[tuple[str, str | None, float]]) -> list[Example]:
    return [Example(*row) for row in expected]


def test_every_task_has_a_layout_and_an_example_here() -> None:
    assert [layout.task for layout in LAYOUTS] == [task.slug for task in TASKS] == list(FILES)


@EVERY
def test_each_is_recognised_and_read(slug: str, write: Write) -> None:
    content, expected = FILES[slug]
    path = write(content, "train.tsv")
    found = read_glue(path)
    assert found.task == slug == recognise(path.read_text(encoding="utf-8-sig"))
    assert list(found.examples)[: len(expected)] == examples(expected)


@EVERY
def test_line_ends_of_windows_and_a_missing_last_one_change_nothing(slug: str, write: Write) -> None:
    content = FILES[slug][0]
    plain = read_glue(write(content, "a.tsv"))
    assert read_glue(write(content.replace("\n", "\r\n"), "b.tsv")) == plain
    assert read_glue(write(content.rstrip("\n"), "c.tsv")) == plain
    assert read_glue(write("\ufeff" + content.removeprefix("\ufeff"), "d.tsv")) == plain
    assert read_glue(content) == plain


def test_only_line_feeds_end_a_line() -> None:
    text = "sentence\tlabel\none\u2028line \x85 still\t1\n"
    assert read_glue(text).examples[0].text == "one\u2028line   still"


def test_rows_that_nobody_agreed_on_are_skipped_and_counted() -> None:
    found = read_glue(MNLI_DEV)
    assert list(found.examples) == examples([("A dog ran.", "It was brown.", 1)])
    assert found.notes == ("1 row without a gold label (-) skipped (line 3).",)


def test_broken_rows_of_qqp_are_skipped_and_counted() -> None:
    assert read_glue(FILES["qqp"][0]).notes == (
        "3 rows with missing columns or an empty text skipped (lines 3, 4, 5).",
    )


def test_stray_quotes_swallow_nothing() -> None:
    found = read_glue(FILES["mrpc"][0])
    assert len(found.examples) == 2


@each_row(
    ("slug", "bad", "line", "what"),
    [
        ("sst2", "no label", 4, "1 columns, where 2 were expected"),
        ("sst2", "good\tyes", 4, "the label 'yes'; SST-2 has 0, 1"),
        ("sst2", "\t1", 4, "nothing in the column sentence"),
        ("sst2", "x" * 100_000 + "\t1", 4, "a text of 100,000 characters"),
        ("cola", "a\t1\t\tOne\textra", 4, "5 columns, where 4"),
        ("mrpc", "1\t2\t3\tonly one", 4, "4 columns, where 5"),
        ("qqp", "0\t1\t2\tHow?\tWhy?\t2", 7, "the label '2'"),
        ("qqp", "0\t1\t2\tHow?\tWhy?\t1\tmore", 7, "7 columns"),
        ("stsb", "2\tn\tx\t1\t1\tn\tn\tA.\tB.\t5.5", 4, "the score '5.5'"),
        ("stsb", "2\tn\tx\t1\t1\tn\tn\tA.\tB.\tnan", 4, "the score 'nan'"),
        ("rte", "9\tA.\tB.\tmaybe", 4, "the label 'maybe'"),
        ("mnli", "0\t3\t3n\tg\tp\tp\tp\tp\tA\tB\tneutral\tunsure", 4, "the label 'unsure'"),
    ],
)
def test_a_broken_row_is_named_by_its_line(slug: str, bad: str, line: int, what: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read_glue(FILES[slug][0] + bad + "\n", slug, "train.tsv")
    message = str(caught.value)
    assert message.startswith(f"train.tsv, line {line}: ")
    assert what in message


def test_blank_lines_count_but_are_no_rows() -> None:
    assert len(read_glue("sentence\tlabel\n\nfine\t1\n\n").examples) == 1
    with pytest.raises(BadInputError, match="line 4"):
        read_glue("sentence\tlabel\n\nfine\t1\nbroken\n", "sst2")


def test_a_file_of_another_task_is_not_read_as_the_named_one() -> None:
    with pytest.raises(BadInputError, match=r"not the header of RTE, which is index, sentence1"):
        read_glue(FILES["sst2"][0], "rte")


@each_row(
    "text",
    [
        "sentence,label\ngood,1\n",
        "text\tlabel\ngood\t1\n",
        "sentence\tlabel\nham and eggs\tham\nbuy now\tspam\n",
        "sentence\tlabel\n" + "so so\t2\ngood\t1\n" * 5,
        "index\tsentence\n0\ta test file of GLUE has no labels\n",
    ],
)
def test_a_visitors_own_table_is_not_taken_for_glue(text: str) -> None:
    assert recognise(text) is None
    with pytest.raises(BadInputError, match="does not look like a file of GLUE"):
        read_glue(text)


def test_one_wrong_label_among_many_is_an_error_in_a_file_of_glue() -> None:
    text = "sentence\tlabel\n" + "fine\t1\n" * 30 + "fine\t2\n"
    assert recognise(text) == "sst2"
    with pytest.raises(BadInputError, match="line 32"):
        read_glue(text)


def test_a_file_that_is_not_utf_8_names_line_and_byte(write: Write) -> None:
    path: Path = write(b"sentence\tlabel\ngood\t1\ncaf" + b"\xe9\t1\n", "latin.tsv")
    with pytest.raises(BadInputError, match=r"latin\.tsv, line 3: byte 4 of the line \(0xe9\) is not UTF-8"):
        read_glue(path)
