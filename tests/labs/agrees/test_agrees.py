"""The page on published figures: its filters, and what it says and draws."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.agrees import figures
from explorer.labs.agrees.jobs import published_figures
from explorer.labs.agrees.schema import EVERY, STANDINGS, Finding, PublishedParams, PublishedResult
from explorer.published.check import PAPERS
from explorer.published.checks import CHECKS
from tests.rows import each_row


def finding(**changed: object) -> Finding:
    given = {"paper": "A (2020)", "place": "Table 1", "quantity": "size", "published": "10M", "computed": "11M"}
    numbers = {"value": 11e6, "apart": 0.1, "agrees": False, "how": "counted", "why": "The heads."}
    return Finding(**{**given, **numbers, **changed})  # type: ignore[arg-type]


SAME = finding(place="Table 2", quantity="rank", computed="10M", value=1e7, apart=0.0, agrees=True, why="")
LESS = finding(paper="B (2021)", computed="8M", apart=-0.2)


def test_filters_choose_papers_and_verdicts() -> None:
    everything = published_figures(PublishedParams())
    assert len(everything.findings) == len(CHECKS)
    parts = [published_figures(PublishedParams(verdict=verdict)).findings for verdict in ("agree", "differ")]
    assert {len(parts[0]), len(parts[1])} == {sum(one.agrees for one in everything.findings), len(parts[1])}
    assert sum(map(len, parts)) == len(CHECKS)
    papers = [published_figures(PublishedParams(paper=paper)).findings for paper in PAPERS]
    assert sum(map(len, papers)) == len(CHECKS)
    assert {one.paper for one in papers[0]} == {next(iter(PAPERS.values()))}


@each_row("given", [{"paper": "attention"}, {"verdict": "maybe"}, {"paper": ["lora"]}, {"verdict": None}])
def test_another_choice_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(BadInputError, match="must be one of"):
        PublishedParams(**given)  # type: ignore[arg-type]


def test_the_known_differences_are_shown_as_such() -> None:
    found = {one.quantity: one for one in published_figures(PublishedParams(paper="lora")).findings}
    base = found["RoBERTa-base, full fine-tuning"]
    assert (base.published, base.computed, base.agrees) == ("125.0M", "124.7M", False)
    assert found["amplification factor, r = 64"].agrees
    assert found["amplification factor, r = 4"].computed == "21.6"
    assert found["RoBERTa-base, LoRA on query and value, r = 8"].agrees


def test_the_sentence_counts_and_names_the_furthest() -> None:
    result = PublishedResult((finding(), SAME, LESS), whole=True)
    said = str(figures.published_sentence(result).striptags())
    assert said == "Of 3 figures, computed again and rounded as printed, 1 equals what is published."
    notes = figures.published_notes(result).striptags()
    assert notes.startswith("2 are further apart or open. Furthest apart: ")
    assert "B, Table 1, size, printed as 10M and computed as 8M (−20.0%)" in notes
    alone = figures.published_sentence(PublishedResult((SAME,), whole=True)).striptags()
    assert alone == "Of 1 figure, computed again and rounded as printed, 1 equals what is published."
    assert figures.published_notes(PublishedResult((SAME,), whole=True)) == ""
    nothing = figures.published_sentence(PublishedResult((finding(),), whole=True)).striptags()
    assert nothing == "Of 1 figure, computed again and rounded as printed, none equals what is published."
    assert "None of" in figures.published_sentence(PublishedResult((), whole=False))


@each_row(
    ("changed", "standing"),
    [
        ({"apart": 0.0199}, "near"),
        ({"apart": -0.0199}, "near"),
        ({"apart": 0.02}, "open"),
        ({"apart": 0.01, "unexplained": True}, "open"),
        ({"apart": 0.0, "agrees": True, "unexplained": True}, "equal"),
    ],
)
def test_a_small_difference_with_a_reason_is_no_open_one(changed: dict[str, object], standing: str) -> None:
    one = finding(**changed)
    assert one.standing == standing
    said = figures.published_notes(PublishedResult((one, SAME), whole=True)).striptags()
    assert ("within 2% for a known reason" in said) == (standing == "near")
    assert ("further apart or open" in said) == (standing == "open")


def test_what_says_that_it_is_open_is_counted_so() -> None:
    every = published_figures(PublishedParams()).findings
    assert {one.standing for one in every} == set(STANDINGS)
    assert all(one.why for one in every if one.standing == "near")
    left = [one for one in every if "not said" in one.why or "No whole" in one.why]
    assert left
    assert all(one.standing == "open" for one in left)


def drawn(result: PublishedResult, view: str) -> Any:
    return figures.published_figure(result, view)


def test_the_pictures_show_counts_and_distances() -> None:
    result = PublishedResult((finding(), SAME, LESS), whole=True)
    equal, near, apart, _ = drawn(result, "sources")["data"]
    assert (equal["y"], equal["x"], near["x"], apart["x"]) == (["A", "B"], [1, 0], [0, 0], [1, 1])
    assert len({trace["marker"]["color"] for trace in (equal, near, apart)}) == 3
    by_place = drawn(PublishedResult((finding(), SAME), whole=False), "sources")
    assert by_place["data"][0]["y"] == ["Table 1", "Table 2"]
    apart = drawn(result, "apart")
    assert apart["data"][0]["x"] == [-0.2, 0.1]
    assert drawn(PublishedResult((SAME,), whole=True), "apart") == ""
    assert drawn(PublishedResult((), whole=True), "sources") == ""


def test_rows_stand_below_their_table_and_say_why() -> None:
    result = PublishedResult((finding(why="<b>x</b>"), SAME, LESS), whole=True)
    view = str(figures.published_view(result))
    assert view.count("<details>") == 2, "of several papers each is folded"
    assert str(figures.published_view(PublishedResult((LESS,), whole=True))).count("<details open>") == 1
    assert "<summary>A (2020): 1 of 2 agree</summary>" in view
    assert view.index("Table 1") < view.index("&lt;b&gt;x") < view.index("Table 2")
    assert view.count('class="differs"') == 2
    assert "+10.0%" in view
    table = figures.published_table(result)
    assert table.columns == ("source", "quantity", "published", "computed", "agrees", "exact", "how", "why")
    assert [row[4] for row in table.rows] == [STANDINGS["open"], STANDINGS["equal"], STANDINGS["open"]]
    assert EVERY in PublishedParams().paper
