"""Words beside a picture that are not numbers."""

from __future__ import annotations

import pytest

from explorer.charts.words import counted, sentences, strong
from tests.labs.drawing import HOSTILE, assert_safe


@pytest.mark.parametrize(("count", "said"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (1200, "1,200 words")])
def test_one_is_not_many(count: int, said: str) -> None:
    assert counted(count, "word") == said


@pytest.mark.parametrize("text", HOSTILE)
def test_sentences_in_a_list_stay_text(text: str) -> None:
    assert_safe(sentences(["One.", text]), text, ("ol", "li"))
    assert "<li><strong>bank</strong></li>" in sentences([strong("bank")])
