"""The training loop on a tiny model, with a clock that counts one second a step."""

from __future__ import annotations

import dataclasses
import itertools
import json
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.models.records import read_further
from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss
from explorer.tuning import reading
from pretraining import __main__ as command_line
from pretraining import recipes
from pretraining import train as training
from pretraining.further import further
from pretraining.objectives.base import Place
from pretraining.objectives.bert import BertPretrainer
from pretraining.recipes import Stage, TrainingRecipe
from pretraining.starts import distilbert, minilm
from pretraining.train import Means, Trainer, train
from tests.pretraining.conftest import tiny_model

STEPS = 20
RECIPE = TrainingRecipe(
    name="tiny",
    stages=(
        Stage(share=0.5, length=32, text=0.7, sentence=0.3, pair=0.0),
        Stage(share=0.5, length=32, text=0.0, sentence=0.0, pair=1.0),
    ),
    source_weights={"wikitext": 1.0},
    steps=STEPS,
    tokens_per_step=256,
    learning_rate=5e-3,
    head_learning_rate=0.1,
)


@pytest.fixture(autouse=True)
def _no_download(monkeypatch: pytest.MonkeyPatch, tokenizer: PreTrainedTokenizerBase) -> None:
    """The tiny model in place of the warm start, and a clock that depends on nothing but the steps."""
    monkeypatch.setattr(distilbert, "load_tokenizer", lambda _: tokenizer)
    monkeypatch.setattr(distilbert, "bert_small", lambda _, counts: tiny_model(len(counts)))
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=itertools.count().__next__))


def test_training_lowers_the_loss_and_pairs_come_in_their_stage(place: Place) -> None:
    figures = list(Trainer(RECIPE, place).run())
    assert [entry["step"] for entry in figures] == list(range(1, STEPS + 1))
    first, last = figures[:5], figures[-5:]
    assert sum(entry["mlm_loss"] for entry in last) < 0.9 * sum(entry["mlm_loss"] for entry in first)
    assert all("pair_loss" not in entry for entry in figures[: STEPS // 2])
    assert all(entry["pair_loss"] > 0 for entry in last)
    assert figures[-1]["seconds"] == pytest.approx(STEPS)
    assert figures[-1]["tokens"] > STEPS * 100


def test_a_finished_run_is_not_trained_further(place: Place) -> None:
    recipe = dataclasses.replace(RECIPE, steps=2)
    assert len(list(Trainer(recipe, place).run())) == 2
    again = Trainer(recipe, place)
    assert again.resume()
    assert list(again.run()) == []


def test_word_embeddings_stay_as_they_were_and_everything_else_learns(place: Place) -> None:
    trainer = Trainer(RECIPE, place)
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    list(trainer.run())
    after = trainer.model.state_dict()
    unchanged = {name for name, value in after.items() if torch.equal(value, before[name])}
    assert unchanged == {"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"}


def test_word_embeddings_learn_where_the_recipe_gives_them_a_rate(place: Place) -> None:
    trainer = Trainer(dataclasses.replace(RECIPE, embedding_learning_rate=1e-3), place)
    weight = trainer.model.bert.embeddings.word_embeddings.weight
    before = weight.detach().clone()
    assert {group["peak"] for group in trainer.optimizer.param_groups if weight in set(group["params"])} == {1e-3}
    list(trainer.run())
    assert not torch.equal(weight, before)
    assert trainer.model.cls.predictions.decoder.weight.data_ptr() == weight.data_ptr()


def test_new_parts_learn_faster_than_the_encoder(place: Place) -> None:
    pretrainer = BertPretrainer(RECIPE, place)
    assert pretrainer.peak_rate("bert.encoder.layer.0.output.dense.weight") == RECIPE.learning_rate
    for name in ("cls.predictions.bias", "bert.pooler.dense.weight", "bert.embeddings.token_type_embeddings.weight"):
        assert pretrainer.peak_rate(name) == RECIPE.head_learning_rate


def test_a_recipe_begins_from_the_encoder_it_names(
    monkeypatch: pytest.MonkeyPatch, tokenizer: PreTrainedTokenizerBase, place: Place
) -> None:
    mini = tiny_model(len(tokenizer))
    monkeypatch.setattr(minilm, "bert_mini", lambda *_: mini)
    assert BertPretrainer(dataclasses.replace(RECIPE, start="minilm"), place).model is mini
    assert BertPretrainer(RECIPE, place).model.config.vocab_size == len(tokenizer)


def test_a_run_has_no_dropout_and_biases_no_decay(place: Place) -> None:
    trainer = Trainer(RECIPE, place)
    assert all(module.p == 0 for module in trainer.model.modules() if isinstance(module, torch.nn.Dropout))
    trainer.model.train()
    inputs = torch.arange(1000, 1020)[None]
    assert torch.equal(trainer.model(inputs).prediction_logits, trainer.model(inputs).prediction_logits)
    grouped = [parameter for group in trainer.optimizer.param_groups for parameter in group["params"]]
    assert len(grouped) == sum(parameter.requires_grad for parameter in trainer.model.parameters())
    for group in trainer.optimizer.param_groups:
        assert all((parameter.ndim > 1) == (group["weight_decay"] > 0) for parameter in group["params"])


def test_a_finished_model_goes_on_from_itself_and_both_trainings_are_told_of(
    monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    monkeypatch.setitem(recipes.RECIPES, "tiny", RECIPE)
    (output,) = train(RECIPE, place)
    record, kept = (output / "training.json").read_text(), BertForPreTraining.from_pretrained(output).state_dict()
    asked = further("tiny", STEPS)
    trainer = Trainer(asked, place)
    assert all(torch.equal(value, trainer.model.state_dict()[name]) for name, value in kept.items())
    first = Trainer(RECIPE, place)
    drawn = [one.pretrainer.draw(0, RECIPE.stages[0]).original_ids for one in (first, trainer)]
    assert drawn[0].shape != drawn[1].shape or not torch.equal(*drawn), "other draws of the text"
    assert train(asked, place) == [output]
    assert (output / "training.json").read_text() == record
    (about,) = json.loads((output / "further.json").read_text())
    assert (about["name"], about["start"], about["steps"], about["further"]) == ("tiny", "tiny", STEPS, [STEPS])
    after = BertForPreTraining.from_pretrained(output).state_dict()
    assert not all(torch.equal(value, after[name]) for name, value in kept.items())
    assert (place.work / "tiny-further" / "log.jsonl").exists()


def test_a_model_goes_on_again_only_after_the_times_before(monkeypatch: pytest.MonkeyPatch, place: Place) -> None:
    monkeypatch.setitem(recipes.RECIPES, "tiny", RECIPE)
    (output,) = train(RECIPE, place)
    with pytest.raises(BadInputError, match=r"gone on for 3 steps before, and its further\.json tells of no"):
        train(further("tiny", 3, 2), place)
    for steps in ((3,), (3, 2), (3, 2)):  # the last one is finished: nothing is run, one record stays
        train(further("tiny", *steps), place)
    assert [(one["steps"], one["further"]) for one in read_further(output)] == [(3, [3]), (2, [3, 2])]
    assert [torch.load(place.work / f"tiny-further{end}" / "checkpoint.pt")["counters"][0] for end in ("", "-2")] == [
        3,
        2,
    ]
    with pytest.raises(BadInputError, match=r"for 4 and 2 steps before, and its .* tells of 3 and 2"):
        train(further("tiny", 4, 2, 1), place)


def test_only_a_model_that_needs_no_teacher_is_asked_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[TrainingRecipe] = []
    monkeypatch.setattr(training, "train", lambda recipe, place: asked.append(recipe) or [])
    monkeypatch.setattr("sys.argv", ["x", "train", "gpt2-mini", "--further", "9"])
    command_line.main()
    monkeypatch.setattr("sys.argv", ["x", "train", "bert-mini", "--further", "9", "7"])
    command_line.main()
    expected = dataclasses.replace(recipes.BERT_MINI, start="bert-mini", steps=7, seed=2, further=(9, 7))
    assert asked == [further("gpt2-mini", 9), expected]
    monkeypatch.setattr("sys.argv", ["x", "train", "distilbert-mini", "--further", "9"])
    with pytest.raises(BadInputError, match=r"distilbert-mini cannot go on by itself; these can: .*gpt2-mini\."):
        command_line.main()
    for more in (["0"], ["9", "0"], ["9", "--steps", "3"], ["9", "--start", "bert-mini"]):
        monkeypatch.setattr("sys.argv", ["x", "train", "gpt2-mini", "--further", *more])
        with pytest.raises(BadInputError, match="--further takes one step or more"):
            command_line.main()


@pytest.mark.parametrize("quick", [False, True])
def test_products_are_in_bfloat16_where_the_processor_has_it_and_the_record_says_so(
    monkeypatch: pytest.MonkeyPatch, place: Place, quick: bool
) -> None:
    for module in (reading, training):
        monkeypatch.setattr(module, "has_bfloat16", lambda _: quick)
    seen = set()

    def loss(self: BertPretrainer, batch: Batch, step: int) -> Loss:
        seen.add(torch.is_autocast_enabled("cpu"))
        return as_it_is(self, batch, step)

    as_it_is = BertPretrainer.loss
    monkeypatch.setattr(BertPretrainer, "loss", loss)
    (output,) = train(dataclasses.replace(RECIPE, steps=2), place)
    assert seen == {quick}
    assert json.loads((output / "training.json").read_text())["bfloat16"] is quick


def test_train_leaves_a_model_a_log_and_the_recipe(place: Place) -> None:
    (output,) = train(RECIPE, place)
    assert output == place.models / "tiny"
    model = BertForPreTraining.from_pretrained(output)
    assert model.config.num_hidden_layers == 2
    assert AutoTokenizer.from_pretrained(output).is_fast
    about = json.loads((output / "training.json").read_text())
    assert (about["name"], about["steps"], about["seed"]) == ("tiny", STEPS, 0)
    lines = [json.loads(line) for line in (place.work / "tiny" / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [training.LOG_STEPS] == [STEPS]
    assert lines[0]["seconds_left"] == 0


def test_a_resumed_run_writes_the_log_of_a_whole_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries after the checkpoint belong to steps that are run again; they are not told twice."""
    monkeypatch.setattr(training, "LOG_STEPS", 5)
    work = place.work / "tiny"
    trainer = Trainer(RECIPE, place)
    list(itertools.islice(trainer.run(), 10))
    trainer.save_checkpoint()
    (work / "log.jsonl").write_text("".join(json.dumps({"step": step, "old": True}) + "\n" for step in (5, 10, 15)))
    train(RECIPE, place)
    lines = [json.loads(line) for line in (work / "log.jsonl").read_text().splitlines()]
    assert [(line["step"], "old" in line) for line in lines] == [(5, True), (10, True), (15, False), (20, False)]


def test_a_figure_s_mean_is_over_the_steps_that_have_it() -> None:
    means = Means()
    means.add({"mlm_loss": 1.0})
    means.add({"mlm_loss": 2.0, "pair_loss": 4.0})
    assert means.take() == {"mlm_loss": 1.5, "pair_loss": 4.0}
    assert means.take() == {}
