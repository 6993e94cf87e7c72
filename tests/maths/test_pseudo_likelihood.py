"""Rows in which each token is masked in turn."""

from __future__ import annotations

import torch

from explorer.maths.pseudo_likelihood import log_probability_of, masked_in_turn

IDS = torch.tensor([1, 20, 21, 22, 30, 2])
WORDS = (None, 0, 0, 0, 1, None)


def test_each_token_is_masked_alone_and_special_ones_never_are() -> None:
    rows, positions = masked_in_turn(IDS, WORDS, 9, rest_of_word=False)
    assert positions == [1, 2, 3, 4]
    assert (rows == 9).nonzero().tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert (rows[:, [0, 5]] == IDS[[0, 5]]).all()


def test_the_rest_of_the_word_is_masked_with_it_and_what_comes_before_is_not() -> None:
    rows, _ = masked_in_turn(IDS, WORDS, 9, rest_of_word=True)
    assert [(row == 9).nonzero().flatten().tolist() for row in rows] == [[1, 2, 3], [2, 3], [3], [4]]


def test_a_text_without_words_has_no_rows() -> None:
    rows, positions = masked_in_turn(torch.tensor([1, 2]), (None, None), 9, rest_of_word=True)
    assert rows.shape == (0, 2)
    assert positions == []


def test_one_value_of_each_row() -> None:
    assert log_probability_of(torch.arange(6.0).view(2, 3), torch.tensor([2, 0])).tolist() == [2, 3]
