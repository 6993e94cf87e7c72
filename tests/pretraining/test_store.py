"""Tokenised text: its sentences and documents, and the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from transformers import PreTrainedTokenizerBase

from pretraining.store import TextStore, fingerprint, keeps_spaces, load_stores, unigram_counts
from tests.models.tiny import byte_level
from tests.pretraining.stores import FALSE_ALARM, FIRST_ID, STORE, document_of


@pytest.mark.parametrize("most", [1, 4, 10, 1000])
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


def test_a_text_is_tokenised_once_for_each_vocabulary_and_again_when_it_has_changed(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "source.txt", tmp_path / "cache"
    path.write_text("One cat. Two dogs.\n\nThree birds.\n")
    first = TextStore.cached(path, tokenizer, cache)
    with monkeypatch.context() as patch:
        patch.setattr(TextStore, "from_documents", None)
        again = TextStore.cached(path, tokenizer, cache)
    assert first.ids.tolist() == again.ids.tolist()
    assert first.starts.tolist() == again.starts.tolist()
    assert first.documents.tolist() == again.documents.tolist()
    assert first.paragraphs.tolist() == again.paragraphs.tolist()
    assert TextStore.cached(path, byte_level(), cache).ids.tolist() != first.ids.tolist()
    path.write_text("Another text than before.")
    assert tokenizer.decode(TextStore.cached(path, tokenizer, cache).ids) == "Another text than before."
    assert len(list(cache.iterdir())) == 3
    assert fingerprint(tokenizer) != fingerprint(byte_level())


def test_held_out_text_is_not_loaded_and_tokens_are_counted(
    corpus: Path, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    stores = load_stores(corpus, tokenizer, tmp_path)
    assert set(stores) == {"wikitext", "books", "tatoeba"}
    counts = unigram_counts(stores, len(tokenizer))
    assert int(counts.sum()) == sum(len(store.ids) for store in stores.values())
    full_stop = tokenizer.convert_tokens_to_ids(".")
    assert counts[full_stop] == sum(int((store.ids == full_stop).sum()) for store in stores.values())
