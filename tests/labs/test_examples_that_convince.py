"""Examples with which a page opens show what the page is about, with the bundled models of today."""

from __future__ import annotations

import pytest

import explorer
from explorer.labs.distillation.soft_page import OWN
from explorer.labs.pairs.figures import all_pairs_sentence
from explorer.labs.pairs.page import ONE_LIFE, TEXT


def test_the_head_finds_every_next_sentence_of_the_story_and_not_of_one_life() -> None:
    said = {
        text: all_pairs_sentence(explorer.run("score_all_pairs", model="bert-small", text=text).result).striptags()
        for text in (TEXT, ONE_LIFE)
    }
    assert said[TEXT] == "The true next sentence scores highest in 3 of 3 rows."
    assert said[ONE_LIFE] != said[TEXT]


@pytest.mark.parametrize("model", OWN)
def test_a_teacher_likes_one_word_and_nearly_another(model: str) -> None:
    result = explorer.run("soft_targets", model=model, text=OWN[model], temperature=1.0).result
    first, second = result.targets[:2]
    assert [first.name.strip().lower(), second.name.strip().lower()] == ["states", "kingdom"]
    assert first.soft > 0.5
    assert second.soft > 0.1
