"""The bundled stories, and a visitor's text as documents."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.scratch.text import FEWEST_SENTENCES, own_documents, read_documents
from explorer.settings import BUNDLED_STORIES, Settings
from explorer.text import split_sentences

WRITTEN = [f"Number {count} is here." for count in range(FEWEST_SENTENCES)]


def test_the_bundled_stories_are_as_their_readme_says() -> None:
    whole = read_documents("stories", Settings())
    documents = [*whole.train, *whole.held_out]
    assert len(documents) == 256
    assert len(whole.held_out) == 25
    assert 230_000 < sum(len(paragraph) for document in documents for paragraph in document) < 250_000
    assert all(path.read_text(encoding="utf-8").isascii() for path in BUNDLED_STORIES.glob("*.txt"))


def test_no_sentence_stands_in_two_stories() -> None:
    whole = read_documents("stories", Settings())
    seen = [
        sentence
        for document in (*whole.train, *whole.held_out)
        for sentence in {one for paragraph in document for one in split_sentences(paragraph)}
        if len(sentence) > 30
    ]
    assert len(seen) == len(set(seen))


def test_an_empty_line_ends_a_document_and_lines_are_joined() -> None:
    blocks = ["\n".join(WRITTEN[at : at + 2]) for at in range(0, FEWEST_SENTENCES, 2)]
    found = own_documents("\n\n".join(blocks), "your text")
    assert len(found.train) + len(found.held_out) == len(blocks)
    assert found.train[0] == (" ".join(WRITTEN[:2]),)
    assert set(found.held_out).isdisjoint(found.train)


def test_a_text_in_one_piece_is_cut_into_documents() -> None:
    found = own_documents(" ".join(WRITTEN), "your text")
    assert len(found.train) + len(found.held_out) == 10
    assert found.held_out


def test_a_text_that_is_too_short_is_refused_with_what_it_has() -> None:
    with pytest.raises(BadInputError, match=f"Your text has 3 sentences, and at least {FEWEST_SENTENCES}"):
        own_documents("One is here. Two is here. Three is here.", "your text")
