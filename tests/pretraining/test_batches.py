"""Rows and batches. In the stores below each token id tells its own place, so that a row can be read backwards."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.encoding import replacement_ids
from explorer.pretraining.batches import IS_NEXT, NOT_NEXT, Row, RowMaker, TextStore, collate

FALSE_ALARM = 1e-6
"""How often a right implementation would fail a statistical test here, were the seed not fixed."""

CLS, SEP = 101, 102
FIRST_ID = 1000


def store_of(*documents: list[int]) -> TextStore:
    """Documents as lists of sentence lengths; the ids count up from FIRST_ID."""
    lengths = np.array([length for document in documents for length in document], dtype=np.int64)
    owners = np.array([number for number, document in enumerate(documents) for _ in document], dtype=np.int64)
    ids = np.arange(FIRST_ID, FIRST_ID + lengths.sum(), dtype=np.int32)
    return TextStore(ids, np.cumsum(lengths) - lengths, owners)


STORE = store_of([5, 9, 3, 12, 7], [4], [8, 8, 8, 30], [6, 2, 40, 1], [15, 20])
MAKER = RowMaker(CLS, SEP)


def sentence_of(token_id: int, store: TextStore = STORE) -> int:
    return int(np.searchsorted(store.starts, token_id - FIRST_ID, side="right")) - 1


def document_of(token_id: int) -> int:
    return int(STORE.documents[sentence_of(token_id)])


def pairs(length: int, count: int, store: TextStore = STORE) -> list[Row]:
    rng = np.random.default_rng(0)
    return [MAKER.pair(store, length, rng) for _ in range(count)]


def segments(row: Row) -> tuple[list[int], list[int]]:
    middle = row.input_ids.index(SEP)
    return row.input_ids[1:middle], row.input_ids[middle + 1 : -1]


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


@pytest.mark.parametrize("kind", ["text", "sentence"])
@pytest.mark.parametrize("length", [3, 8, 64])
def test_a_row_without_a_pair_stands_between_cls_and_sep(kind: str, length: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        row: Row = getattr(MAKER, kind)(STORE, length, rng)
        assert row.input_ids[0] == CLS
        assert row.input_ids[-1] == SEP
        assert 3 <= len(row.input_ids) <= length
        inside = row.input_ids[1:-1]
        assert inside == list(range(inside[0], inside[0] + len(inside)))
        assert len({document_of(token) for token in inside}) == 1
        assert kind == "text" or len({sentence_of(token) for token in inside}) == 1
        assert row.token_type_ids == [0] * len(row.input_ids)
        assert row.pair_label == IGNORED_LABEL


@pytest.mark.parametrize("length", [16, 32, 64, 128])
def test_a_pair_has_its_special_tokens_segments_and_room(length: int) -> None:
    for row in pairs(length, 500):
        first, second = segments(row)
        assert row.input_ids == [CLS, *first, SEP, *second, SEP]
        assert row.token_type_ids == [0] * (len(first) + 2) + [1] * (len(second) + 1)
        assert first
        assert second
        assert len(row.input_ids) <= length


def test_half_of_the_pairs_follow_each_other() -> None:
    labels = [row.pair_label for row in pairs(32, 4000)]
    assert set(labels) == {IS_NEXT, NOT_NEXT}
    assert stats.binomtest(labels.count(IS_NEXT), 4000, 0.5).pvalue > FALSE_ALARM
    assert stats.binomtest(labels.count(IS_NEXT), 4000, 0.57).pvalue < FALSE_ALARM


@pytest.mark.parametrize("length", [16, 32, 128])
def test_b_follows_a_where_the_label_says_so_and_comes_from_elsewhere_where_not(length: int) -> None:
    """A may lose tokens at either end and B at its end, but B's first sentence is the one after A's last."""
    for row in pairs(length, 1000):
        first, second = segments(row)
        for part in (first, second):
            assert part == list(range(part[0], part[0] + len(part)))
            assert len({document_of(token) for token in part}) == 1
        assert second[0] - FIRST_ID in STORE.starts
        if row.pair_label == IS_NEXT:
            assert document_of(first[0]) == document_of(second[0])
            assert sentence_of(second[0]) == sentence_of(first[-1]) + 1
        else:
            assert document_of(first[0]) != document_of(second[0])


def test_labels_do_not_show_in_the_length_of_a() -> None:
    """Were A longer for one class, a model could tell the classes without reading."""
    rows = pairs(64, 4000)
    by_label = [[len(segments(row)[0]) for row in rows if row.pair_label == label] for label in (IS_NEXT, NOT_NEXT)]
    assert stats.mannwhitneyu(*by_label).pvalue > 1e-3


@pytest.mark.parametrize("documents", [([5, 6],), ([5], [6], [7])], ids=["one document", "single sentences"])
def test_a_text_without_pairs_is_refused_rather_than_searched_for_ever(documents: tuple[list[int], ...]) -> None:
    with pytest.raises(BadInputError, match="two documents"):
        pairs(32, 1, store_of(*documents))


def test_a_store_keeps_every_sentence_of_the_text(tokenizer: PreTrainedTokenizerBase) -> None:
    documents = [["One cat. Two dogs.", "Three birds."], ["Four fish."], ["\u200b"]]
    store = TextStore.from_documents(documents, tokenizer)
    assert store.documents.tolist() == [0, 0, 0, 1]
    read = [tokenizer.decode(store.one_sentence(number)) for number in range(store.sentences)]
    assert read == ["One cat.", "Two dogs.", "Three birds.", "Four fish."]


def test_a_text_is_tokenised_once(tokenizer: PreTrainedTokenizerBase, tmp_path: object) -> None:
    path = tmp_path / "source.txt"  # type: ignore[operator]
    path.write_text("One cat. Two dogs.\n\nThree birds.\n")
    first = TextStore.cached(path, tokenizer, path.parent / "cache")
    path.unlink()
    again = TextStore.cached(path, tokenizer, path.parent / "cache")
    assert first.ids.tolist() == again.ids.tolist()
    assert first.starts.tolist() == again.starts.tolist()
    assert first.documents.tolist() == again.documents.tolist()


def rows_of(tokenizer: PreTrainedTokenizerBase, *texts: str) -> list[Row]:
    return [Row(ids, [0] * len(ids)) for ids in tokenizer(list(texts))["input_ids"]]


def test_rows_are_padded_to_the_longest_and_padding_is_masked_out(tokenizer: PreTrainedTokenizerBase) -> None:
    rows = [
        *rows_of(tokenizer, "One.", "One two three four."),
        Row([CLS, 1000, SEP, 1001, SEP], [0, 0, 0, 1, 1], NOT_NEXT),
    ]
    recipe, generator = CorruptionRecipe(rate=0.0), torch.Generator().manual_seed(0)
    batch = collate(rows, recipe, tokenizer, replacement_ids(tokenizer), generator)
    longest = max(len(row.input_ids) for row in rows)
    for number, row in enumerate(rows):
        size = len(row.input_ids)
        assert batch.input_ids[number].tolist() == row.input_ids + [tokenizer.pad_token_id] * (longest - size)
        assert batch.token_type_ids[number].tolist() == row.token_type_ids + [0] * (longest - size)
        assert batch.attention_mask[number].tolist() == [1] * size + [0] * (longest - size)
    assert bool((batch.labels == IGNORED_LABEL).all())
    assert batch.pair_labels.tolist() == [IGNORED_LABEL, IGNORED_LABEL, NOT_NEXT]


def test_each_row_is_corrupted_and_neither_padding_nor_special_tokens_are(tokenizer: PreTrainedTokenizerBase) -> None:
    rows = rows_of(tokenizer, "A short row.", "A row that is a good deal longer than the other one.")
    recipe, generator = CorruptionRecipe(rate=0.3), torch.Generator().manual_seed(0)
    batch = collate(rows, recipe, tokenizer, replacement_ids(tokenizer), generator)
    for number, row in enumerate(rows):
        size = len(row.input_ids)
        chosen = batch.labels[number] != IGNORED_LABEL
        assert int(chosen.sum()) == max(1, round(0.3 * (size - 2)))
        assert not chosen[size - 1 :].any()
        assert not chosen[0]
        original = torch.tensor(row.input_ids)
        assert torch.equal(batch.labels[number, :size][chosen[:size]], original[chosen[:size]])
        assert torch.equal(batch.input_ids[number, :size][~chosen[:size]], original[~chosen[:size]])


def test_whole_words_are_grouped_by_the_word_pieces(tokenizer: PreTrainedTokenizerBase) -> None:
    text = "Unforgettable photographers antagonised everyone."
    words = tokenizer(text).word_ids()
    assert len(words) > len(set(words)) + 3
    recipe, generator = CorruptionRecipe(rate=0.4, scheme="whole_word"), torch.Generator().manual_seed(0)
    for _ in range(30):
        batch = collate(rows_of(tokenizer, text), recipe, tokenizer, replacement_ids(tokenizer), generator)
        chosen = (batch.labels[0] != IGNORED_LABEL).tolist()
        for word in set(words) - {None}:
            assert len({picked for picked, owner in zip(chosen, words, strict=True) if owner == word}) == 1
