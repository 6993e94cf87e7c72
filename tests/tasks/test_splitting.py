"""Holding out a fifth: whole, balanced, without copies, and the same each time."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from explorer.errors import BadInputError
from explorer.tasks.given import check_enough, hold_out_texts, mixed, shared_texts
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.task import Example


def made(counts: dict[float, int]) -> tuple[Example, ...]:
    """So many different examples of each class, sorted by class."""
    return tuple(Example(f"text {label} {n}", None, label) for label, count in counts.items() for n in range(count))


def test_a_fifth_of_each_class_is_held_out_and_nothing_is_lost() -> None:
    examples = made({0: 100, 1: 20, 2: 5, 3: 2})
    train, validation = hold_out_texts(examples, True, "f")
    assert Counter(example.label for example in validation) == {0: 20, 1: 4, 2: 1, 3: 1}
    assert sorted(train + validation, key=repr) == sorted(examples, key=repr)


def test_the_order_of_the_rows_changes_nothing() -> None:
    examples = list(made({0: 40, 1: 40}))
    first = hold_out_texts(tuple(examples), True, "f")
    random.Random(5).shuffle(examples)
    second = hold_out_texts(tuple(examples), True, "f")
    assert [set(part) for part in first] == [set(part) for part in second]


def test_which_are_held_out_does_not_follow_the_files_order() -> None:
    examples = made({0: 200})
    places = [examples.index(example) for example in hold_out_texts(examples, True, "f")[1]]
    assert min(places) < 40
    assert max(places) > 160


def test_copies_stay_on_one_side() -> None:
    examples = made({0: 30, 1: 30}) * 3
    train, validation = hold_out_texts(examples, True, "f")
    assert len(validation) == 36
    assert shared_texts(train, validation) == 0


def test_a_text_with_two_labels_stays_on_one_side() -> None:
    examples = made({0: 20}) + tuple(Example(example.text, None, 1) for example in made({0: 20}))
    train, validation = hold_out_texts(examples, True, "f")
    assert shared_texts(train, validation) == 0
    assert validation


def test_a_pair_is_a_copy_only_if_both_texts_are() -> None:
    examples = tuple(Example("the same", f"second {n}", float(n % 2)) for n in range(20))
    train, validation = hold_out_texts(examples, True, "f")
    assert len(validation) == 4
    assert shared_texts(train, validation) == 0
    assert shared_texts(train, (train[0], Example("the same", "another", 1))) == 1


def test_scores_are_held_out_without_classes() -> None:
    examples = tuple(Example(f"text {n}", None, n / 7) for n in range(50))
    assert len(hold_out_texts(examples, False, "f")[1]) == 10


def test_one_text_alone_cannot_be_parted() -> None:
    with pytest.raises(BadInputError, match="too few different texts"):
        hold_out_texts((Example("x", None, 0), Example("x", None, 1)) * 10, True, "f")


def test_mixing_keeps_every_row_and_unsorts_them() -> None:
    examples = made({0: 50, 1: 50})
    found = mixed(examples)
    assert sorted(found, key=repr) == sorted(examples, key=repr)
    assert found == mixed(examples)
    assert 5 < sum(example.label for example in found[:30]) < 25


def test_one_class_alone() -> None:
    with pytest.raises(BadInputError, match=r"all 40 examples are 'positive'; a classifier needs at least two classes"):
        check_enough(find_task("sst2"), made({1: 40}), "f")


def test_one_score_alone() -> None:
    with pytest.raises(BadInputError, match=r"have the score 2\.5"):
        check_enough(find_task("stsb"), tuple(Example(str(n), "b", 2.5) for n in range(9)), "f")


def test_too_few() -> None:
    check_enough(find_task("sst2"), made({0: 4, 1: 4}), "f")
    with pytest.raises(BadInputError, match="has 7 examples, and training needs at least 8"):
        check_enough(find_task("sst2"), made({0: 4, 1: 3}), "f")
    with pytest.raises(BadInputError, match="holds no examples"):
        check_enough(find_task("sst2"), (), "f")
