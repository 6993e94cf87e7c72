"""A vocabulary that is learned from a text."""

from __future__ import annotations

import subprocess
import sys

import pytest

from explorer.errors import BadInputError
from explorer.scratch.models import SPECIAL, learn_vocabulary
from explorer.settings import ROOT
from tests.scratch.small import vocabulary

PRINT = """
from tests.scratch.small import vocabulary
print(*vocabulary().convert_ids_to_tokens(range(len(vocabulary()))))
"""


def names() -> list[str]:
    tokenizer = vocabulary()
    return list(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))


def test_another_process_learns_the_same_pieces_in_the_same_order() -> None:
    """A resumed run learns its vocabulary again."""
    other = subprocess.run([sys.executable, "-c", PRINT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert other.stdout.split() == names()


def test_it_has_the_special_tokens_first_and_no_more_than_was_asked() -> None:
    assert tuple(names()[:5]) == SPECIAL
    assert len(names()) == len(set(names())) == 600


def test_words_are_cut_into_its_pieces_in_lower_case() -> None:
    tokenizer = vocabulary()
    pieces = tokenizer.tokenize("The Boys RAN home.")
    assert "".join(piece.removeprefix("##") for piece in pieces) == "theboysranhome."
    assert tokenizer.unk_token not in pieces


def test_more_letters_than_pieces_are_refused() -> None:
    letters = "".join(chr(0x4E00 + number) for number in range(400))
    with pytest.raises(BadInputError, match="more than 300 different letters"):
        learn_vocabulary([letters], 300)
