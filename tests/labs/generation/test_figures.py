"""The Scores tab's pictures, sentences and tables: they hold what the metrics say, and visitors' text stays text."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.generation import apart
from explorer.labs.generation import apart_formulas as formulas
from explorer.labs.generation import apart_pictures as pictures
from explorer.labs.generation import scores_figures as figures
from explorer.labs.generation.apart import Parts, PartsParams, score_parts
from explorer.labs.generation.scores import Scored, ScoreParams, score_texts, scores_table
from explorer.labs.generation.scores_page import HYPOTHESES, REFERENCES, TRY
from explorer.published.lora import TABLE_3
from explorer.tasks.generation_metrics import METRICS
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

TAGS = ("strong", "table", "thead", "tbody", "tr", "th", "td", "div", "math", "mfrac", "mtext", "sup", "p", "caption")


def scored(name: str = "As a model writes") -> Scored:
    return score_texts(ScoreParams(*TRY[name]))


def parts(hypotheses: Any = HYPOTHESES, references: Any = REFERENCES, sentence: int = 1) -> Parts:
    return score_parts(PartsParams(hypotheses, references, sentence))


@pytest.fixture(scope="module")
def first() -> Parts:
    return parts()


def test_the_table_has_the_five_metrics_in_the_papers_order() -> None:
    result = scored()
    table = scores_table(result)
    assert table.columns == ("metric", "value")
    assert [row[0] for row in table.rows] == list(METRICS) == ["BLEU", "NIST", "METEOR", "ROUGE-L", "CIDEr"]
    assert_draws(figures.scores_figure(result))
    headline = figures.scores_sentence(result).striptags()
    assert headline == "5 hypotheses have BLEU 47.9 against their references."
    said = figures.scores_notes(result).striptags()
    assert "5 hypotheses against 10 references: BLEU 47.9" in said
    assert "paraphrase tables" in said


def test_loras_row_is_the_papers() -> None:
    assert TABLE_3[6].values == (70.4, 8.85, 46.8, 71.8, 2.53)
    assert "GPT-2 medium, LoRA" in figures.lora_table(scored()).striptags()


def test_the_tries_do_what_their_names_say() -> None:
    usual, copied = scored().scores, scored("The first reference itself").scores
    turned, short = scored("The words turned round").scores, scored("Only four words").scores
    assert copied.bleu == pytest.approx(100)
    assert turned.bleu < 10 < usual.bleu
    assert turned.meteor > 2 * turned.bleu  # the words are all there
    assert short.bleu < short.rouge_l
    assert scored("One reference each").scores.bleu < usual.bleu


@each_row("metric", METRICS)
@each_row("sentence", [1, 5])
def test_every_metric_is_drawn_and_its_formula_ends_in_its_score(metric: str, sentence: int) -> None:
    result = parts(sentence=sentence)
    assert_draws(pictures.parts_figure(result, metric))
    score = next(row[2] for row in apart.parts_table(result).rows if row[:2] == (metric, "score"))
    assert isinstance(score, float)
    value = figures.shown(metric, score)
    assert apart.parts_sentence(result, metric).striptags().startswith(f"{metric} {value}")
    assert f"<td><strong>{metric}</strong></td><td>{value}</td>" in formulas.formulas(result, metric)


def test_the_formulas_parts_multiply_to_the_score(first: Parts) -> None:
    values = {row[:2]: row[2] for row in apart.parts_table(first).rows}
    product = 1.0
    for order in range(1, 5):
        product *= values["BLEU", f"p{order}"]  # type: ignore[operator]
    assert values["BLEU", "score"] == pytest.approx(100 * values["BLEU", "brevity penalty"] * product**0.25)  # type: ignore[operator]
    nist = sum(values["NIST", f"information of the {order}-grams / their number"] for order in range(1, 6))  # type: ignore[misc]
    assert values["NIST", "score"] == pytest.approx(values["NIST", "length penalty"] * nist)  # type: ignore[operator]
    assert values["METEOR", "score"] == pytest.approx(100 * values["METEOR", "F"] * (1 - values["METEOR", "penalty"]))  # type: ignore[operator]


def test_lines_of_the_common_subsequence_never_cross(first: Parts) -> None:
    picture = pictures.parts_figure(first, "ROUGE-L")
    links = next(trace for trace in picture["data"] if trace["mode"] == "lines+markers")["y"]
    pairs = list(zip(links[::3], links[1::3], strict=True))
    assert pairs == sorted(pairs)
    assert len({there for _, there in pairs}) == len(pairs)


@each_row("metric", METRICS)
@each_row("hostile", HOSTILE)
def test_what_a_visitor_typed_stays_text(metric: str, hostile: str) -> None:
    result = parts([f"{hostile} pub"], [[f"A {hostile} pub."]])
    assert_safe(formulas.formulas(result, metric), metric, TAGS)
    assert_safe(apart.parts_sentence(result, metric), metric)
    assert "<script" not in str(pictures.parts_figure(result, metric)["data"])


@each_row("metric", METRICS)
@each_row("hypothesis", ["Other words.", "?", "pub"])
def test_nothing_matched_is_drawn_too(metric: str, hypothesis: str) -> None:
    result = parts([hypothesis], [["A pub by the river."]])
    assert_draws(pictures.parts_figure(result, metric))
    assert formulas.formulas(result, metric)


def test_a_sentence_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInputError, match="no hypothesis number 6: choose one from 1 to 5"):
        parts(sentence=6)
