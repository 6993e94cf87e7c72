"""The family's jobs: what is counted and read is what the page shows."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.labs.models.curves import CurvesParams
from explorer.labs.models.jobs import count_parameters, family, held_out
from explorer.labs.models.schema import BUNDLED, SIZED, CountParams, FamilyParams, ScoresParams
from explorer.models.families import ARCHITECTURES, NOTES
from explorer.models.published import ALBERT_TABLE_3, ALBERT_TABLE_4
from explorer.models.records import read_scores
from explorer.models.sizes import outline_of
from explorer.settings import BUNDLED_MODELS
from tests.rows import each_row


def test_every_family_of_the_catalog_has_one_note() -> None:
    told = [family for note in NOTES for family in note.families]
    assert sorted(told) == sorted(entry.family for entry in ARCHITECTURES)
    assert [note.name for note in NOTES if "ELECTRA generator" in note.families] == ["ELECTRA"]


def test_the_family_holds_what_was_asked_for() -> None:
    both = family(FamilyParams())
    assert [entry.model for entry in both.models] == list(SIZED)
    here = family(FamilyParams(("bundled",)))
    assert [entry.model for entry in here.models] == list(BUNDLED)
    assert all(entry.megabytes and entry.pieces for entry in here.models)
    assert all(
        entry.parameters * 2 == pytest.approx(1e6 * (entry.megabytes or 0), rel=0.01) for entry in here.models
    ), "fp16 files: two bytes a parameter"
    assert not any(entry.bundled for entry in family(FamilyParams("published")).models)  # type: ignore[arg-type]


def test_the_figures_are_those_that_the_cards_hold() -> None:
    for entry in held_out(ScoresParams()).models:
        kept = read_scores(BUNDLED_MODELS / entry.model)
        assert kept is not None
        assert entry.measures == kept.measures
        card = (BUNDLED_MODELS / entry.model / "README.md").read_text(encoding="utf-8")
        for measure in entry.measures:
            assert measure.shown_with_error in card
    assert [entry.model for entry in held_out(ScoresParams(("bert-mini",))).models] == ["bert-mini"]


def test_counting_with_nothing_changed_is_the_model_itself() -> None:
    for name in SIZED:
        result = count_parameters(CountParams(name))
        assert result.after.parameters == result.before.parameters
        assert not result.parts or sum(part.count for part in result.parts) == result.after.parameters


def test_one_shared_layer_is_a_twelfth_of_twelve() -> None:
    shared, apart = (count_parameters(CountParams(shared=shared)) for shared in ("own", "no"))
    assert apart.after.in_layers == 12 * shared.after.in_layers
    assert apart.after.words == shared.after.words
    assert shared.before.shared
    assert not apart.after.shared


def test_the_sweep_ends_at_the_layers_width_and_is_albert_s_table_at_its_sizes() -> None:
    result = count_parameters(CountParams())
    assert result.table_3
    assert result.sweep[-1].embedding_size == 768
    assert all(row.everything < row.ffn < row.attention < row.nothing for row in result.sweep)
    assert not count_parameters(CountParams(hidden_size=512)).table_3
    wide = count_parameters(CountParams("bert-mini", hidden_size=100))
    assert wide.sweep[-1].embedding_size == 100


def test_what_layers_share_counts_as_in_albert_s_tables() -> None:
    """Within a million or 2% of the paper's: it does not say whether the map of E to H and the pooler count."""
    counted = {row.embedding_size: row for row in count_parameters(CountParams()).sweep}
    for shared, rows in ALBERT_TABLE_3 + ALBERT_TABLE_4:
        for width, millions, _ in rows:
            assert getattr(counted[width], shared) / 1e6 == pytest.approx(millions, rel=0.02, abs=1.0), (shared, width)
    bert = outline_of("google-bert/bert-base-uncased").empty().named_parameters()
    layer = sum(parameter.numel() for name, parameter in bert if ".layer.0." in name)
    assert counted[768].nothing == counted[768].everything + 11 * layer
    assert counted[768].nothing - counted[768].attention + counted[768].nothing - counted[768].ffn == 11 * layer


@each_row(
    ("shared", "field"),
    [
        *(("none", "nothing"), ("no", "nothing"), ("attention", "attention"), ("feed-forward", "ffn")),
        *(("all", "everything"), ("yes", "everything")),
    ],
)
def test_the_control_shares_by_part_and_counts_as_the_tables_curve_does(shared: str, field: str) -> None:
    result = count_parameters(CountParams(shared=shared, embedding_size=768))
    heads = sum(part.count for part in result.parts if part.part.startswith(("MLM head", "SOP head")))
    assert result.after.parameters == sum(part.count for part in result.parts)
    assert result.after.parameters - heads == getattr(result.sweep[-1], field)
    assert result.after.shared is (field == "everything")


def test_what_further_layers_have_of_their_own_is_named() -> None:
    assert "the feed-forward net of 11 further layers" in {
        part.part for part in count_parameters(CountParams(shared="attention")).parts
    }
    one, two = (count_parameters(CountParams(shared="feed-forward", layers=layers)) for layers in (1, 2))
    assert not [part for part in one.parts if "further" in part.part]
    assert two.parts[-1].part == "the attention of 1 further layer"


def test_a_family_that_shares_no_layer_shares_no_part_of_one() -> None:
    with pytest.raises(BadInputError, match="does not share its layers"):
        count_parameters(CountParams("bert-mini", shared="attention"))


@each_row(
    ("params", "says"),
    [
        ({"base": "nobody/nothing"}, "sizes are known here"),
        ({"hidden_size": "wide"}, "hidden_size must be a whole number"),
        ({"layers": -1}, "layers must be"),
        ({"layers": 10**9}, "layers must be"),
        ({"vocabulary": 10**12}, "vocabulary must be"),
        ({"shared": "maybe"}, "one of own, none, attention, feed-forward, all."),
    ],
)
def test_sizes_that_make_no_sense_are_refused(params: dict[str, object], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        CountParams(**params)  # type: ignore[arg-type]


def test_a_family_without_it_says_so() -> None:
    with pytest.raises(BadInputError, match="as wide as its layers"):
        count_parameters(CountParams("bert-small", embedding_size=128))


@each_row("which", [(), "everything", ("bundled", "secret"), 7])
def test_a_choice_that_is_none_is_refused(which: object) -> None:
    with pytest.raises(BadInputError):
        FamilyParams(which)  # type: ignore[arg-type]


@pytest.mark.parametrize("params", [ScoresParams, CurvesParams])
def test_only_bundled_models_have_figures(params: type) -> None:
    assert params("bert-mini, bert-small").models == ("bert-small", "bert-mini")
    assert params(["bert-mini"]).models == ("bert-mini",)
    assert params().models == BUNDLED
    with pytest.raises(BadInputError, match="bundled models only"):
        params(["google-bert/bert-base-uncased"])
