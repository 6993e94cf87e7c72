"""Pieces and steps as views, bars, sentences and tables."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.labs.inputs import cut_figures
from explorer.labs.inputs import pieces_figures as figures
from explorer.labs.inputs.jobs import cut_word, tokenize
from explorer.labs.inputs.schema import LONGEST_WORD, CutParams, CutResult, TokenizeParams, TokenizeResult
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.inputs.samples import BUNDLED, MADE, opener
from tests.rows import each_row

AWAY = "FacebookAI/roberta-base"


def pieces(text: str = "unbelievable tokenization 😀", models: tuple[str, ...] = BUNDLED) -> TokenizeResult:
    return tokenize(opener(*MADE), TokenizeParams(text, models))


def steps(word: str = "tokenization", models: tuple[str, ...] = BUNDLED, after_space: bool = True) -> CutResult:
    return cut_word(opener(*MADE), CutParams(word, models, after_space))


def test_the_table_has_a_row_a_piece() -> None:
    result = pieces()
    table = figures.tokenize_table(result)
    assert table.columns == ("model", "position", "token", "id", "is_unknown")
    assert len(table.rows) == sum(len(done.pieces) for done in result.tokenized)
    assert [row[2] for row in table.rows if row[4] is True] == ["[UNK]", "<unk>"]
    assert table.rows[1] == ("bert-small", 1, "un", 8362, False)


@each_row(("below", "shown"), [("id", "100"), ("bytes", "F0 9F 98 80"), ("nothing", ""), ("?", "")])
def test_under_a_piece_stands_what_was_chosen(below: str, shown: str) -> None:
    chips = figures.pieces_view(pieces(), below)["rows"][0]["chips"]
    assert [chip["below"] for chip in chips if chip["style"] == "unknown"] == [shown]


def test_an_unknown_piece_shows_what_it_has_lost_and_special_ones_cannot_be_pressed() -> None:
    rows = figures.pieces_view(pieces())["rows"]
    assert [[chip["lost"] for chip in row["chips"] if chip["style"] == "unknown"] for row in rows] == [
        ["😀"],
        [],
        ["😀"],
    ]
    for row in rows:
        assert [chip["style"] == "special" for chip in row["chips"]] == [chip["press"] is None for chip in row["chips"]]
    assert rows[0]["facts"] == "5 pieces · 1.67 a word · 20.0% unknown"
    assert rows[1]["facts"].endswith("0% unknown")


def test_pressing_a_piece_asks_about_its_word() -> None:
    chips = figures.pieces_view(pieces())["rows"][0]["chips"]
    assert [chip["press"] for chip in chips[1:4]] == [
        {"word": "unbelievable", "after_space": False},
        {"word": "unbelievable", "after_space": False},
        {"word": "tokenization", "after_space": True},
    ]


def test_of_a_very_long_word_the_part_from_the_piece_on_is_asked_about() -> None:
    text = "a " + "我" * 100
    for row in figures.pieces_view(pieces(text))["rows"]:
        for chip in row["chips"]:
            if chip["press"]:
                assert CutParams(**chip["press"]).word
                assert len(chip["press"]["word"]) <= LONGEST_WORD


def test_a_long_text_draws_the_first_pieces_and_says_how_many_more() -> None:
    row = figures.pieces_view(pieces("我" * 400, ("byte-level-bpe",)))["rows"][0]
    assert len(row["chips"]) == figures.MOST_CHIPS
    assert len(row["chips"]) + row["more"] == 1202


def test_one_that_could_not_be_opened_has_a_row_with_the_reason() -> None:
    rows = figures.pieces_view(pieces("a", ("unigram", AWAY)))["rows"]
    assert rows[1]["name"] == AWAY
    assert "could not be downloaded" in rows[1]["problem"]
    assert rows[1]["chips"] == []
    blocks = cut_figures.cut_view(steps("a", ("unigram", AWAY)))["blocks"]
    assert "could not be downloaded" in blocks[1]["problem"]


def test_the_sentence_counts_and_names_what_is_lost() -> None:
    said = figures.tokenize_sentence(pieces()).striptags()
    assert said == "bert-small cuts this text into 5 pieces, byte-level-bpe into 11."
    text = figures.tokenize_notes(pieces()).striptags()
    assert text.startswith(
        "3 words, 30 bytes: 5 pieces by bert-small, 6 pieces by unigram, 11 pieces by byte-level-bpe."
    )
    assert "Unknown to bert-small: “😀”. Unknown to unigram: “😀”. Nothing is unknown to byte-level-bpe." in text
    alone = figures.tokenize_sentence(pieces("word", ("bert-small",))).striptags()
    assert alone == "bert-small cuts this text into 1 piece."
    assert figures.tokenize_notes(pieces("word")).striptags().startswith("1 word, 4 bytes: 1 piece by")
    assert figures.tokenize_notes(pieces("word")).striptags().endswith("Nothing is unknown.")
    assert "4 more" not in figures.tokenize_notes(pieces("😀 我 ⵣ", ("bert-small",))).striptags()
    assert "and 2 more" in figures.tokenize_notes(pieces("😀 我 ⵣ ☃ 🐈 ☂", ("bert-small",))).striptags()


@pytest.mark.parametrize("text", ["unbelievable tokenization 😀", "word", "many words " * 40])
def test_the_bars_are_the_pieces_of_each_word(text: str) -> None:
    result = pieces(text)
    figure = assert_draws(figures.words_figure(result))
    assert [bar.name for bar in figure.data] == list(BUNDLED)
    for bar, done in zip(figure.data, result.tokenized, strict=True):
        assert len(bar.y) == min(len(result.words), figures.MOST_WORDS)
        if len(result.words) <= figures.MOST_WORDS:
            assert sum(bar.y) == len(done.own)
        assert min(bar.y) >= 1


@each_row("text", HOSTILE)
def test_a_visitor_s_text_stays_text(text: str) -> None:
    assert_safe(figures.tokenize_sentence(pieces(f"{text} 我")), "pieces")
    assert_safe(figures.tokenize_notes(pieces(f"{text} 我")), "pieces", ("p", "strong"))
    assert_safe(cut_figures.cut_sentence(steps(text[:60])), "unigram")
    assert_safe(cut_figures.cut_notes(steps(text[:60])), "ids", ("p",))
    figure = figures.words_figure(pieces(f"{text} %{{y}}"))
    labels = figure["layout"]["xaxis"]["ticktext"]
    assert not any("<" in label for label in labels)
    assert "%{y}" not in "".join(trace["hovertemplate"] for trace in figure["data"]).replace("%{y} pieces", "")


def test_the_table_of_a_cut_holds_steps_alternatives_and_the_end() -> None:
    result = steps()
    table = cut_figures.cut_table(result)
    assert table.columns == ("model", "part", "stage", "number", "pieces", "detail", "rank", "log_probability")
    ends = {row[0]: row[4] for row in table.rows if row[2] == "cut"}
    assert ends == {found.name: " ".join(found.pieces) for found in result.cuts}
    merges = [row[6] for row in table.rows if row[0] == "byte-level-bpe" and row[2] == "step"]
    assert merges[0] is None
    assert all(isinstance(rank, int) for rank in merges[1:])
    best = [row for row in table.rows if row[2] == "alternative"]
    assert [row[3] for row in best] == [1, 2, 3, 4, 5]
    assert [row[7] for row in best] == sorted((row[7] for row in best), key=lambda value: -float(value or 0))


def block_of(name: str, word: str, after_space: bool = True) -> dict[str, Any]:
    return dict(cut_figures.cut_view(steps(word, (name,), after_space))["blocks"][0])


def test_wordpiece_rows_tell_what_was_tried() -> None:
    (part,) = block_of("bert-small", "tokenization")["parts"]
    first, second = part["rows"]
    assert [chip["text"] for chip in first["chips"]] == ["token", "ization"]
    assert [chip["style"] for chip in first["chips"]] == ["new", "rest"]
    assert first["tried"][0] == "tokenization"
    assert first["note"] == f"found token, after {len(first['tried'])} that are not there:"
    assert second["note"] == "found ##ization at once"


def test_a_long_list_of_what_was_tried_is_shortened_and_says_by_how_much() -> None:
    (part,) = block_of("bert-small", "antidisestablishmentarianism")["parts"]
    result = steps("antidisestablishmentarianism", ("bert-small",))
    for row, step in zip(part["rows"], result.cuts[0].parts[0].steps, strict=True):
        left_out = sum(int(entry.split()[1]) for entry in row["tried"] if entry.startswith("… "))
        shown = [entry for entry in row["tried"] if not entry.startswith("… ")]
        assert len(shown) + left_out == len(step.tried)
        assert len(row["tried"]) <= cut_figures.MOST_TRIED


@pytest.mark.parametrize(
    ("word", "note"),
    [("😀", "nothing in the vocabulary begins “😀”"), ("walkⵣ", "begins “ⵣ”, so the whole word “walkⵣ” is unknown")],
)
def test_an_unknown_word_says_why(word: str, note: str) -> None:
    block = block_of("bert-small", word)
    assert block["parts"][0]["rows"][-1]["note"].endswith(note)
    assert [chip["style"] for chip in block["result"]] == ["unknown"]


def test_merges_tell_their_rank_and_the_last_says_that_it_is_the_last() -> None:
    (part,) = block_of("byte-level-bpe", "the")["parts"]
    notes = [row["note"] for row in part["rows"]]
    assert notes[0] == "to begin with"
    assert notes[1].startswith("merge 1: Ġ + t")
    assert notes[-1].endswith("; no further pair is in the list")
    assert (
        block_of("byte-level-bpe", "ⵣ", False)["parts"][0]["rows"][0]["note"] == "no pair of neighbours is in the list"
    )


def test_the_best_cut_leads_and_others_say_how_much_less_probable_they_are() -> None:
    (part,) = block_of("unigram", "tokenization")["parts"]
    first, second, *_ = part["alternatives"]
    assert first["note"].endswith("the best")
    assert "times less probable" in second["note"]
    assert first["note"].startswith("log p = −")
    assert part["rows"][-1]["note"] == first["note"].removesuffix(", the best")


def test_parts_are_named_where_there_are_several() -> None:
    block = block_of("bert-small", "3,499")
    assert [part["title"] for part in block["parts"]] == ["3", ",", "499"]
    assert "3 | , | 499" in block["before"]
    assert [part["title"] for part in block_of("bert-small", "word")["parts"]] == [""]


def test_the_sentence_tells_the_work_and_that_the_tokenizer_agrees() -> None:
    text = cut_figures.cut_sentence(steps()).striptags()
    assert text.startswith("bert-small: “token” “##ization”; byte-level-bpe: “to” “ken” “ization”; unigram: “to”")
    text = cut_figures.cut_notes(steps()).striptags()
    assert "bert-small: 9 looked up, byte-level-bpe: 10 merges, unigram: log p = −23.36." in text
    assert text.endswith("Each tokenizer, asked as a whole, gives the same ids.")


@each_row("name", [opened.name for opened in MADE])
def test_every_kind_of_tokenizer_has_steps_to_show(name: str) -> None:
    block = block_of(name, "abcd")
    assert block["result"]
    assert all(part["method"] and (part["rows"] or part["alternatives"]) for part in block["parts"])


def test_a_tab_that_became_a_space_is_told() -> None:
    assert "1 tab or line break was made a space" in figures.tokenize_notes(pieces("two\twords")).striptags()
    assert "2 tabs, line breaks or control characters were" in figures.tokenize_notes(pieces("a\tb\nc")).striptags()
    assert "made a space" not in figures.tokenize_notes(pieces("two  words")).striptags()
