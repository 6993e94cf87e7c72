"""Sentence order against transformers' own ALBERT, and both heads on the same pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.pairs import order as order_figures
from explorer.labs.pairs.jobs import drawn_pairs, score_kinds, score_order, score_pair
from explorer.labs.pairs.order import KINDS, KindsParams, KindsResult, OrderParams, ScoredPair
from explorer.labs.pairs.schema import PairParams
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.models.records import Measure, Scores
from explorer.settings import Settings
from tests.labs.drawing import assert_draws
from tests.models.tiny import save
from tests.rows import each_row

TEXT, OTHER = "The cat sat. A mat sat on the cat. The mat.", "The script. A cat on a mat."
Opened = Callable[[str], LoadedModel]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """A tiny random model of a family."""
    made: dict[str, LoadedModel] = {}

    def of(family: str) -> LoadedModel:
        if family not in made:
            folder = Path(tmp_path_factory.mktemp("pairs")) / "model"
            with torch.inference_mode(False):
                made[family] = load_model(str(save(folder, family)), Settings(device="cpu", offline=True))
        return made[family]

    return of


@torch.inference_mode()
def test_the_order_of_a_pair_agrees_with_albert_for_pretraining(opened: Opened) -> None:
    loaded = opened("ALBERT")
    expected = loaded.model(**loaded.tokenizer("the cat sat", "on a mat", return_tensors="pt")).sop_logits[0]
    result = score_order(loaded, OrderParams("the cat sat", "on a mat"))
    assert result.logits == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.probabilities == pytest.approx(expected.softmax(-1).tolist(), abs=1e-5)
    assert sum(result.probabilities) == pytest.approx(1.0, abs=1e-6)


@torch.inference_mode()
@pytest.mark.parametrize("family", ["BERT", "ALBERT"])
def test_each_pair_of_each_kind_has_the_score_that_it_has_alone(family: str, opened: Opened) -> None:
    loaded = opened(family)
    result = score_kinds(loaded, KindsParams(TEXT, OTHER))
    assert result.head == {"BERT": "NSP", "ALBERT": "SOP"}[family]
    assert [len(result.of(kind)) for kind in KINDS] == [2, 2, 2]
    for pair in result.pairs:
        if family == "BERT":
            alone = score_pair(loaded, PairParams(pair.first, pair.second)).probabilities[0]
        else:
            alone = score_order(loaded, OrderParams(pair.first, pair.second)).probabilities[0]
        assert pair.probability == pytest.approx(alone, abs=1e-5)


def test_true_pairs_are_neighbours_swapped_ones_the_same_backwards_and_random_ones_of_two_texts() -> None:
    pairs = drawn_pairs(["a", "b", "c", "d"], ["x", "y"])
    true, swapped, strange = ([pair[1:] for pair in pairs if pair[0] == kind] for kind in KINDS)
    assert true == [("a", "b"), ("b", "c"), ("c", "d")]
    assert swapped == [(second, first) for first, second in true]
    assert strange == [("a", "x"), ("b", "y"), ("c", "x")]


def test_a_model_without_either_head_says_so(opened: Opened) -> None:
    with pytest.raises(MissingCapabilityError, match="neither"):
        score_kinds(opened("RoBERTa"), KindsParams(TEXT, OTHER))
    with pytest.raises(MissingCapabilityError, match="tell sentence order") as raised:
        opened("BERT").require(Capability.SOP)
    assert raised.value.capability == "SOP"


@each_row("empty", ["", "  \n", None, 7, "\x00"])
@each_row("place", ["first", "second"])
def test_an_empty_sentence_is_refused(place: str, empty: object) -> None:
    with pytest.raises(BadInputError, match=r"[Tt]ype (one|a sentence)"):
        OrderParams(**{"first": "One.", "second": "Two.", place: empty})  # type: ignore[arg-type]


@each_row(
    ("text", "other", "says"),
    [
        ("", OTHER, "The text is empty"),
        (TEXT, None, "The other text is empty"),
        ("Only one sentence.", OTHER, "at least two"),
        ("One two. " * 13, OTHER, "13 sentences"),
        (TEXT, "One two. " * 13, "The other text has 13"),
    ],
)
def test_texts_that_cannot_be_paired_say_what_to_do(text: object, other: object, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        KindsParams(text, other)  # type: ignore[arg-type]


def result(head: str, true: float, swapped: float) -> KindsResult:
    pairs = tuple(
        ScoredPair(kind, "<b>one</b>", "two", score) for kind, score in zip(KINDS, (true, swapped, 0.1), strict=True)
    )
    return KindsResult(f"<i>{head}</i>", head, pairs)


def test_the_picture_holds_every_pair_and_no_markup() -> None:
    both = [result("NSP", 0.9, 0.8), result("SOP", 0.7, 0.2)]
    figure = order_figures.kinds_figure(both)
    assert figure["data"][0]["x"] == [0.9, 0.8, 0.1]
    assert figure["data"][2]["x"] == [0.7, 0.2, 0.1]
    assert "<b>" not in str(figure["data"])
    said = order_figures.kinds_sentence(both)
    assert "<i>" not in said
    assert said.striptags() == "Of the swapped pairs NSP (<i>NSP</i>) accepts 1 and SOP (<i>SOP</i>) accepts none."
    notes = order_figures.kinds_notes(both)
    assert "<i>" not in notes
    assert "accepts 1 of 1 true pairs, 1 of 1 swapped pairs and 0 of 1 pairs from another text." in notes
    assert "0 of 1 swapped pairs" in notes
    assert "SOP's answer on them means nothing." in notes.striptags()
    table = order_figures.both_table(both)
    assert len(table.rows) == 6
    assert table.rows[3][:3] == ("<i>SOP</i>", "SOP", "true")


def test_the_two_by_two_shows_what_was_measured_beside_the_paper() -> None:
    measures = tuple(
        Measure(f"{kind}_segments", kind, value, "share", "") for kind, value in (("nsp", 0.951), ("sop", 0.49))
    )
    view = order_figures.two_by_two(
        [("NSP", "mini", Scores("2026-01-01", "", "", measures)), ("SOP", "none", Scores("", "", "", ()))]
    )
    assert "<td>95.1</td><td>49.0</td>" in view
    assert "none" not in view
    assert "measured 2026-01-01;" in view
    assert "<td>78.9</td><td>86.5</td>" in view


OURS = {"NSP": ("<b>one</b>", 94.5, 50.2), "SOP": ("two", 49.4, 61.1)}


def test_four_cells_of_ours_stand_beside_alberts() -> None:
    drawn = assert_draws(order_figures.cells_figure(OURS))
    cells = [[list(row) for row in trace.z] for trace in drawn.data if trace.type == "heatmap"]
    assert cells == [[[94.5, 50.2], [49.4, 61.1]], [[90.5, 52.0], [78.9, 86.5]]]
    assert "<b>one" not in str(drawn.data)
    said = order_figures.cells_sentence(OURS)
    assert "<b>one" not in said
    assert said.striptags() == (
        "<b>one</b>, trained on NSP, is at chance on order, and two, trained on SOP, is at chance on next sentences."
    )
    assert (
        "ALBERT's own, trained on SOP, was right on 78.9% of next sentences." in order_figures.cells_notes().striptags()
    )


@each_row(("right", "chance"), [(48.0, False), (48.1, True), (51.9, True), (52.0, False)])
def test_chance_is_said_within_two_points_of_half(right: float, chance: bool) -> None:
    said = order_figures.cells_sentence({**OURS, "NSP": ("one", 94.5, right)}).striptags().split(", and two")[0]
    assert said == f"one, trained on NSP, is {'at chance' if chance else f'right on {right}%'} on order"


def test_a_verdict_says_how_far_to_believe_it() -> None:
    measures = (Measure("sop_segments", "", 0.612, "share", ""), Measure("sop_sentences", "", 0.555, "share", ""))
    said = order_figures.trust_sentence("<b>mini", Scores("", "", "", measures))
    assert "right on 61.2% of held-out pairs of segments, 55.5% of pairs of single sentences; 50% is chance" in said
    assert "<b>" not in said
    for nothing in (None, Scores("", "", "", ())):
        assert "Not measured here" in order_figures.trust_sentence("some/albert", nothing)
