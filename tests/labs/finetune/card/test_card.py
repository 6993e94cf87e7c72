"""The tasks' cards: what is asked, how it is judged, and the rows as they stand in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.errors import BadInputError
from explorer.labs.finetune import card as figures
from explorer.labs.finetune.card import EXAMPLES, MOST_ROWS, CardParams, Row, TaskCard, task_card
from explorer.settings import BUNDLED_TASKS, settings
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS
from explorer.tasks.sources import keep_upload, load
from tests.rows import each_row


@each_row("task", [task.slug for task in TASKS])
def test_each_bundled_task_has_a_card(task: str) -> None:
    card = task_card(CardParams(task))
    data = load(task, settings())
    view = str(figures.card_view(card))
    assert data.task.question in view.replace("&#39;", "'")
    for name in data.task.metrics:
        assert f"{METRICS[name].title}: {figures.REASONS[name]}" in view.replace("&#39;", "'")
    assert len(card.examples) == EXAMPLES
    assert len({row.label for row in card.examples}) == min(EXAMPLES, len(data.task.labels) or EXAMPLES)
    assert sum(share for _, share in card.classes) == pytest.approx(1 if data.task.labels else 0)
    table = figures.rows_table(card)
    assert len(table.rows) == min(MOST_ROWS, len(data.train))
    assert table.rows[0][:2] == (data.train[0].text, data.train[0].second)


def test_labels_are_named_and_scores_are_numbers() -> None:
    first = task_card(CardParams("sst2")).rows[0]
    line = (BUNDLED_TASKS / "sst2" / "train.tsv").read_text(encoding="utf-8").splitlines()[1].split("\t")
    assert first == Row(line[0], None, ("negative", "positive")[int(line[1])])
    scores = [row.label for row in task_card(CardParams("stsb")).examples]
    assert scores == sorted(scores)  # type: ignore[type-var]
    assert all(isinstance(score, float) for score in scores)


def test_a_plain_text_has_no_label() -> None:
    card = task_card(CardParams("text"))
    assert {row.label for row in card.rows} == {None}
    assert "label" not in figures.rows_view(card)


def test_a_visitors_file_has_one_and_stays_text(tmp_path: Path) -> None:
    lines = [f"<b>row {number}</b>,{'good' if number % 2 else 'bad'}" for number in range(20)]
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    card = task_card(CardParams(keep_upload(file, settings()).name))
    assert {name for name, _ in card.classes} == {"good", "bad"}
    view = str(figures.card_view(card) + figures.rows_view(card))
    assert "&lt;b&gt;row" in view
    assert "<b>" not in view


def test_no_task_is_refused() -> None:
    with pytest.raises(BadInputError, match="no task"):
        task_card(CardParams("../secret"))


def test_the_title_says_what_is_asked() -> None:
    card = TaskCard("SST-2-like, bundled · sentiment", "Is it good?", "", ("text",), (), (), 1, (), (), (), ())
    assert figures.card_title(card) == "The task: SST-2-like · Is it good?"


@pytest.mark.parametrize(
    ("task", "answers", "reasons"),
    [
        ("squad", "a passage of the second text, or that there is none", ("exact_match",)),
        ("e2e", "a text of its own", ("BLEU", "NIST", "METEOR", "ROUGE-L", "CIDEr")),
    ],
)
def test_tasks_of_answers_and_of_texts_have_cards_too(task: str, answers: str, reasons: tuple[str, ...]) -> None:
    card = task_card(CardParams(task))
    view = str(figures.card_view(card))
    assert answers in view
    assert all(figures.REASONS[name] in view for name in reasons)
    assert all(isinstance(row.label, str) and row.label for row in card.rows)
    if task == "squad":
        assert figures.OF_ANSWERS in view.replace("&#39;", "'")
        assert "no answer" in {row.label for row in (*card.rows, *card.examples)}
