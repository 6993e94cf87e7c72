"""Words beside a picture that are not numbers."""

from __future__ import annotations

from explorer.charts.words import counted, in_quotes, inside, sentences, strong
from tests.labs.drawing import HOSTILE, assert_safe
from tests.rows import each_row


@each_row(("count", "said"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (1200, "1,200 words")])
def test_one_is_not_many(count: int, said: str) -> None:
    assert counted(count, "word") == said


@each_row(
    ("title", "said"),
    [
        ("Adapters (Houlsby)", "adapters (Houlsby)"),
        ("LoRA r=8", "LoRA r=8"),
        ("Full fine-tuning", "full fine-tuning"),
        ("", ""),
    ],
)
def test_a_title_inside_a_sentence_begins_small_unless_it_is_a_name(title: str, said: str) -> None:
    assert inside(title) == said


@each_row("text", HOSTILE)
def test_sentences_in_a_list_stay_text(text: str) -> None:
    assert_safe(sentences(["One.", text]), text, ("ol", "li"))
    assert "<li><strong>bank</strong></li>" in sentences([strong("bank")])


@each_row(
    ("token", "said"),
    [
        ("are", "“are”"),
        (" Paris", "“Paris”"),
        ("Ġto", "“to”"),
        ("▁to", "“to”"),
        ("##ing", "“##ing”"),
        (".", "“.”"),
        ("[CLS]", "[CLS]"),
        ("<s>", "<s>"),
        ("<B>", "“<B>”"),
        (" ", "a space"),
        ("Ġ", "a space"),
        ("\n", "a line break"),
    ],
)
def test_a_token_is_named_in_quotation_marks_without_its_space(token: str, said: str) -> None:
    assert in_quotes(token).replace("<strong>", "").replace("</strong>", "").unescape() == said
    assert in_quotes(token, bold=False).unescape() == said


def test_a_token_stays_text() -> None:
    assert in_quotes("<img>x") == "“<strong>&lt;img&gt;x</strong>”"
    assert in_quotes("<img>x", bold=False) == "“&lt;img&gt;x”"
    assert in_quotes("<s>") == "<strong>&lt;s&gt;</strong>"
