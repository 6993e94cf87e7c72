"""The rows that are drawn from tokenised text, read backwards."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.objectives.rows import IN_ORDER, IS_NEXT, NOT_NEXT, SWAPPED, Row
from explorer.objectives.text import TextStore
from tests.objectives.stores import CLS, FALSE_ALARM, FIRST_ID, MAKER, SEP, STORE, document_of, sentence_of, store_of
from tests.rows import each_row


def pairs(length: int, count: int, store: TextStore = STORE) -> list[Row]:
    rng = np.random.default_rng(0)
    return [MAKER.pair(store, length, rng) for _ in range(count)]


def segments(row: Row) -> tuple[list[int], list[int]]:
    middle = row.input_ids.index(SEP)
    return row.input_ids[1:middle], row.input_ids[middle + 1 : -1]


@each_row("kind", ["text", "sentence"])
@each_row("length", [3, 8, 64])
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


@each_row("length", [16, 32, 64, 128])
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


@pytest.mark.parametrize("length", [32, 200])
def test_a_sentence_pair_is_two_whole_sentences_and_a_segment_pair_reads_on(length: int) -> None:
    """RoBERTa's two formats with next-sentence prediction: the first leaves most of a long row empty."""
    made = {}
    for kind in ("sentence_pair", "segment_pair"):
        rng = np.random.default_rng(1)
        made[kind] = [getattr(MAKER, kind)(STORE, length, rng) for _ in range(300)]
        assert {row.pair_label for row in made[kind]} == {IS_NEXT, NOT_NEXT}
        assert all(len(row.input_ids) <= length for row in made[kind])
    spread = {kind: [sentences_of(part) for row in rows for part in segments(row)] for kind, rows in made.items()}
    assert set(spread["sentence_pair"]) == {1}
    assert max(spread["segment_pair"]) > 1
    assert np.mean([len(row.input_ids) for row in made["segment_pair"]]) > np.mean(
        [len(row.input_ids) for row in made["sentence_pair"]]
    )


def sentences_of(part: list[int]) -> int:
    return len({sentence_of(token) for token in part})


def test_a_segment_pair_is_a_pair_without_short_ones() -> None:
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(20):
        assert MAKER.segment_pair(STORE, 40, rng) == MAKER.pair(STORE, 40, same, short_share=0.0)


def test_a_pair_that_is_forced_keeps_the_rest_of_its_draw() -> None:
    """A is the same by the coin, as a neighbour and as a stranger; with the coin's own class B is too."""
    for seed in range(100):
        rows = [
            MAKER.drawn_pair(STORE, 200, np.random.default_rng(seed), document=2, follows=follows).row
            for follows in (None, True, False)
        ]
        free, following, apart = rows
        assert (following.pair_label, apart.pair_label) == (IS_NEXT, NOT_NEXT)
        assert free in (following, apart)
        assert len({tuple(segments(row)[0]) for row in rows}) == 1
        assert {document_of(token) for token in segments(free)[0]} == {2}
        assert document_of(segments(apart)[1][0]) != 2


@pytest.mark.parametrize("length", [12, 40, 200])
def test_a_drawn_pair_tells_where_its_tokens_stand_and_how_many_did_not_fit(length: int) -> None:
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(200):
        pair = MAKER.drawn_pair(STORE, length, rng)
        taken = [[token - FIRST_ID for token in part] for part in segments(pair.row)]
        assert taken == [list(range(*pair.a)), list(range(*pair.b))]
        assert pair.wanted >= len(pair.row.input_ids) - 3
        assert pair.wanted == len(pair.row.input_ids) - 3 or len(pair.row.input_ids) == length
        cut += pair.wanted > len(pair.row.input_ids) - 3
    assert (cut > 0) == (length < 200)


@pytest.mark.parametrize("document", [1, 9])
def test_a_document_without_a_pair_in_it_is_refused_rather_than_searched_for_ever(document: int) -> None:
    with pytest.raises(BadInputError, match=f"Document {document + 1} "):
        MAKER.drawn_pair(STORE, 32, np.random.default_rng(0), document=document)


def orders(length: int, count: int, short_share: float = 0.3, store: TextStore = STORE) -> list[Row]:
    rng = np.random.default_rng(0)
    return [MAKER.order(store, length, rng, short_share) for _ in range(count)]


@pytest.mark.parametrize("length", [16, 32, 128])
def test_both_segments_of_an_order_row_follow_each_other_and_the_label_tells_which_comes_first(length: int) -> None:
    for row in orders(length, 1000):
        first, second = segments(row)
        assert row.input_ids == [CLS, *first, SEP, *second, SEP]
        assert row.token_type_ids == [0] * (len(first) + 2) + [1] * (len(second) + 1)
        assert len(row.input_ids) <= length
        earlier, later = (first, second) if row.pair_label == IN_ORDER else (second, first)
        assert {document_of(token) for token in (*first, *second)} == {document_of(first[0])}
        assert sentence_of(later[0]) == sentence_of(earlier[-1]) + 1
        assert all(segment[0] - FIRST_ID in STORE.starts for segment in (first, second))


def test_half_of_the_order_rows_are_swapped_and_their_lengths_do_not_tell_which() -> None:
    lengths = np.random.default_rng(1).integers(3, 40, (200, 8)).tolist()
    rows = orders(48, 4000, store=store_of(*lengths))
    labels = [row.pair_label for row in rows]
    assert set(labels) == {IN_ORDER, SWAPPED}
    assert stats.binomtest(labels.count(IN_ORDER), 4000, 0.5).pvalue > FALSE_ALARM
    by_label = [[len(segments(row)[0]) for row in rows if row.pair_label == label] for label in (IN_ORDER, SWAPPED)]
    assert stats.mannwhitneyu(*by_label).pvalue > 1e-3


def test_where_a_segment_is_cut_does_not_tell_which_comes_first() -> None:
    """Runs that grew until they overflowed would be cut in their later half more often."""
    lengths = np.random.default_rng(2).integers(3, 60, (300, 6)).tolist()
    store = store_of(*lengths)
    ends = set(store.starts[1:])
    cut = {
        label: [segments(row)[0][-1] + 1 - FIRST_ID not in ends for row in rows]
        for label in (IN_ORDER, SWAPPED)
        if (rows := [row for row in orders(64, 6000, 0.0, store) if row.pair_label == label])
    }
    table = [[sum(found), len(found) - sum(found)] for found in cut.values()]
    assert min(map(min, table)) > 100
    assert stats.fisher_exact(table).pvalue > 1e-3


def test_order_stays_in_a_paragraph_and_one_that_fits_is_taken_whole() -> None:
    store = store_of([5, 9, 3, 12, 7, 6], [4, 30, 8], paragraphs=[3, 1, 2, 2, 1])
    taken = set()
    for row in orders(40, 500, 0.0, store):
        sentences = sorted({sentence_of(token, store) for segment in segments(row) for token in segment})
        taken.add(tuple(sentences))
    assert taken == {(0, 1, 2), (4, 5), (6, 7)}


def test_short_order_rows_are_two_sentences() -> None:
    for row in orders(200, 200, short_share=1.0):
        assert [len({sentence_of(token) for token in segment}) for segment in segments(row)] == [1, 1]


def test_a_text_without_neighbours_has_no_order() -> None:
    with pytest.raises(BadInputError, match="follow each other"):
        MAKER.order(store_of([5], [6], [7]), 32, np.random.default_rng(0))


@pytest.mark.parametrize("length", [8, 24, 64])
def test_full_rows_hold_whole_sentences_and_cross_documents_at_a_separator(length: int) -> None:
    rng, crossed = np.random.default_rng(0), 0
    for _ in range(500):
        row = MAKER.full(STORE, length, rng)
        assert row.input_ids[0] == CLS
        assert row.input_ids[-1] == SEP
        assert len(row.input_ids) <= length
        assert set(row.token_type_ids) == {0}
        inside = row.input_ids[1:-1]
        tokens = [token for token in inside if token != SEP]
        assert tokens == list(range(tokens[0], tokens[0] + len(tokens)))
        last = sentence_of(tokens[-1])
        assert tokens[-1] + 1 - FIRST_ID == STORE.starts[last + 1] or sentence_of(tokens[0]) == last
        for left, middle, right in zip(inside, inside[1:], inside[2:], strict=False):
            if middle == SEP:
                crossed += 1
                assert document_of(right) == document_of(left) + 1
        assert inside.count(SEP) == document_of(tokens[-1]) - document_of(tokens[0])
    assert crossed > 0 or length == 8


@pytest.mark.parametrize("length", [8, 24, 200])
def test_rows_of_one_document_are_full_rows_cut_at_its_end(length: int) -> None:
    ended = 0
    for seed in range(300):
        whole = MAKER.full(STORE, length, np.random.default_rng(seed)).input_ids
        row = MAKER.doc_sentences(STORE, length, np.random.default_rng(seed))
        inside = whole[1:-1]
        stop = inside.index(SEP) if SEP in inside else len(inside)
        assert row == Row([CLS, *inside[:stop], SEP], [0] * (stop + 2))
        ended += stop < len(inside)
    assert ended > 0 or length == 8


def test_running_rows_are_full_and_go_round_the_text() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        row = MAKER.running(STORE, 50, rng)
        assert len(row.input_ids) == 50
        assert row.input_ids[0] - FIRST_ID in STORE.starts
        for left, right in zip(row.input_ids, row.input_ids[1:], strict=False):
            if SEP not in (left, right):
                assert right == left + 1
            elif right == SEP:
                assert left + 1 - FIRST_ID == STORE.starts[STORE.document_end(sentence_of(left))]
