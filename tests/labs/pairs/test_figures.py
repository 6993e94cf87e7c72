"""Sentence pairs as bars, heatmap, chips, sentences and tables, from results made by hand."""

from __future__ import annotations

import math

import pytest

from explorer.charts.words import percent
from explorer.labs.pairs import ablations, figures
from explorer.labs.pairs.schema import CLASSES, AllPairsResult, PairResult, PairToken, losses_of
from explorer.models.records import Measure, Scores
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe, written
from tests.rows import each_row


def pair_result(is_next: float = 0.75, text: str = "Hello") -> PairResult:
    tokens = [("[CLS]", 0), (text, 0), ("[SEP]", 0), (text, 1), ("[SEP]", 1)]
    made = tuple(
        PairToken(place, name, name, False, segment, name in ("[CLS]", "[SEP]"))
        for place, (name, segment) in enumerate(tokens)
    )
    return PairResult("bert-small", made, (1.5, 0.4), (is_next, 1 - is_next))


def all_pairs_result(count: int = 3, text: str = "Sentence") -> AllPairsResult:
    """The first sentence's successor leads its row; in every other row another sentence does."""
    grid = [
        [None if i == j else 0.9 if j == i + 1 and i == 0 else 0.2 + 0.1 * (j != i + 1) for j in range(count)]
        for i in range(count)
    ]
    sentences = tuple(f"{text} {number}" for number in range(count))
    return AllPairsResult("bert-small", sentences, tuple(tuple(row) for row in grid))


def test_the_pair_table_has_a_row_a_class() -> None:
    table = figures.pair_table(pair_result())
    assert CLASSES == ("is_next", "not_next")
    assert table.columns == ("class", "logit", "probability", "loss")
    assert [row[:3] for row in table.rows] == [("is_next", 1.5, 0.75), ("not_next", 0.4, 0.25)]
    assert [row[3] for row in table.rows] == pytest.approx([-math.log(share) for share in softmax(1.5, 0.4)])


def softmax(*logits: float) -> list[float]:
    return [math.exp(logit) / sum(map(math.exp, logits)) for logit in logits]


def test_the_loss_of_either_truth_stands_beside_a_coin_s() -> None:
    said = figures.pair_loss(pair_result()).striptags()
    for_next, for_not = (f"{-math.log(share):.3f}" for share in softmax(1.5, 0.4))
    assert f"if it does follow: {for_next}" in said
    assert f"if it does not: {for_not}" in said
    assert "guessing: 0.693 nats" in said
    assert losses_of((0.0, 0.0)) == pytest.approx((math.log(2), math.log(2)))


def test_the_loss_stays_finite_where_the_probability_rounds_to_nothing() -> None:
    assert losses_of((900.0, -900.0)) == pytest.approx((0, 1800))
    assert losses_of((-5.0, 3.0))[0] - losses_of((-5.0, 3.0))[1] == pytest.approx(8)


def test_the_pair_figure_draws_two_bars() -> None:
    figure = assert_draws(figures.pair_figure(pair_result()))
    assert tuple(figure.data[0].x) == (0.75, 0.25)
    assert figure.data[0].text == ("75.0%<br>logit 1.50", "25.0%<br>logit 0.40")
    low, high = figure.layout.xaxis.range
    assert low == 0
    assert 1 < high < 1.05


@pytest.mark.parametrize(("is_next", "verdict"), [(0.75, "follows"), (0.5, "follows"), (0.49, "does not follow")])
def test_the_pair_sentence_gives_the_verdict(is_next: float, verdict: str) -> None:
    text = figures.pair_sentence(pair_result(is_next)).striptags()
    assert verdict in text
    assert percent(is_next) in text
    assert "1.50 (is next) and 0.40 (not next)" in figures.pair_notes(pair_result(is_next))


def test_a_verdict_on_everyday_pairs_says_how_far_to_believe_it() -> None:
    measures = (
        Measure("nsp_everyday", "", 0.645, "share", "200 pairs, half of each class"),
        Measure("nsp_everyday_accepted", "", 0.69, "share", "100 pairs"),
    )
    said = figures.pair_trust_sentence("<b>mini", Scores("", "", "", measures))
    assert "on 200 pairs of everyday sentences" in said
    assert "is right in 64.5% (50% is chance)" in said
    assert "accepts 69.0% of the unrelated ones" in said
    assert "<b>" not in said
    for nothing in (None, Scores("", "", "", ())):
        assert "Not measured here" in figures.pair_trust_sentence("some/bert", nothing)


def test_chips_carry_segment_and_position_below() -> None:
    chips = figures.pair_chips(pair_result())["chips"]
    assert [chip["below"] for chip in chips] == ["0 · 0", "0 · 1", "0 · 2", "1 · 3", "1 · 4"]
    assert [chip["style"].split()[0] for chip in chips] == ["segment-a"] * 3 + ["segment-b"] * 2
    assert [chip["text"] for chip in chips if "special" in chip["style"]] == ["[CLS]", "[SEP]", "[SEP]"]


@pytest.mark.parametrize("count", [2, 3, 12])
def test_the_table_of_all_pairs_leaves_the_diagonal_out(count: int) -> None:
    table = figures.all_pairs_table(all_pairs_result(count))
    assert table.columns == ("first", "second", "probability")
    assert len(table.rows) == count * (count - 1)
    assert all(first != second for first, second, _ in table.rows)
    assert table.rows[0] == (1, 2, 0.9)


@pytest.mark.parametrize("count", [2, 3, 12])
def test_the_heatmap_draws_and_outlines_the_true_successors(count: int) -> None:
    figure = assert_draws(figures.all_pairs_figure(all_pairs_result(count)))
    outlined = [(shape.y0 + 0.5, shape.x0 + 0.5) for shape in figure.layout.shapes]
    assert outlined == [(first, first + 1) for first in range(count - 1)]
    assert figure.data[0].z[0][0] is None
    assert {("1", "1"), ("1", "2")} & set(written(figure)) == {("1", "2")}


def test_two_sentences_have_no_row_in_which_one_could_lead() -> None:
    result = AllPairsResult("bert-small", ("One.", "Two."), ((None, 0.9), (0.25, None)))
    text = figures.all_pairs_sentence(result).striptags()
    assert text.startswith("The pair as it stands has P(next) = 90.0%, the same two swapped 25.0%.")
    assert "rows" not in text


def test_why_the_two_papers_disagree_on_nsp_stands_beside_both_tables() -> None:
    """Devlin et al. 2019, Table 5; Liu et al. 2019, Table 2."""
    assert "83.9</td><td>84.9</td><td>86.5" in ablations.bert_table()
    assert "82.1</td><td>84.3</td><td>77.5" in ablations.bert_table()
    assert "doc sentences, no NSP</td><td>90.6/79.7</td><td>84.7" in ablations.roberta_table()
    said = ablations.disagreement().striptags()
    assert "QNLI −3.5" in said
    assert "SST-2 −0.4" in said
    assert "MNLI-m +0.7" in said
    assert "section 4.2" in said


def test_what_leaving_nsp_out_changed_is_drawn_about_zero_for_all_tasks_of_both_papers() -> None:
    said = "Without next-sentence prediction BERT loses on 5 of 5 tasks, RoBERTa loses on 1 of 5."
    assert ablations.help_sentence().striptags().startswith(said)
    drawn = assert_draws(ablations.help_figure())
    bars = [dict(zip(trace.y, trace.x, strict=True)) for trace in drawn.data if trace.type == "bar"]
    assert bars == [
        {"MNLI-m": -0.5, "QNLI": -3.5, "MRPC": -0.2, "SST-2": -0.1, "SQuAD 1.1": -0.6},
        {"SQuAD 1.1": 0.0, "SQuAD 2.0": 0.4, "MNLI-m": 0.7, "SST-2": -0.4, "RACE": 0.6},
    ]
    scores = [text for trace in drawn.data if trace.type == "scatter" for text in trace.text]
    assert scores[0] == "84.4 → <b>83.9</b>"
    assert scores[5] == "90.4 → <b>90.4</b>"


def test_the_sentence_counts_rows_where_the_true_successor_leads() -> None:
    text = figures.all_pairs_sentence(all_pairs_result(4)).striptags()
    assert text == "The true next sentence scores highest in 1 of 3 rows."
    text = figures.all_pairs_notes(all_pairs_result(4)).striptags()
    assert f"mean P(next) is {percent((0.9 + 0.2 + 0.2) / 3)}, that of all other pairs {percent(0.3)}" in text
    assert "52.0%" in text


@each_row("text", HOSTILE)
def test_a_visitors_text_stays_text(text: str) -> None:
    assert_safe(figures.numbered(all_pairs_result(text=text)), f"{text} 2", ("ol", "li"))
    assert_safe(figures.all_pairs_sentence(all_pairs_result(text=text)), "rows")
    assert_safe(figures.pair_sentence(pair_result(text=text)), "P(next)")
    assert_safe(figures.pair_notes(pair_result(text=text)), "logits", ("p",))


def test_the_page_for_models_without_the_head_quotes_roberta_s_table_2() -> None:
    tags = ("p", "table", "caption", "thead", "tbody", "tr", "th", "td")
    for cell in ("90.4/78.7", "88.7/76.2", "90.4/79.1", "90.6/79.7", "65.6"):
        assert_safe(ablations.WITHOUT_HEAD["roberta"], cell, tags)


def test_each_family_has_its_own_reason_and_albert_s_leads_to_order() -> None:
    reasons = ablations.WITHOUT_HEAD
    assert 'data-tab="Order"' in reasons["albert"]
    assert not [name for name, said in reasons.items() if "RoBERTa was trained" in said and name != "roberta"]
    assert {"distilbert", "electra", "deberta", "deberta-v2", "gpt2", ""} <= set(reasons)
