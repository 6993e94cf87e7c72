"""Training from nothing as the page asks for it and shows it."""

from __future__ import annotations

import json
import math
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.labs.pretrain import PRETRAIN, TAKE_HOME, train
from explorer.labs.pretrain import train_figures as figures
from explorer.labs.pretrain import train_said_figures as said_figures
from explorer.labs.pretrain.train import RACES, FollowPretrainingParams, PretrainParams, TakeHomeParams, changes
from explorer.runs.comparing import Compared
from explorer.runs.examples import FROM_NOTHING, LEAK, RECIPES
from explorer.runs.record import RunRecord, RunStatus
from explorer.scratch.spec import Said
from explorer.settings import Settings
from tests.engine.records import record
from tests.rows import each_row
from tests.scratch.small import SMALL, small

HOSTILE = "<b>The</b> [MASK] & more."


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    return LocalEngine(Settings(data_folder=tmp_path_factory.mktemp("data")))


def last(results: Iterator[Any]) -> Any:
    found = None
    for result in results:
        found = result if result is not None else found
        time.sleep(0.02)
    return found


@pytest.fixture(scope="module")
def raced(engine: LocalEngine) -> Compared:
    asked = PretrainParams(**{**SMALL, "probes": HOSTILE}, against="objective=mlm, row_format=full_sentences")
    found: Compared = last(train.pretrain(engine, asked, "ada"))
    return found


@each_row("against", [against for _, against in RACES if against])
def test_every_race_that_is_offered_changes_what_it_says_and_nothing_else(against: str) -> None:
    one, other = PretrainParams(against=against).specs("stories")
    named = changes(against)
    assert {name for name in vars(one) if getattr(one, name) != getattr(other, name)} <= set(named)
    assert one != other
    assert one.seed == other.seed


@each_row("against", ["seed=3", "masking", "rate 0.4", "model=bert-mini", "=", "nothing"])
def test_a_race_by_what_is_no_setting_is_refused(against: str) -> None:
    with pytest.raises(BadInputError, match="A race differs by settings such as masking=static"):
        PretrainParams(against=against).specs("stories")


def test_a_race_that_cannot_be_trained_is_refused_before_anything_starts(engine: LocalEngine) -> None:
    before = len(engine.runs.list("bob"))
    with pytest.raises(BadInputError, match="no second part"):
        next(train.pretrain(engine, PretrainParams(against="row_format=full_sentences"), "bob"))
    assert len(engine.runs.list("bob")) == before


def test_the_page_s_defaults_are_the_run_s() -> None:
    assert PretrainParams().specs("stories") == (type(small())(start="random", keep_best=True),)


def test_two_runs_are_told_apart_by_what_they_differ_in(raced: Compared) -> None:
    assert [said_figures.name_of(one, raced.records) for one in raced.records] == [
        "MLM + NSP, segment pair",
        "MLM, full sentences",
    ]
    alone = Compared(raced.records[:1])
    assert said_figures.name_of(alone.records[0], alone.records) == raced.records[0].name


def test_the_table_has_every_measurement_and_the_words(raced: Compared) -> None:
    table = figures.pretrain_table(raced)
    assert table.columns[:3] == ("run", "step", "masked_loss")
    assert {"training_masked_loss", "pair_loss", "accuracy", "says_1"} <= set(table.columns)
    steps = [row[1] for row in table.rows if row[0] == "MLM, full sentences"]
    assert steps == sorted(set(steps))
    assert steps[0] == 0
    place = table.columns.index("masked_loss")
    assert table.rows[0][place] == dict(raced.records[0].evaluations)[0]["masked_loss"]


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_each_loss_has_a_panel_and_each_run_two_lines(raced: Compared, scale: str) -> None:
    drawn = figures.curves_figure(raced, scale)
    names = [trace["name"] for trace in drawn["data"]]
    assert names.count("MLM, full sentences: held out") == 1
    assert names.count("MLM + NSP, segment pair: held out") == 2
    first = drawn["data"][1]
    assert first["x"][0] == (0.8 if scale == "log" else 0)
    assert drawn["layout"]["xaxis"]["type"] == "log" if scale == "log" else "type" not in drawn["layout"]["xaxis"]


def test_the_sentence_has_the_losses_before_and_after(raced: Compared) -> None:
    said = str(said_figures.pretrain_sentence(raced))
    for one in raced.records:
        scores = dict(one.evaluations)
        assert f"{scores[said_figures.ended_at(one)]['masked_loss']:.2f}" in said
        alone = str(said_figures.pretrain_sentence(Compared((one,))))
        assert f"{scores[0]['masked_loss']:.2f}" in alone


def test_what_is_said_is_shown_and_never_read_as_html(raced: Compared) -> None:
    shown = str(figures.said_view(raced))
    assert "<b>The</b>" not in shown
    assert "&lt;b&gt;The&lt;/b&gt; [MASK] &amp; more." in shown
    assert shown.count("<table") == 2


def test_at_most_nine_checkpoints_are_shown_the_first_and_the_last_among_them() -> None:
    said = tuple(Said(step, "A [MASK].", 0, ("a",) * 5, (0.2,) * 5) for step in range(40))
    shown = str(figures.said_view(Compared((record(spec=small(), said=said),))))
    assert shown.count("<tr>") == 1 + figures.SHOWN_STEPS
    assert "<th>0</th>" in shown
    assert "<th>39</th>" in shown


def test_a_run_that_has_not_begun_is_drawn_too() -> None:
    waiting = Compared((record(spec=small(), status=RunStatus.QUEUED, losses=(), evaluations=(), outcome=None),))
    assert "waits for its turn" in str(said_figures.pretrain_sentence(waiting))
    assert figures.curves_figure(waiting)["data"] == []
    assert figures.said_view(waiting) == ""
    assert figures.take_home(waiting) == ""


def test_runs_are_followed_by_name_and_the_worked_example_where_none_is_named(
    engine: LocalEngine, raced: Compared
) -> None:
    names = ",".join(one.run_id for one in raced.records)
    assert last(train.follow_pretraining(engine, FollowPretrainingParams(names), "ada")) == raced
    worked = last(train.follow_pretraining(engine, FollowPretrainingParams(), "ada"))
    assert [one.run_id for one in worked.records] == [*FROM_NOTHING, *FROM_NOTHING.values()]


def test_a_run_of_another_kind_is_not_followed_here(engine: LocalEngine) -> None:
    with pytest.raises(BadInputError, match="did not begin from nothing"):
        next(train.follow_pretraining(engine, FollowPretrainingParams("example-lora-8"), "ada"))


def test_the_worked_example_learns_words_and_not_only_their_frequency() -> None:
    """Beyond the most frequent tokens: its loss is below the entropy of how often tokens occur in the held-out rows."""
    from collections import Counter

    from explorer.scratch.models import learn_vocabulary
    from explorer.scratch.rows import Drawn
    from explorer.scratch.text import read_documents

    engine = LocalEngine(Settings())
    worked = last(train.follow_pretraining(engine, FollowPretrainingParams(), "ada"))
    spec = figures.spec_of(worked.records[0])
    documents = read_documents(spec.task, Settings())
    tokenizer = learn_vocabulary((one for document in documents.train for one in document), spec.vocabulary)
    drawn = Drawn(spec, documents, tokenizer)
    counts = Counter(drawn.train.ids.tolist())
    asked = [token for batch in drawn.measured() for token in batch.labels[batch.labels >= 0].tolist()]
    total = sum(counts.values()) + len(tokenizer)
    by_frequency = -sum(math.log((counts[token] + 1) / total) for token in asked) / len(asked)
    dynamic, static = (dict(record.evaluations)[record.kept]["masked_loss"] for record in worked.records)
    assert dynamic is not None
    assert static is not None
    assert dynamic < by_frequency - 0.5 < static, "one fixed mask a row teaches hardly more than frequencies"


def test_the_worked_race_comes_out_with_every_seed_on_the_same_rows() -> None:
    engine = LocalEngine(Settings())
    worked = last(train.follow_pretraining(engine, FollowPretrainingParams(), "ada"))
    dynamic, static = worked.records
    assert (figures.spec_of(dynamic).masking, figures.spec_of(static).masking) == ("dynamic", "static")
    assert said_figures.same_rows(dynamic, static)
    ends = [
        (figures.spec_of(one).masking, dict(one.evaluations)[one.kept]["masked_loss"])
        for one in (*worked.records, *worked.again)
    ]
    assert len(ends) == 6
    assert max(loss for kind, loss in ends if kind == "dynamic") < min(loss for kind, loss in ends if kind == "static")
    said = said_figures.pretrain_sentence(worked).striptags()
    assert "masking static learned the text by heart" in said
    assert "masking dynamic" in said
    dynamic_ends, static_ends = ([loss for kind, loss in ends if kind == masking] for masking in ("dynamic", "static"))
    assert max(dynamic_ends) - min(dynamic_ends) > 0.01, "or three equal seeds would look like one"
    spans = [f"{min(losses):.2f} to {max(losses):.2f}" for losses in (dynamic_ends, static_ends)]
    said = figures.facts_line(worked).striptags()
    assert (
        f"With 3 seeds (thin lines) the losses at the end are: masking dynamic {spans[0]}, masking static {spans[1]}."
        in said
    )
    thin = [trace for trace in figures.curves_figure(worked)["data"] if trace.get("line", {}).get("width") == 1]
    assert {trace["line"]["color"] for trace in thin} == set(figures.COLOURS[:2])


def test_losses_of_other_rows_are_not_compared() -> None:
    engine = LocalEngine(Settings())
    recipes = last(train.follow_pretraining(engine, FollowPretrainingParams(",".join(RECIPES)), "ada"))
    assert not said_figures.same_rows(*recipes.records)
    assert "asked different rows" in said_figures.pretrain_sentence(recipes)
    assert recipes.again == ()


@pytest.mark.parametrize(
    ("after", "said"),
    [(3.0, "fell from 4.00 to 3.00"), (4.001, "went from 4.00 to 4.00"), (4.02, "rose from 4.00 to 4.02")],
)
def test_the_loss_is_said_to_fall_only_where_it_does(raced: Compared, after: float, said: str) -> None:
    record = raced.records[1]
    curve = ((0, {"masked_loss": 4.0, "accuracy": 0.1}), (record.step, {"masked_loss": after, "accuracy": 0.1}))
    one = Compared((record.evolve(evaluations=curve, kept=0),))
    assert said in said_figures.pretrain_sentence(one).striptags()


def test_what_is_said_after_the_kept_step_is_called_not_kept(raced: Compared) -> None:
    record = raced.records[0]
    *_, best, last = sorted({one.step for one in record.said})
    table = figures.said_view(Compared((record.evolve(kept=best),)))
    assert f"<th>{best:,}, kept</th>" in table
    assert f"<th>{last:,}, not kept</th>" in table
    assert "kept" not in figures.said_view(Compared((record.evolve(kept=0),)))


def test_without_the_causal_mask_the_next_token_is_read_off() -> None:
    engine = LocalEngine(Settings())
    seen, causal = (engine.runs.get(run_id) for run_id in LEAK)
    assert said_figures.same_rows(seen, causal)
    ends = [dict(record.evaluations)[record.step]["next_loss"] for record in (seen, causal)]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0] < 0.1 < 4 < ends[1]


def test_what_is_taken_home_opens_in_plain_transformers(engine: LocalEngine, raced: Compared, tmp_path: Path) -> None:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    run_id = raced.records[0].run_id
    assert isinstance(TAKE_HOME.job, Job)
    path = engine.follow(TAKE_HOME.job, TakeHomeParams(run_id)).last.result(60)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "model").requires_grad_(False)
    given = tokenizer(HOSTILE, return_tensors="pt")
    chances = model(**given).logits[0, given["input_ids"][0].tolist().index(tokenizer.mask_token_id)].softmax(-1)
    (said,) = [one for one in raced.records[0].said if one.step == 6]
    assert float(chances.max()) == pytest.approx(said.probabilities[0], rel=1e-4)
    kept = json.loads((tmp_path / "training.json").read_text(encoding="utf-8"))
    assert kept["settings"]["objective"] == "mlm_nsp"
    assert kept["measured"][0]["step"] == 0


def test_what_has_no_model_is_not_taken_home(engine: LocalEngine) -> None:
    assert isinstance(TAKE_HOME.job, Job)
    with pytest.raises(BadInputError, match="it is taken home on the Fine-tune page"):
        engine.follow(TAKE_HOME.job, TakeHomeParams("example-lora-8")).last.result(60)


def test_a_text_that_is_too_short_is_said(engine: LocalEngine) -> None:
    with pytest.raises(BadInputError, match="sentence"):
        next(train.pretrain(engine, PretrainParams(text="Too short."), "ada"))


def test_a_failed_run_is_an_error_to_a_client() -> None:
    assert PRETRAIN.check is not None
    failed: RunRecord = record(spec=small(), status=RunStatus.FAILED, message="It diverged.")
    with pytest.raises(Exception, match="It diverged"):
        PRETRAIN.check(Compared((failed,)))


@each_row(
    ("change", "same"),
    [
        ({"masking": "static", "copies": 1}, True),
        ({"layers": 1}, True),
        ({"mask_share": 1.0, "random_share": 0.0}, False),
        ({"objective": "rtd"}, False),
        ({"objective": "mlm_sop"}, False),
        ({"objective": "mlm"}, True),
        ({"rate": 0.4}, False),
    ],
)
def test_runs_are_compared_only_where_the_same_is_asked_of_both(change: dict[str, Any], same: bool) -> None:
    first = record(spec=small())
    assert said_figures.same_rows(first, record(spec=replace(first.spec, **change))) is same
