"""One blank by four readers as pictures, sentences and tables, from results made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.labs.directions import answer_figures, fifty_figures
from explorer.labs.directions import blank_figures as figures
from explorer.labs.directions.figures import bundled_decoders, bundled_encoders, stacks
from explorer.labs.directions.schema import (
    KINDS,
    READERS,
    AnswerResult,
    Chip,
    DirectionsResult,
    FiftyResult,
    Guess,
    Paths,
    Reading,
    Sight,
    SightResult,
    Told,
)
from explorer.models.catalog import bundled
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe, written
from tests.rows import each_row

SHARES = (0.1, 0.02, 0.001, 0.6)


def readings(shares: tuple[float, ...] = SHARES, word: str = "are", first: str = "is") -> tuple[Reading, ...]:
    """Each reader's; the last one puts the word first, the others third."""
    return tuple(
        Reading(
            context,
            model,
            word,
            1 if share > 0.5 else 3,
            share,
            2.5,
            1000,
            (Guess(word if share > 0.5 else first, 0.6), *(Guess(other, 0.05) for other in ("a", "b", "c", ""))),
        )
        for (context, model), share in zip(READERS, shares, strict=True)
    )


def chips(text: str = "keys") -> tuple[Chip, ...]:
    return (
        Chip(0, "[CLS]", "[CLS]", False, False, False),
        Chip(1, text, text, False, False, True),
        Chip(2, "are", "are", False, True, True),
        Chip(3, "[SEP]", "[SEP]", False, False, False),
    )


def directions_result(shares: tuple[float, ...] = SHARES, word: str = "are", pieces: int = 1) -> DirectionsResult:
    return DirectionsResult(f"keys {word}", word, 2, pieces, chips(word), readings(shares, word, word))


def test_the_table_has_a_row_a_reader() -> None:
    table = figures.directions_table(directions_result())
    assert table.columns == ("context", "model", "rank", "probability", "entropy")
    assert table.rows[0] == ("left", "gpt2-mini", 3, 0.1, 2.5)
    assert [row[0] for row in table.rows] == ["left", "left", "right", "both"]


def test_the_figure_draws_marks_and_guesses_with_the_word_outlined() -> None:
    figure = assert_draws(figures.directions_figure(directions_result()))
    assert tuple(figure.data[0].x) == SHARES
    assert figure.data[0].text[3].strip() == "60.0% · 1st"
    assert written(figure)[1, 3].startswith("are")
    frames = [(shape.x0 + 0.48, shape.y0 + 0.46) for shape in figure.layout.shapes]
    assert frames == [(3, 0), (3, 1), (3, 2), (1, 3)]


@pytest.mark.parametrize("least", [1e-3, 1e-9, 0.0])
def test_however_small_a_probability_its_mark_is_on_the_scale(least: float) -> None:
    figure = assert_draws(figures.directions_figure(directions_result((least, 0.1, 0.2, 0.999))))
    low, high = figure.layout.xaxis.range
    assert all(10**low <= share <= 10**high for share in figure.data[0].x)


def test_the_sentence_compares_the_sides() -> None:
    said = figures.directions_sentence(directions_result()).striptags()
    assert said == "From both sides bert-small gives “are” 60.0%, from the left alone 2.00%."
    other = figures.directions_sentence(directions_result((0.1, 0.01, 0.02, 0.6))).striptags()
    assert other.endswith("from the right alone 2.00%.")
    assert "the right is enough" in figures.directions_sentence(directions_result((0.1, 0.2, 0.7, 0.3)))


def test_pieces_are_told() -> None:
    assert "2 pieces to bert-small" in figures.directions_notes(directions_result(pieces=2))
    assert "pieces" not in figures.directions_notes(directions_result())


@each_row("text", HOSTILE)
def test_a_visitors_words_stay_text(text: str) -> None:
    assert_safe(figures.directions_sentence(directions_result(word=text)), text)
    assert_draws(figures.directions_figure(directions_result(word=text)))
    assert_safe(answer_figures.masking_sentence(answer_result(text)), text)
    assert_draws(answer_figures.answer_figure(answer_result(text)))


def test_only_other_words_can_be_pressed() -> None:
    row = figures.blank_chips("keys are", chips())["chips"]
    assert [chip["position"] for chip in row] == [None, 1, None, None]
    assert (row[2]["text"], row[2]["below"]) == ("[MASK]", "are")
    assert figures.blank_chips("keys are", chips(), masked=False)["chips"][2]["text"] == "are"


def sight_result(count: int = 4) -> SightResult:
    triangle = tuple(tuple(1 / (i + 1) if j <= i else None for j in range(count)) for i in range(count))
    full = tuple((1 / count,) * count for _ in range(count))
    names = tuple(f"t{place}" for place in range(count))
    grids = (triangle, triangle, full, full)
    return SightResult(
        "keys are",
        "are",
        2,
        tuple(Sight(*reader, 0, names, 2, grid) for reader, grid in zip(READERS, grids, strict=True)),
    )


@pytest.mark.parametrize("count", [3, 12, 40])
def test_masked_cells_are_empty(count: int) -> None:
    result = sight_result(count)
    figure = assert_draws(figures.sight_figure(result, figures.WEIGHTS))
    assert figure.data[0].z[0][0] == 1
    assert figure.data[0].z[0][1] is None
    said = figures.sight_notes(result, figures.WEIGHTS).striptags()
    assert f"From the left the blank sees 3 of {count} positions, most of all “t0” (33.3%)." in said
    assert "exactly 0" in figures.sight_sentence(result, figures.WEIGHTS)
    assert f"3 of {count} positions. " in figures.sight_notes(result)
    assert "Filled cells" in figures.sight_sentence(result)
    table = figures.sight_table(result)
    assert table.columns == ("context", "model", "layer", "from", "to", "from_token", "to_token", "weight")
    assert len(table.rows) == count * (count + 1) + 2 * count * count


def test_the_masks_alone_are_black_and_white() -> None:
    figure = assert_draws(figures.sight_figure(sight_result()))
    assert [list(row) for row in figure.data[0].z] == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert figure.data[0].customdata[0][1] == "t0 never looks at t1"
    assert all(cell == 1 for row in figure.data[3].z for cell in row)
    said = figures.sight_notes(sight_result()).striptags()
    assert "From both sides the blank sees 4 of 4 positions." in said
    assert "most of all" not in said, "that is of the weights"


def fifty_result(count: int, total: int = 50) -> FiftyResult:
    told = tuple(Told(n + 1, KINDS[n % 3], "The keys are here.", "are", 9, readings()) for n in range(count))
    return FiftyResult(told, total)


@pytest.mark.parametrize("count", [1, 10, 50])
def test_the_fifty_are_drawn_as_they_come(count: int) -> None:
    result = fifty_result(count)
    figure = assert_draws(fifty_figures.fifty_figure(result))
    assert sum(len(trace.x) for trace in figure.data) == 4 * count
    assert "The keys ___ here." in str(figure.data[0].customdata)
    said = fifty_figures.fifty_sentence(result).striptags()
    assert f"in {count} of {count} sentences" in said
    notes = fifty_figures.fifty_notes(result).striptags()
    assert "both 60.0%, left 2.00%, right 0.100%; gpt2-mini, from the left, 10.0%" in notes
    assert f"leads bert-small's left in {count} of {count}." in notes
    assert bool(fifty_figures.fifty_bar(result)) == (count < 50)
    table = fifty_figures.fifty_table(result)
    assert table.columns[:6] == ("sentence", "kind", "text", "word", "context", "model")
    assert len(table.rows) == 4 * count


def answer_result(word: str = "are") -> AnswerResult:
    full = tuple((0.25,) * 4 for _ in range(4))
    lower = tuple(tuple(1 / (i + 1) if j <= i else 0.0 for j in range(4)) for i in range(4))
    free = Paths("none", (full, full), (0.2, 0.1), (0.1, 0.08), (0.3, 0.25), 0.01)
    causal = Paths("causal", (lower, lower), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), 0.0)
    return AnswerResult(f"keys {word}", word, 2, chips(word), (free, causal), 0.99, 0.6)


def test_the_answers_way_is_told_and_drawn() -> None:
    result = answer_result()
    said = answer_figures.answer_sentence(result).striptags()
    assert said.endswith(
        "“are”, 20.0% of its attention goes to that very word if there is no mask, under a causal mask exactly 0."
    )
    notes = answer_figures.answer_notes(result).striptags()
    assert "After two layers 8.00% of its rollout is the word, 1.00% by way of other positions" in notes
    assert "each of these is exactly 0" in notes
    leaking = replace(result, paths=(result.paths[0], replace(result.paths[1], direct=(0.01, 0.0))))
    assert answer_figures.answer_sentence(leaking).striptags().endswith("under a causal mask 1.00%.")
    assert "each of these is not 0" in answer_figures.answer_notes(leaking)
    figure = assert_draws(answer_figures.answer_figure(result))
    assert figure.data[1].z[0][1] is None
    assert figure.data[0].z[0][1] == 0.25
    table = answer_figures.answer_table(result)
    assert table.columns == ("mask", "layer", "direct", "reach", "moved")
    assert table.rows[1] == ("none", 1, 0.1, 0.08, 0.25)
    assert len(table.rows) == 4


@pytest.mark.parametrize("layer", [-1, 0, 5])
def test_a_layer_that_is_not_there_gives_way(layer: int) -> None:
    assert_draws(answer_figures.answer_figure(answer_result(), layer))


def test_each_stack_is_drawn_with_a_label_and_every_bundled_model_has_its_place() -> None:
    drawn = stacks()
    assert drawn.count("<svg") == drawn.count('role="img" aria-label="') == 3
    assert {*bundled_encoders(), *bundled_decoders()} == set(bundled())
    assert bundled_decoders() == ["gpt2-mini"]
    assert all(name in drawn for name in bundled())


@each_row(
    ("shares", "said"),
    [
        ((0.1, 0.2, 0.7, 0.3), "Here the right is enough."),
        ((0.1, 0.02, 0.4, 0.3), "Here the right alone gives it more than both sides."),
        ((0.1, 0.4, 0.02, 0.3), "Here the left alone gives it more than both sides."),
        ((0.1, 0.02, 0.3, 0.3), ""),
    ],
)
def test_one_side_is_enough_only_where_it_puts_the_word_first(shares: tuple[float, ...], said: str) -> None:
    sentence = figures.directions_sentence(directions_result(shares)).striptags()  # type: ignore[arg-type]
    assert said in sentence
    assert ("Here" in sentence) is bool(said)


@pytest.mark.parametrize(("seen", "copied"), [(answer_figures.COPIED, True), (answer_figures.COPIED - 1e-6, False)])
def test_a_copy_is_one_that_is_nearly_sure(seen: float, copied: bool) -> None:
    said = answer_figures.masking_sentence(replace(answer_result(), seen=seen))
    assert ("a copy" in said) is copied
