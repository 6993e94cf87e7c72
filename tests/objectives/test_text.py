"""Tokenised text: its sentences and documents."""

from __future__ import annotations

import numpy as np
from scipy import stats
from transformers import PreTrainedTokenizerBase

from explorer.objectives.text import TextStore, documents_in, keeps_spaces
from tests.models.tiny import byte_level
from tests.objectives.stores import FALSE_ALARM, FIRST_ID, STORE, document_of
from tests.rows import each_row


@each_row("most", [1, 4, 10, 1000])
def test_take_reads_on_from_a_sentence_and_stays_in_its_document(most: int) -> None:
    for sentence in range(STORE.sentences):
        taken = STORE.take(sentence, most)
        assert taken == list(range(FIRST_ID + int(STORE.starts[sentence]), taken[-1] + 1))
        assert len(taken) <= most
        assert {document_of(token) for token in taken} == {int(STORE.documents[sentence])}
        left = int(STORE.starts[STORE.document_end(sentence)] - STORE.starts[sentence])
        assert len(taken) == min(most, left)


def test_document_end_is_the_first_sentence_of_the_next_document() -> None:
    assert [STORE.document_end(sentence) for sentence in range(STORE.sentences)] == [5] * 5 + [6] + [10] * 4 + [
        14
    ] * 4 + [16] * 2


def test_one_sentence_holds_its_tokens() -> None:
    assert [len(STORE.one_sentence(number)) for number in range(4)] == [5, 9, 3, 12]
    assert [token for number in range(STORE.sentences) for token in STORE.one_sentence(number)] == list(STORE.ids)


def test_a_sentence_is_drawn_as_often_as_it_is_long() -> None:
    rng = np.random.default_rng(0)
    counts = np.bincount([STORE.sentence_at(rng) for _ in range(20_000)], minlength=STORE.sentences)
    expected = np.diff(STORE.starts) / len(STORE.ids) * 20_000
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


def test_a_store_keeps_every_sentence_of_the_text(tokenizer: PreTrainedTokenizerBase) -> None:
    documents = [["One cat. Two dogs.", "Three birds."], ["Four fish."], ["\u200b"]]
    store = TextStore.from_documents(documents, tokenizer)
    assert store.documents.tolist() == [0, 0, 0, 1]
    assert store.paragraphs.tolist() == [0, 0, 1, 2]
    assert [store.paragraph_start(number) for number in range(4)] == [0, 0, 2, 3]
    assert [store.paragraph_end(number) for number in range(4)] == [2, 2, 3, 4]
    read = [tokenizer.decode(store.one_sentence(number)) for number in range(store.sentences)]
    assert read == ["One cat.", "Two dogs.", "Three birds.", "Four fish."]


def test_a_byte_level_vocabulary_keeps_the_space_before_every_sentence_but_a_document_s_first(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    reader = byte_level()
    store = TextStore.from_documents([["The cat sat. The cat.", "the end."], ["Another."]], reader)
    read = [reader.decode(store.one_sentence(number)) for number in range(store.sentences)]
    assert read == ["The cat sat.", " The cat.", " the end.", "Another."]
    assert keeps_spaces(reader)
    assert not keeps_spaces(tokenizer)


def test_documents_are_read_from_lines_with_empty_ones_between_them() -> None:
    text = "\n\nOne. Two.\n  Three. \n \t\nFour.\n\n\n"
    assert list(documents_in(text.splitlines())) == [["One. Two.", "Three."], ["Four."]]
    assert list(documents_in(["", " "])) == []
