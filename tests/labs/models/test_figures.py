"""The family's pictures and sentences hold the numbers of their results, and nothing of a model's name is markup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.labs.models import family_figures as figures
from explorer.labs.models import records_figures as score_figures
from explorer.labs.models.jobs import count_parameters
from explorer.labs.models.schema import (
    CountedPart,
    CountParams,
    CountResult,
    FamilyResult,
    ModelScores,
    ModelSizes,
    ScoresResult,
    Width,
)
from explorer.models.records import Measure


def sizes(model: str, words: int, layers: int, **changes: object) -> ModelSizes:
    values: dict[str, object] = {
        **{"family": "BERT", "bundled": True, "vocabulary": 10, "layers": 2, "hidden_size": 4, "intermediate_size": 8},
        **{"attention_heads": 2, "embedding_size": 4, "shared": False, "rest": 5, "heads": 7, "pieces": "WordPiece"},
        "megabytes": 0.1,
    }
    return ModelSizes(model, words=words, in_layers=layers, **{**values, **changes})  # type: ignore[arg-type]


FAMILY = FamilyResult((sizes("small", 100, 50), sizes("owner/<b>large</b>", 2_000_000, 8_000_000)))
SCORES = ScoresResult(
    (
        ModelScores("one", "2026-01-01", "command", "text", (Measure("mlm_top_1", "MLM top-1", 0.5, "share", "10"),)),
        ModelScores(
            "two",
            "2026-01-01",
            "command <i>",
            "text",
            (
                Measure("mlm_top_1", "MLM top-1", 0.25, "share", "10"),
                Measure("nsp_segments", "NSP", 0.9, "share", "20 pairs"),
                Measure("perplexity", "perplexity", 30.0, "plain", "20"),
            ),
        ),
    )
)


def test_a_bar_s_groups_add_up_to_the_model() -> None:
    figure = figures.family_figure(FAMILY)
    bars = [trace for trace in figure["data"] if trace["type"] == "bar"]
    for place, entry in enumerate(FAMILY.models):
        assert sum(bar["customdata"][place] for bar in bars) == entry.parameters
        assert sum(bar["x"][place] for bar in bars) == pytest.approx(entry.parameters / 1e6)
    shares = figures.family_figure(FAMILY, "share")["data"]
    assert sum(bar["x"][1] for bar in shares) == pytest.approx(1.0)
    assert "<b>" not in str(figure["data"])


def test_the_sentence_names_the_smallest_the_largest_and_the_wordiest() -> None:
    said = figures.family_sentence(FAMILY)
    assert "The smallest, <strong>small</strong>, has <strong>162</strong> parameters, the largest, " in said
    assert "<strong>10M</strong>." in said
    assert "&lt;b&gt;" in said
    notes = figures.family_notes(FAMILY)
    assert "61.7% of small is its vocabulary table" in notes, "of small, 100 of 162 are words"
    alone = figures.family_sentence(FamilyResult(FAMILY.models[:1])).striptags()
    assert alone == "small has 162 parameters."


def test_the_table_has_a_column_for_each_size() -> None:
    table = figures.family_table(FAMILY)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["model"], row["parameters"], row["word_embeddings"], row["megabytes"]) == ("small", 162, 100, 0.1)


def test_counted_parts_are_a_table_and_two_bars() -> None:
    before, after = sizes("owner/base", 100, 50), sizes("owner/base", 100, 5000)
    result = CountResult(
        before,
        after,
        (CountedPart("all layers", "50·100", 5000),),
        (Width(2, 10, 12, 16, 20), Width(4, 30, 32, 36, 40)),
        False,
        False,
    )
    assert figures.count_table(result).rows[0] == ("all layers", "50·100", 5000)
    assert figures.count_table(result).rows[-1] == ("all", "", after.parameters)
    assert "31.6 times" not in figures.count_sentence(result)
    assert f"{after.parameters / before.parameters:.2f} times" in figures.count_sentence(result)
    assert f" has {before.parameters:,}." in figures.count_notes(result)
    same = CountResult(before, before, (), (), False, False)
    assert "Change a size" in figures.count_sentence(same)
    assert figures.count_notes(same) == ""
    bars = figures.count_figure(result)["data"]
    assert bars[0]["y"] == ["as it is", "in these sizes"]
    without = figures.count_table(CountResult(before, after, (), (), False, False))
    assert sum(row[2] for row in without.rows[:-1]) == without.rows[-1][2]  # type: ignore[misc]


def test_the_papers_points_stand_where_the_sizes_are_the_papers() -> None:
    one, sweep = sizes("x", 1, 1), (Width(768, 10, 12, 18, 20),)
    assert len(figures.sweep_figure(CountResult(one, one, (), sweep, False, True))["data"]) == 4
    marked = figures.sweep_figure(CountResult(one, one, (), sweep, True, True))
    assert marked["data"][4]["y"] == [10, 12, 16, 31]
    assert marked["data"][4]["text"] == ["79.0", "80.1", "79.6", "79.8"]
    assert marked["data"][5]["y"] == [87, 89, 93, 108]
    assert marked["data"][6]["y"] == [64, 83]
    assert marked["data"][7]["text"] == ["80.2", "79.5"]
    assert "saves 10.0% of such a model, sharing the feed-forward net 40.0%." in marked["described"]
    notes = figures.sweep_notes(CountResult(one, one, (), sweep, True, True))
    assert "Sharing both saves 50.0%." in notes
    assert "cost ALBERT 0.7, 2.8 and 2.5 points" in notes
    assert "cost" not in figures.sweep_notes(CountResult(one, one, (), sweep, False, True))


def test_scores_name_a_leader_where_models_can_be_compared_and_leave_out_what_was_not_measured() -> None:
    masks = score_figures.scores_sentence(SCORES)
    assert "leads" not in masks, "masked tokens of other vocabularies are other questions"
    assert masks.striptags() == "First guess right: from 25.00% (two) to 50.00% (one)."
    assert "one 50.00% ± 15.81, two 25.00% ± 13.69 (over 10)." in score_figures.scores_notes(SCORES)
    assert "share a vocabulary" in score_figures.scores_notes(SCORES)
    measure = Measure("nsp_segments", "NSP", 0.8, "share", "20 pairs")
    both = ScoresResult((*SCORES.models, ModelScores("three", "2026-01-01", "command", "text", (measure,))))
    assert "<strong>two</strong> leads: <strong>90.00%" in score_figures.scores_sentence(both, "pairs")
    assert "leads" not in score_figures.scores_sentence(SCORES, "pairs"), "it is the only one"
    level = replace(both, models=(*both.models[:-1], replace(both.models[-1], measures=(replace(measure, value=0.9),))))
    assert "and 1 more share the lead: <strong>90.00%" in score_figures.scores_sentence(level, "pairs")
    pairs = score_figures.scores_figure(SCORES, "pairs")
    assert pairs["data"][0]["y"] == ["two"]
    assert pairs["data"][0]["x"] == [0.9]
    assert pairs["data"][1]["x"] == [None]
    assert "50% is chance" in score_figures.scores_notes(SCORES, "pairs")
    assert score_figures.scores_notes(SCORES, "replaced") == ""
    assert "None of these" in score_figures.scores_sentence(SCORES, "replaced")
    assert score_figures.scores_figure(SCORES, "replaced")["data"][0]["y"] == []


def test_every_figure_stands_in_the_table_and_in_the_list() -> None:
    table, view = score_figures.scores_table(SCORES), score_figures.scores_view(SCORES)
    assert len(table.rows) == 4
    assert "30.000" in view
    assert "<b>25.00% ± 13.69</b>" in view, "a share of right answers has its standard error over its 10"
    assert [row[-1] for row in table.rows][-1] is None, "a perplexity is none"
    bars = score_figures.scores_figure(SCORES, "masks")["data"][0]
    assert bars["error_x"]["array"] == [pytest.approx(0.158, abs=1e-3), pytest.approx(0.137, abs=1e-3)]
    assert bars["customdata"][1] == "25.00% ± 13.69"
    assert "command &lt;i&gt;" in view


def test_every_card_says_who_what_and_how() -> None:
    view = figures.changes_view()
    assert view.count("family-card") == len(figures.NOTES)
    for name in ("BERT", "ELECTRA", "DeBERTa", "GPT-2", "Devlin et al. 2019", "bert-small", "learn to classify"):
        assert name in view


def test_a_count_stands_beside_the_papers_figure_and_a_disagreement_says_so() -> None:
    base = sizes("google-bert/bert-base-uncased", 24_000_000, 86_000_000)
    large = sizes("albert/albert-xxlarge-v2", 3_840_000, 201_000_000, rest=600_000, heads=17_700_000, shared=True)
    both = FamilyResult((base, large))
    totals = figures.family_figure(both)["data"][-1]["text"]
    assert [text.strip() for text in totals] == ["110M (paper: 110M)", "223M (paper: 235M)"]
    said = figures.family_notes(both).striptags()
    assert (
        "albert/albert-xxlarge-v2 counts 223M, the paper says 235M and gives no breakdown: here 201M are in its one"
        in said
    )
    assert "bert-base-uncased counts" not in said
    assert [row[-1] for row in figures.family_table(both).rows] == [110, 235]
    assert "paper" not in figures.family_notes(FAMILY)


def test_the_papers_count_stands_at_the_published_sizes_alone() -> None:
    def ends(params: CountParams) -> list[str]:
        drawn: Any = figures.count_figure(count_parameters(params))
        return list(drawn["data"][-1]["text"])

    changed = ends(CountParams(embedding_size=768, shared="none"))
    assert ["paper" in text for text in changed] == [True, False]
    assert ["paper" in text for text in ends(CountParams())] == [True, True]
