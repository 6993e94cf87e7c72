"""Typos: how they are made, which words are asked for, and what they cost, against transformers' own loss."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

import explorer
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.inputs import typos_figures as figures
from explorer.labs.inputs.typos import (
    KINDS,
    SENTENCES,
    SHARES,
    TRY,
    SharePoint,
    SharesParams,
    SharesResult,
    TyposParams,
    TyposResult,
)
from explorer.labs.inputs.typos_jobs import KEYS, misspellings, misspelt, neighbours, parts_of, untouched
from explorer.settings import BUNDLED_MODELS
from tests.labs.drawing import assert_draws
from tests.rows import each_row

TEXT = "The captain wasn't sure, so Hanna waited until 1846."


def test_a_typo_is_one_slip_inside_a_word() -> None:
    for kind in KINDS:
        for made in misspellings("waited", kind):
            assert made[0] == "w"
            assert made != "waited"
            assert len(made) - len("waited") == {"drop": -1, "double": 1}.get(kind, 0)
    assert set(misspellings("waited", "swap")) == {"wiated", "watied", "waietd", "waitde"}
    assert misspellings("hanna", "swap") == ["hnana", "hanan"]  # not the two that are the same


def test_keys_are_neighbours_of_each_other() -> None:
    letters = "".join(KEYS)
    pairs = {(one, other) for one in letters for other in neighbours(one)}
    assert pairs == {(other, one) for one, other in pairs}
    assert set(neighbours("s")) == set("weadzx")
    assert neighbours("S") == neighbours("s").upper()
    assert neighbours("ü") == ""


def test_a_larger_share_adds_to_a_smaller_one_and_short_words_stay() -> None:
    for sentence in SENTENCES:
        words = [part.text for part in parts_of(sentence)]
        long = [place for place, word in enumerate(words) if len(word) >= 4 and word.isalpha()]
        before: dict[int, str] = {}
        for share in SHARES:
            made = [part.text for part in parts_of(misspelt(sentence, share, 7, tuple(KINDS)))]
            changed = {place: made[place] for place in range(len(words)) if made[place] != words[place]}
            assert before.items() <= changed.items()
            assert set(changed) <= set(long)
            assert len(changed) == int(share * len(long) + 0.5)
            before = changed


def test_seeds_and_kinds_matter() -> None:
    texts = {misspelt(TEXT, 1.0, seed, tuple(KINDS)) for seed in range(4)}
    assert len(texts) == 4
    assert misspelt(TEXT, 0.0, 1, tuple(KINDS)) == TEXT
    dropped = misspelt(TEXT, 1.0, 1, ("drop",))
    assert len(dropped) == len(TEXT) - 6
    assert misspelt("我爱北京的春天", 1.0, 0, ("near",)) == "我爱北京的春天"


def test_untouched_words_are_found_around_what_was_put_in_and_left_out() -> None:
    clean, typed = parts_of("She put on her coat, and left."), parts_of("She did put on coat, andleft.")
    pairs = untouched(clean, typed)
    assert [clean[one].text for one, _ in pairs] == ["She", "put", "on", "coat"]
    assert all(clean[one].text == typed[other].text for one, other in pairs)
    assert [part.text for part in parts_of("I don't, O’Neil")] == ["I", "don't", ",", "O’Neil"]


@pytest.fixture(scope="module")
def result() -> TyposResult:
    typed = "The captian wasn't sure, so Hanna waited untill 1846."
    answer: TyposResult = explorer.run("typos", text=TEXT, typed=typed).result
    return answer


@pytest.mark.parametrize("place", [0, 1])
def test_the_losses_are_those_of_the_models_own_head(result: TyposResult, place: int) -> None:
    read = result.models[place]
    model = AutoModelForMaskedLM.from_pretrained(BUNDLED_MODELS / read.model, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / read.model)
    words = {word.word: word for word in read.words}
    assert {"The", "sure", "waited"} <= set(words) <= {"The", "wasn't", "sure", "so", "Hanna", "waited", "1846"}
    for text, side in ((result.text, "clean"), (result.typed, "typos")):
        inputs = tokenizer(text, return_tensors="pt")
        at = inputs.char_to_token(text.index("sure"))
        assert inputs.char_to_token(text.index("sure") + 3) == at  # a word of one piece: its loss is that of one mask
        labels = torch.full_like(inputs["input_ids"], -100)
        labels[0, at] = inputs["input_ids"][0, at]
        inputs["input_ids"][0, at] = tokenizer.mask_token_id
        with torch.no_grad():
            loss = model(**inputs, labels=labels).loss.item()
        assert getattr(words["sure"], side) == pytest.approx(loss, abs=1e-3)
    assert read.loss("typos") - read.loss("clean") == pytest.approx(read.added)


def test_words_are_the_sums_of_their_pieces_and_touched_ones_are_not_asked_for(result: TyposResult) -> None:
    for read in result.models:
        for side in ("clean", "typos"):
            asked = [piece.log_probability for piece in read.pieces(side) if piece.log_probability is not None]
            assert -sum(asked) == pytest.approx(sum(getattr(word, side) for word in read.words), abs=1e-6)
            assert all(piece.log_probability is None for piece in read.pieces(side) if piece.touched)
            assert any(piece.touched for piece in read.pieces(side))
    first, second = result.models
    assert [word.word for word in first.words] == [word.word for word in second.words]
    assert result.changed == (("captain", "captian"), ("until", "untill"))


def test_the_same_text_costs_nothing() -> None:
    answer = explorer.run("typos", models="bert-mini", text="We left at noon.", share=0).result
    assert answer.models[0].added == 0
    assert "the same" in figures.typos_sentence(answer)
    nothing = explorer.run("typos", models="bert-mini", text="We left.", typed="They stayed.").result
    assert nothing.models[0].words == ()
    assert "No word is left" in figures.typos_sentence(nothing)
    assert figures.typos_notes(answer) == ""
    assert figures.typos_notes(nothing).striptags().endswith("bert-mini reads 3 pieces instead of 3.")
    assert figures.typos_figure(nothing) == {}


def test_sentence_figure_chips_and_table_say_the_same(result: TyposResult) -> None:
    said = figures.typos_sentence(result)
    more = max(result.models, key=lambda read: read.added).model
    assert f"The typos cost <strong>{more}</strong> more than " in said
    notes = figures.typos_notes(result)
    assert "2 changes (“<strong>captian</strong>” for “captain”" in notes
    assert "not a law" in notes
    assert "nats</strong> at an untouched word, on average." in figures._who_lost(result.models[:1])
    for added, told in (
        ((0.0, -0.1), "no harder to tell"),
        ((0.2, 0.2), "All lost the same"),
        ((0.2, 0.1), "cost <strong>m0</strong> more than m1 (+0.10): <strong>+0.20 nats</strong>"),
        ((-0.1, 0.2), "cost <strong>m1</strong> more than m0 (−0.10): <strong>+0.20 nats</strong>"),
    ):
        models = [_Lost(f"m{place}", value) for place, value in enumerate(added)]
        assert told in figures._who_lost(models)  # type: ignore[arg-type]
    three = [_Lost("a", 0.2), _Lost("b", 0.2), _Lost("c", 0.1)]
    assert "No model lost more than all others" in figures._who_lost(three)  # type: ignore[arg-type]
    bars = figures.typos_figure(result)["data"]
    assert [list(trace["x"]) for trace in bars[:2]] == [
        [word.clean for word in result.models[0].words],
        [word.typos for word in result.models[0].words],
    ]
    rows = figures.typos_rows(result)["rows"]
    assert [len(row["chips"]) for row in rows] == [
        len(read.pieces(side)) for read in result.models for side in ("clean", "typos")
    ]
    assert len(figures.typos_table(result).rows) == sum(len(row["chips"]) for row in rows)
    assert "&lt;b&gt;" in figures.typos_notes(
        explorer.run("typos", models="bert-mini", text="We left now", typed="We <b>left</b> now").result
    )


class _Lost(NamedTuple):
    """A model that lost so much."""

    model: str
    added: float


def test_losses_grow_with_the_share_over_the_same_words() -> None:
    answer: SharesResult = explorer.run("typos_over_shares", models="bert-mini", sentences=3, seed=1).result
    points = answer.of("bert-mini")
    assert [point.share for point in points] == list(SHARES)
    assert points[0].added == points[0].error == 0
    assert points[-1].loss > points[2].loss > points[0].loss
    assert all(point.loss - points[0].loss == pytest.approx(point.added) for point in points)
    assert answer.is_done
    long = [len(part.text) >= 4 for sentence in SENTENCES[:3] for part in parts_of(sentence)]
    assert answer.words < len(long) - sum(long) / 2
    assert f"{answer.words} words of 3 sentences" in figures.shares_notes(answer)
    assert "50%" in figures.shares_sentence(answer)
    assert_draws(figures.shares_figure(answer))


def shares_of(*added: float, error: float = 0.0, share: float = 0.5) -> SharesResult:
    """Models a, b and so on, whose loss of 2 nats grew by so much."""
    names = "abc"[: len(added)]
    start = [SharePoint(name, 0.0, 2.0, 0.0, 0.0) for name in names]
    grown = [SharePoint(name, share, 2 + more, more, error) for name, more in zip(names, added, strict=True)]
    return SharesResult(tuple(names), 20, 90, tuple(start + (grown if share else [])))


@each_row(
    ("result", "said"),
    [
        (shares_of(0.0, 0.0, share=0.0), "So far the words were asked for in sentences without typos."),
        (shares_of(0.0, 0.0), "no harder to tell."),
        (shares_of(-0.3, 0.004), "no harder to tell."),
        (shares_of(0.5, 0.5), "harder to tell, with no clear difference between the models."),
        (shares_of(0.5, 0.6, error=0.1), "harder to tell, with no clear difference between the models."),
        (shares_of(0.1, 0.2, error=0.11), "not clearly harder to tell."),
        (shares_of(0.1, error=0.11), "not clearly harder to tell."),
        (shares_of(9.5), "harder to tell for a: +9.50 nats each, on average."),
        (shares_of(0.1, 9.5, error=0.1), "b loses more than a at each of the other words: +9.50 nats on average."),
        (
            shares_of(0.2, 9.5, -0.1, error=0.1),
            "b loses more than c at each of the other words: +9.50 nats on average.",
        ),
    ],
)
def test_the_sentence_over_shares_holds_where_nothing_everything_or_as_much_is_lost(
    result: SharesResult, said: str
) -> None:
    text = figures.shares_sentence(result).striptags()
    assert text.endswith(said)
    assert len(re.findall(r"\d[\d.]*", text)) <= 2
    assert "90 words of 20 sentences" in figures.shares_notes(result)


def test_the_examples_made_by_hand_change_something() -> None:
    for given in TRY.values():
        params = TyposParams(**given)
        if params.typed:
            assert 0.5 < SequenceMatcher(None, params.text, params.typed).ratio() < 1


@each_row(
    ("given", "says"),
    [
        ({"models": ""}, "one to 3 names"),
        ({"text": "A [MASK]."}, "has a blank"),
        ({"typed": "A <mask>."}, "has a blank"),
        ({"share": 1.5}, "share"),
        ({"kinds": "upside"}, "swap, drop, double, near"),
        ({"text": " "}, "Type a sentence"),
    ],
)
def test_what_cannot_be_asked_says_so(given: dict[str, object], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        TyposParams(**given)
    assert SharesParams(models=["bert-mini", "bert-mini"]).models == ("bert-mini",)


def test_models_and_texts_that_cannot_be_masked_say_so() -> None:
    with pytest.raises(ExplorerError, match="cannot"):
        explorer.run("typos", models="gpt2-mini", text="We left.")
    with pytest.raises(BadInputError, match="at most 64"):
        explorer.run("typos", models="bert-mini", text="We left. " * 40)
