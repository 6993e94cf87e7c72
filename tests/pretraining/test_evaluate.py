"""What is measured follows from a model's heads, and the card says it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedTokenizerBase

from explorer.errors import BadInputError, ModelUnavailableError
from explorer.models.records import Measure, read_curve
from explorer.text import split_sentences
from explorer.tuning.reading import has_bfloat16
from pretraining import __main__ as command_line
from pretraining import card, recipes
from pretraining.card import write_card
from pretraining.evaluate import evaluate, evaluate_everyday
from pretraining.export import export_model
from pretraining.further import further
from pretraining.measures import causal, others, pairs
from pretraining.measures.everyday import everyday_pairs, near_copies
from pretraining.measures.others import speed_ratio
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.base import Place
from pretraining.starts import distilbert
from pretraining.store import EVERYDAY as EVERYDAY_TEXTS
from pretraining.train import train
from tests.pretraining.conftest import tiny_model, with_exports
from tests.pretraining.objectives.tiny import RECIPES

PAIRS = {"nsp_segments", "nsp_sentences", "sop_segments", "sop_sentences"}
EVERYDAY = {"nsp_everyday", "nsp_everyday_accepted"}
MLM = {"mlm_top_1", "mlm_top_5", "mlm_loss"}
BYTES = {"round_trip", "unknown_tokens"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tokenizer: PreTrainedTokenizerBase) -> None:
    """Few pairs and rounds of rows that a tiny model can read, and no download."""
    monkeypatch.setattr(distilbert, "load_tokenizer", lambda _: tokenizer)
    for module, name, value in (
        (pairs, "pair_accuracy", lambda *_: 0.5),
        (others, "SPEED_LENGTH", 32),
        (causal, "LONGEST", 2),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr("pretraining.measures.masks.mask_scores.__wrapped__.__defaults__", (32, None))
    monkeypatch.setattr("pretraining.measures.replaced.LENGTH", 32)


@pytest.fixture
def ready(place: Place, kept: Path) -> Place:
    return with_exports(place, kept, "full sentences", "module replacing")


@pytest.mark.parametrize(
    ("objective", "names"),
    [
        ("mlm+nsp", [MLM | PAIRS | EVERYDAY]),
        ("distillation", [MLM]),
        ("full sentences", [MLM | BYTES]),
        ("mlm+sop", [MLM | PAIRS]),
        ("replaced tokens", [MLM, {"rtd_auc", "rtd_auc_filled", "rtd_found", "rtd_false"}]),
        ("causal", [{"perplexity", "next_loss", "bits_per_byte"} | BYTES]),
    ],
)
def test_a_model_is_measured_by_its_heads(objective: str, names: list[set[str]], ready: Place) -> None:
    folders = PRETRAINERS[objective](RECIPES[objective], ready).export(ready.models)
    for folder, expected in zip(folders, names, strict=True):
        found = {measure.name: measure for measure in evaluate(folder, ready.corpus / "wikitext-valid.txt")}
        assert set(found) == expected
        if "round_trip" in found:
            assert (found["round_trip"].value, found["unknown_tokens"].value) == (1.0, 0)


def test_a_student_is_measured_beside_the_teacher_that_its_recipe_names(
    ready: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = {"distilbert": 0.2, "bert": 0.25}
    monkeypatch.setattr(others, "mask_scores", lambda model, *_: (shares[model.config.model_type], 0.0, 0.0, 40))
    (folder,) = PRETRAINERS["distillation"](RECIPES["distillation"], ready).export(ready.models)
    (folder / "training.json").write_text(json.dumps({"start": "bert-mini"}))
    found = {measure.name: measure for measure in evaluate(folder, ready.corpus / "wikitext-valid.txt")}
    assert found["kept"].value == pytest.approx(0.8)
    assert found["kept"].what == "Share of bert-mini's top-1 that is kept"
    assert found["speed"].value > 1.0


def test_the_speed_of_a_model_against_itself_is_about_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model(50).eval()
    assert 0.3 < speed_ratio(model, model, rounds=9) < 3.0


def test_a_missing_text_or_model_is_said_to_be_missing(ready: Place, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--text"):
        evaluate(ready.models / "bert-mini", tmp_path / "nothing.txt")
    with pytest.raises(ModelUnavailableError):
        evaluate(tmp_path / "nothing", ready.corpus / "wikitext-valid.txt")


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [("share", 0.5, "50.00%"), ("nats", 2.0, "2.000 nats"), ("times", 1.84, "1.84 times"), ("count", 12345, "12,345")],
)
def test_a_figure_is_written_by_its_unit(unit: str, value: float, shown: str) -> None:
    assert str(Measure("x", "What", value, unit, "8 tokens")) == f"What: {shown} (8 tokens)"


@pytest.mark.parametrize(
    ("name", "over", "shown"),
    [
        ("nsp_everyday", "200 pairs, half of each class", "80.00% ± 2.83"),
        ("mlm_top_1", "40,000 masked tokens", "80.00% ± 0.20"),
        ("kept", "40,000 masked tokens", "80.00%"),
        ("mlm_top_1", "no count", "80.00%"),
    ],
)
def test_a_share_of_right_answers_has_its_standard_error(name: str, over: str, shown: str) -> None:
    """The square root of p(1 - p)/n in points; a ratio of two shares has none."""
    assert Measure(name, "What", 0.8, "share", over).shown_with_error == shown


def test_each_everyday_sentence_stands_once_in_each_class() -> None:
    found = everyday_pairs()
    assert len(found) == 200
    sides = [{label: sorted(pair[side] for pair in found if pair[2] == label) for label in (0, 1)} for side in (0, 1)]
    for side in sides:
        assert side[0] == side[1]
        assert len(set(side[0])) == 100
    texts = EVERYDAY_TEXTS.read_text(encoding="utf-8")
    assert not [sentence for pair in found for sentence in pair[:2] if sentence in texts], "never trained on"


def test_no_near_copy_of_a_held_out_everyday_sentence_is_trained_on() -> None:
    texts = EVERYDAY_TEXTS.read_text(encoding="utf-8").split("\n\n")
    trained = [sentence for text in texts for sentence in split_sentences(text)]
    held = {sentence for pair in everyday_pairs() for sentence in pair[:2]}
    assert len(trained) > 800
    assert not near_copies(held, trained)
    assert near_copies(["She cut her finger while chopping onions."], ["Peter cut his finger while slicing onions."])


NOTES = """[tiny]
base_model = "somebody/some-model"
tags = ["fill-mask"]
what = "A tiny model."
start = "Somebody's encoder."
objective = "MLM."
bad_at = ["**Facts**: it has none."]
"""


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.toml").write_text(NOTES + NOTES.replace("[tiny]", "[gpt2]"))
    monkeypatch.setattr(card, "NOTES", tmp_path / "notes.toml")


@pytest.mark.usefixtures("noted")
def test_a_card_has_the_formula_the_making_the_scores_and_what_the_notes_say(
    ready: Place, tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    monkeypatch.setattr("pretraining.train.LOG_STEPS", 4)
    (folder,) = train(dataclasses.replace(RECIPES["mlm+nsp"], name="tiny"), ready)
    path = write_card(folder, ready.corpus / "wikitext-valid.txt", ready.work)
    text = path.read_text(encoding="utf-8")
    count = sum(parameter.numel() for parameter in tiny_model(len(tokenizer), layers=4).parameters())
    for said in (f"| all | | {count:,} |", "Somebody's encoder.", "**Facts**: it has none.", "12 steps", "one storage"):
        assert said in text
    scores = json.loads((folder / "scores.json").read_text())
    assert {measure["name"] for measure in scores["measures"]} == MLM | PAIRS | EVERYDAY
    assert scores["date"] in text
    assert scores["command"].endswith("evaluate assets/models/tiny")
    for measure in scores["measures"]:
        assert f"| {measure['what']} |" in text
    assert len(json.loads((folder / "curve.json").read_text())["points"]) == 3
    (folder / "scores.json").write_text(json.dumps(scores | {"date": "2001-02-03"}))
    monkeypatch.setattr(card, "measures_of", None)
    write_card(folder, ready.corpus / "wikitext-valid.txt", ready.work, keep_scores=True)
    assert path.read_text(encoding="utf-8") == text.replace(scores["date"], "2001-02-03")
    (folder / "scores.json").unlink()
    with pytest.raises(BadInputError, match="--keep-scores"):
        write_card(folder, ready.corpus / "wikitext-valid.txt", ready.work, keep_scores=True)


@pytest.mark.usefixtures("noted")
def test_a_causal_model_s_card_prints_twenty_continuations(ready: Place) -> None:
    (folder,) = train(RECIPES["causal"], ready)
    text = write_card(folder, ready.corpus / "wikitext-valid.txt", ready.work).read_text(encoding="utf-8")
    assert all(f"- **{beginning}**" in text for beginning in causal.BEGINNINGS)


@pytest.mark.usefixtures("noted")
def test_a_card_tells_of_a_further_training_and_its_curve_goes_on(
    ready: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pretraining.train.LOG_STEPS", 4)
    recipe = RECIPES["causal"]
    monkeypatch.setitem(recipes.RECIPES, recipe.name, recipe)
    (folder,) = train(recipe, ready)
    asked = folder, ready.corpus / "wikitext-valid.txt", ready.work
    assert "**Further**" not in write_card(*asked).read_text(encoding="utf-8")
    steps = [point["step"] for point in read_curve(folder)]
    train(further(recipe.name, 8), ready)
    for _ in range(2):  # a card may be written again
        text = write_card(*asked).read_text(encoding="utf-8")
        assert "The same again from these weights" in text
        told = " ".join(text.split())
        precision = "bf16 autocast" if has_bfloat16(torch.device("cpu")) else "float32"
        assert told.count(f"other work), {precision}") == 2, "of each training once"
        assert f"{precision}, {precision}" not in told
        assert f"train {recipe.name} --further 8`" in text.replace("\n  ", " ")
        assert [point["step"] for point in read_curve(folder)] == [*steps, steps[-1] + 4, steps[-1] + 8]
    rows = replace(recipe.stages[0], share=1.0, new_names=0.4, twice=0.2)
    monkeypatch.setattr("pretraining.further._gpt2_again", lambda recipe: replace(recipe, stages=(rows,)))
    train(further(recipe.name, 8, 4), ready)
    for _ in range(2):
        told = " ".join(write_card(*asked).read_text(encoding="utf-8").split())
        assert told.count("The same again from these weights") == 2
        assert (
            "100% of the steps with rows of 32, 40% of them with invented names, 20% with a passage said twice" in told
        )
        assert f"--further 8`, then `python -m pretraining train {recipe.name} --further 8 4`" in told
        later = [steps[-1] + more for more in (4, 8, 12)]
        assert [point["step"] for point in read_curve(folder)] == [*steps, *later]


@pytest.mark.usefixtures("noted")
def test_a_model_without_notes_is_refused(ready: Place) -> None:
    with pytest.raises(BadInputError, match="bert-mini"):
        write_card(ready.models / "bert-mini", ready.corpus / "wikitext-valid.txt", ready.work)


@pytest.mark.usefixtures("noted")
def test_a_model_that_was_not_trained_here_and_a_missing_text_are_refused(ready: Place, tmp_path: Path) -> None:
    (ready.models / "tiny").symlink_to(ready.models / "bert-mini")
    with pytest.raises(BadInputError, match=r"training\.json"):
        write_card(ready.models / "tiny", ready.corpus / "wikitext-valid.txt", ready.work)
    with pytest.raises(BadInputError, match="--text"):
        write_card(ready.models / "tiny", tmp_path / "nothing.txt", ready.work)


def test_a_model_whose_decoder_is_not_tied_gets_no_card(
    ready: Place, tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "tied", lambda _: False)
    subject = card.open_subject(ready.models / "bert-mini", ready.corpus / "wikitext-valid.txt")
    with pytest.raises(BadInputError, match="export it again"):
        card._parameters(subject)


def test_the_command_line_trains_from_a_start_and_a_text_of_one_s_own(
    ready: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--start` takes a folder where a hub id could stand, `--corpus` any folder of texts."""
    name = "roberta-mini"
    start = PRETRAINERS["full sentences"](RECIPES["full sentences"], ready).export(ready.models / "mine")[0]
    monkeypatch.setitem(command_line.RECIPES, name, RECIPES["full sentences"])
    given = ["train", name, "--steps", "2", "--start", str(start)]
    given += ["--corpus", str(ready.corpus), "--work", str(ready.work), "--models", str(ready.models / "out")]
    monkeypatch.setattr(sys, "argv", ["x", *given])
    command_line.main()
    assert capsys.readouterr().out.split()[-1] == str(ready.models / "out" / name)
    about = json.loads((ready.models / "out" / name / "training.json").read_text())
    assert (about["steps"], about["start"]) == (2, str(start))
    trained = torch.load(ready.work / name / "checkpoint.pt", weights_only=True)
    assert trained["counters"][0] == 2


def test_everyday_pairs_alone_are_put_beside_the_other_figures_with_their_date(ready: Place) -> None:
    (folder,) = PRETRAINERS["mlm+nsp"](RECIPES["mlm+nsp"], ready).export(ready.models)
    with pytest.raises(BadInputError, match="without --everyday"):
        evaluate_everyday(folder, keep=True)
    older = {"name": "nsp_everyday", "what": "x", "value": 0.0, "unit": "share", "over": "200 pairs"}
    other = older | {"name": "mlm_top_1", "value": 0.25}
    scores = {"date": "2001-02-03", "command": "x", "text": "y", "measures": [other, older]}
    (folder / "scores.json").write_text(json.dumps(scores))
    found = evaluate_everyday(folder, keep=True)
    assert {measure.name for measure in found} == EVERYDAY
    kept = json.loads((folder / "scores.json").read_text())
    assert kept | {"measures": []} == scores | {"measures": []}
    assert kept["measures"][0] == other
    assert [measure["name"] for measure in kept["measures"][1:]] == [measure.name for measure in found]
    assert [measure["value"] for measure in kept["measures"][1:]] == [measure.value for measure in found]
    assert all(measure["date"] > "2001-02-03" for measure in kept["measures"][1:])
    assert "measured on 20" in Measure(**kept["measures"][1]).over_and_when
    with pytest.raises(BadInputError, match="no NSP head"):
        evaluate_everyday(PRETRAINERS["full sentences"](RECIPES["full sentences"], ready).export(ready.models)[0])


def test_the_command_line_evaluates(
    ready: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    export_model(tiny_model(len(tokenizer)), tokenizer, ready.models / "other")
    text = ready.corpus / "wikitext-valid.txt"
    monkeypatch.setattr(sys, "argv", ["x", "evaluate", str(ready.models / "other"), "--text", str(text)])
    command_line.main()
    assert "MLM top-1: " in capsys.readouterr().out
