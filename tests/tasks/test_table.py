"""Visitors' own tables: what is found in them, and what is said of a broken one."""

from __future__ import annotations

import csv
import io

import pytest

from explorer.errors import BadInputError
from explorer.tasks.formats.table import Separated, read_separated
from tests.rows import each_row

TEXTS = ["It rained all day.", "The sun shone, at last.", 'She said "no" twice.', "Wind; and hail!"]


def table(header: list[str], rows: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    """A file as the csv module writes it."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows([header, *rows])
    return file.getvalue()


def failure(text: str, like: Separated | None = None) -> str:
    with pytest.raises(BadInputError) as caught:
        read_separated(text, "own.csv", like)
    return str(caught.value)


class TestDelimitersAndQuotes:
    @each_row("delimiter", [",", ";", "\t", "|"])
    @each_row("end", ["\n", "\r\n", "\r"])
    def test_each_delimiter_and_line_end(self, delimiter: str, end: str) -> None:
        rows = [[text, "wet" if place % 2 else "dry"] for place, text in enumerate(TEXTS)]
        found = read_separated(table(["text", "label"], rows, delimiter, end))
        assert [example.text for example in found.examples] == TEXTS
        assert [example.label for example in found.examples] == [0, 1, 0, 1]
        assert found.classes == ("dry", "wet")

    def test_a_line_break_in_quotes_is_part_of_the_text_and_counted_as_a_line(self) -> None:
        text = 'text,label\n"one\nlong\ntext",a\nshort,b\n'
        assert [example.text for example in read_separated(text).examples] == ["one long text", "short"]
        assert "own.csv, line 6: 3 columns" in failure(text + "x,y,z\n")

    def test_stray_quotes_in_a_tsv_are_characters(self) -> None:
        text = 'text\tlabel\n"No, he said.\ta\nShe "saw" it\tb\n"quoted ""twice"""\ta\n'
        assert [example.text for example in read_separated(text).examples] == [
            '"No, he said.',
            'She "saw" it',
            'quoted "twice"',
        ]

    def test_a_tsv_may_be_quoted_as_well(self) -> None:
        text = 'text\tlabel\n"two\nlines"\ta\n"a\ttab"\tb\n'
        assert [example.text for example in read_separated(text).examples] == ["two lines", "a tab"]

    def test_commas_in_a_headers_name_do_not_part_it(self) -> None:
        found = read_separated('"text, long";label\na,b;x\nc,d;y\n')
        assert found.texts == ("text, long",)
        assert [example.text for example in found.examples] == ["a,b", "c,d"]

    @pytest.mark.parametrize("bad", ['"open,a\nb,c\n', 'fine,a\n"shut" too early,b\n'])
    def test_quotes_that_do_not_match_are_an_error(self, bad: str) -> None:
        assert "the double quotes of the row that begins here do not match" in failure("text,label\n" + bad)


class TestColumns:
    @each_row(
        ("header", "texts", "label"),
        [
            (["text", "label"], ("text",), "label"),
            (["Label", "Text"], ("Text",), "Label"),
            (["id", "REVIEW", "Sentiment"], ("REVIEW",), "Sentiment"),
            (["gold_label", "premise", "hypothesis"], ("premise", "hypothesis"), "gold_label"),
            (["sentence2", "sentence1", "class"], ("sentence1", "sentence2"), "class"),
            (["question1", "question2", "is_duplicate", "id"], ("question1", "question2"), "is_duplicate"),
            (["text", "score", "label"], ("text",), "label"),
            (["😀", "🏷️"], ("😀",), "🏷️"),
            (["what", "about", "kind"], ("what", "about"), "kind"),
        ],
    )
    def test_names(self, header: list[str], texts: tuple[str, ...], label: str) -> None:
        rows = [["a b" if name not in (label, "id", "score") else str(place) for name in header] for place in (1, 2)]
        found = read_separated(table(header, rows))
        assert (found.texts, found.label) == (texts, label)

    def test_columns_without_telling_names_are_told_by_what_they_hold(self) -> None:
        rows = [["17", "some words here", "north", "x"], ["18", "other words there", "south", "y"]]
        found = read_separated(table(["no", "col a", "region", "kind"], rows))
        assert (found.texts, found.label) == (("col a",), "kind")

    def test_single_words_and_unspaced_scripts_are_texts_where_nothing_else_is(self) -> None:
        assert read_separated("wort,art\nHund,a\nBirke,b\n").texts == ("wort",)
        assert read_separated("文,kind\n雨が降った。,a\n晴れた。,b\n").texts == ("文",)

    def test_a_spreadsheets_index_and_empty_last_columns(self) -> None:
        found = read_separated(",words,kind,,\n0,it rained,a,,\n1,it snowed,b,,\n")
        assert (found.texts, found.label) == (("words",), "kind")

    def test_three_columns_of_text_leave_it_open(self) -> None:
        message = failure("a,b,c,label\none two,three four,five six,x\none two,three four,five six,y\n")
        assert "3 columns of text (a, b, c)" in message
        assert "sentence1" in message

    def test_no_column_of_text(self) -> None:
        assert "no column of text beside the label" in failure("a,label\n1,x\n2,y\n")

    def test_a_missing_header_is_noticed(self) -> None:
        rows = "it rained,wet\nit shone,dry\nit poured,wet\n"
        assert "line 1: this looks like an example" in failure(rows)
        assert "line 1: this looks like an example" in failure("it rained,3.5\nit shone,0.5\nit poured,4.25\n")

    def test_two_columns_of_one_name(self) -> None:
        assert "two columns are called text" in failure("text,text,label\na,b,1\nc,d,2\n")

    @pytest.mark.parametrize("text", ["text\none\ntwo\n", "just a sentence\n"])
    def test_one_column(self, text: str) -> None:
        assert "only one column" in failure(text)


class TestLabels:
    def classes_of(self, labels: list[str]) -> tuple[tuple[str, ...], list[float]]:
        rows = [[f"text {place}", label] for place, label in enumerate(labels)]
        found = read_separated(table(["text", "label"], rows))
        return found.classes, [example.label for example in found.examples]

    def test_words_are_classes_in_sorted_order(self) -> None:
        assert self.classes_of(["ham", "spam", " eggs", "ham "]) == (("eggs", "ham", "spam"), [1, 2, 0, 1])

    def test_whole_numbers_are_classes_in_the_order_of_numbers(self) -> None:
        assert self.classes_of(["10", "2", "-1", "2.0"]) == (("-1", "2", "10"), [2, 1, 0, 1])

    def test_twenty_numbers_are_classes_and_twenty_one_are_scores(self) -> None:
        assert len(self.classes_of([str(value) for value in range(20)])[0]) == 20
        assert self.classes_of([str(value) for value in range(21)]) == ((), [float(value) for value in range(21)])

    def test_numbers_with_a_fraction_are_scores(self) -> None:
        assert self.classes_of(["1", "2.5", "1e-3"]) == ((), [1.0, 2.5, 0.001])

    def test_a_word_among_numbers_makes_them_classes(self) -> None:
        assert self.classes_of(["0", "1", "maybe"])[0] == ("0", "1", "maybe")

    def test_a_stray_word_among_many_scores_is_named(self) -> None:
        rows = [[f"text {place}", str(place / 2)] for place in range(30)] + [["text", "n/a"]]
        assert "own.csv, line 32: the label 'n/a' is not a number" in failure(table(["text", "label"], rows))

    def test_too_many_classes(self) -> None:
        rows = [[f"text {place}", f"kind {place}"] for place in range(21)]
        message = failure(table(["text", "label"], rows))
        assert "21 different labels in the column label" in message
        assert "at most 20" in message

    @each_row(
        ("label", "what"),
        [
            ("", "no label in the column label"),
            ("  ", "no label"),
            ("nan", "not a finite number"),
            ("-inf", "not a finite number"),
            ("x" * 101, "a label of 101 characters"),
        ],
    )
    def test_a_label_that_says_nothing_is_named_by_its_line(self, label: str, what: str) -> None:
        message = failure(table(["text", "label"], [["one", "1"], ["two", label]]))
        assert message.startswith("own.csv, line 3: ")
        assert what in message


class TestTask:
    def test_what_the_page_reads(self) -> None:
        task = read_separated("text,mood\nfine day,glad\nbad day,sad\n").task("file-0", "days.csv")
        assert (task.slug, task.title, task.question) == ("file-0", "days.csv", "Which mood: glad or sad?")
        assert (task.labels, task.metrics) == (("glad", "sad"), ("accuracy", "f1", "matthews"))

    def test_f1_is_for_two_classes_and_correlations_for_scores(self) -> None:
        three = read_separated("text,label\na b,x\nc d,y\ne f,z\n").task("s", "t")
        scored = read_separated("text,score\na b,0.5\nc d,1.5\n").task("s", "t")
        assert three.metrics == ("accuracy", "matthews")
        assert (scored.metrics, scored.labels, scored.question) == (
            ("pearson", "spearman"),
            (),
            "How high is the score?",
        )

    def test_long_names_are_cut_and_control_characters_go(self) -> None:
        task = read_separated("a\x07text " + "x" * 90 + ",label\nit rained,a\nit shone,b\n").task("s", "n" * 500)
        assert len(task.title) == len(task.columns[0]) == 60
        assert task.columns[0].isprintable()


class TestRefusals:
    @each_row(
        ("row", "what"),
        [
            ("only", "1 columns, where the first line names 2"),
            ("one,two,three", "3 columns"),
            (",b", "nothing in the column text"),
            ("\x01\x02,b", "nothing in the column text"),
            ("x" * 100_000 + ",b", "a text of 100,000 characters; the longest taken has 20,000"),
        ],
    )
    def test_a_broken_row_is_named_by_its_line(self, row: str, what: str) -> None:
        message = failure(f"text,label\nfine,a\n\n{row}\n")
        assert message.startswith("own.csv, line 4: ")
        assert what in message

    def test_a_text_too_long_for_the_csv_module(self) -> None:
        csv.field_size_limit(131_072)  # Python's own; a script that is taken home raises it for its process
        for text in ("x" * 200_000 + ",b\n", '"never closed,a\n' + "b c,d\n" * 30_000):
            said = failure(
                "text,label\n" + text
            )  # Python 3.13's module reads one that ends within the file, and we refuse it
            assert "line 2: a text of more than 131,072 characters" in said or "a text of 200,000 characters" in said
        assert "line 2: a text of more than 131,072 characters" in failure("text\tlabel\n" + "x" * 200_000 + "\tb\n")

    def test_a_header_alone(self) -> None:
        assert "a header and no examples" in failure("text,label\n")

    def test_more_rows_than_memory_is_kept_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("explorer.tasks.read_file.MOST_EXAMPLES", 5)
        for text in ("text,label\n" + "a,b\n" * 6, "text\tlabel\n" + "a\tb\n" * 6, '{"text": "a", "label": 1}\n' * 6):
            assert "more than 5 examples" in failure(text)
        assert len(read_separated("text,label\n" + "a,b\n" * 5).examples) == 5

    def test_more_columns_than_are_read(self) -> None:
        names = ",".join(f"c{place}" for place in range(51))
        assert "51 columns" in failure(f"{names}\n")


class TestValidationFile:
    train = "text,label\na b,ham\nc d,spam\ne f,eggs\n"

    def test_it_takes_the_training_files_classes(self) -> None:
        like = read_separated(self.train)
        found = read_separated("id,label,text\n7,spam,g h\n", "own.csv", like)
        assert found.classes == like.classes
        assert [(example.text, example.label) for example in found.examples] == [("g h", 2)]

    def test_numbers_are_matched_as_numbers(self) -> None:
        like = read_separated("text,label\na b,0\nc d,1\n")
        assert read_separated("text,label\ng h,1.0\n", "own.csv", like).examples[0].label == 1

    def test_a_score_stays_a_score(self) -> None:
        like = read_separated("text,label\na b,0.5\nc d,1\n")
        assert read_separated("text,label\ng h,1\ni j,2\n", "own.csv", like).classes == ()
        assert "line 2: the label 'high'" in failure("text,label\ng h,high\n", like)

    def test_another_class_or_column_is_refused(self) -> None:
        like = read_separated(self.train)
        assert "line 3: the label 'beans', which the training file does not have" in failure(
            "text,label\ng h,ham\ni j,beans\n", like
        )
        assert "no column label" in failure("text,kind\ng h,ham\n", like)
