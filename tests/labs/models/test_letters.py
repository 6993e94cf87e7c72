"""What B-E-R-T stands for, on BERT's card and the front page."""

from __future__ import annotations

import inspect
import re

from explorer import home
from explorer.labs import LABS
from explorer.labs.models.family_figures import LETTERS, changes_view, letters


def test_four_words_make_the_name_and_lead_to_pages_that_there_are() -> None:
    assert "".join(word[0] for word, _, _ in LETTERS) == "BERT"
    assert {slug for _, _, slug in LETTERS} <= {lab.slug for lab in LABS}
    assert letters().striptags() == "Bidirectional Encoder Representations from Transformers (Google, October 2018)."
    assert len(re.findall("<a href", letters())) == 4


def test_the_name_stands_on_berts_card_alone_and_on_the_front_page() -> None:
    cards = str(changes_view()).split('<section class="family-card">')[1:]
    assert [card.startswith("<h2>BERT</h2>") for card in cards] == ["October 2018" in card for card in cards]
    assert "letters()" in inspect.getsource(home.build)
