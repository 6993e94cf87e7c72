"""What holds for every objective: the loss falls, a broken run ends as a whole one, what is exported is what was trained."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from explorer.errors import ModelUnavailableError
from explorer.models.sizes import counted_parts, tied
from pretraining.__main__ import RECIPES as PUBLISHED
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.base import Place
from pretraining.starts import distilbert
from pretraining.train import Trainer, train
from tests.pretraining.conftest import with_exports
from tests.pretraining.objectives.tiny import RECIPES, STEPS

MAIN_LOSS = {"causal": "next_loss", "nsp on matched pairs": "pair_loss"}


@pytest.fixture(autouse=True)
def _no_download(monkeypatch: pytest.MonkeyPatch, tokenizer: PreTrainedTokenizerBase) -> None:
    monkeypatch.setattr(distilbert, "load_tokenizer", lambda _: tokenizer)


@pytest.fixture
def ready(place: Place, kept: Path) -> Place:
    """A place that has what other starts need: a roberta-mini for gpt2, an albert-body for albert, that for its order."""
    return with_exports(place, kept, "full sentences", "module replacing", "mlm+sop")


def test_every_published_recipe_names_an_objective_that_is_tested_here() -> None:
    assert {recipe.objective for recipe in PUBLISHED.values()} == set(PRETRAINERS) == set(RECIPES)


@pytest.mark.parametrize("objective", RECIPES)
def test_the_loss_falls_and_a_resumed_run_ends_with_the_same_weights(objective: str, ready: Place) -> None:
    recipe = RECIPES[objective]
    whole = Trainer(recipe, ready)
    start = {key: value.clone() for key, value in whole.model.state_dict().items()}
    figures = list(whole.run())
    name = MAIN_LOSS.get(objective, "mlm_loss")
    losses = [entry[name] for entry in figures]
    assert sum(losses[-4:]) < sum(losses[:4])
    (whole.work / "checkpoint.pt").unlink()

    broken = Trainer(recipe, ready)
    broken.model.load_state_dict(start)  # an SVD's last digits depend on where its input lies in memory
    before = list(itertools.islice(broken.run(), STEPS // 2))
    broken.save_checkpoint()
    again = Trainer(recipe, ready)
    assert again.resume()
    after = list(again.run())
    assert [_without_time(entry) for entry in (*before, *after)] == [_without_time(entry) for entry in figures]
    for key, value in whole.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[key]), key


def _without_time(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "seconds"}


@pytest.mark.parametrize("objective", RECIPES)
def test_on_a_cpu_every_model_computes_attention_plainly(objective: str, ready: Place) -> None:
    """Those inside a pair or beside a teacher too; a layer reads how from the config that it was made with."""
    model = Trainer(RECIPES[objective], ready).model
    layers = [module.config for module in model.modules() if hasattr(module, "config")]
    assert layers
    assert {config._attn_implementation for config in layers} == {"eager"}


@pytest.mark.parametrize("objective", RECIPES)
def test_what_is_exported_is_loaded_plainly_and_gives_the_same_logits(objective: str, ready: Place) -> None:
    recipe = RECIPES[objective]
    pretrainer = PRETRAINERS[objective](recipe, ready)
    for folder, trained in zip(pretrainer.export(ready.models), pretrainer.models().values(), strict=True):
        loaded, report = getattr(transformers, type(trained).__name__).from_pretrained(folder, output_loading_info=True)
        assert not report["missing_keys"]
        assert not report["unexpected_keys"]
        tokenizer = AutoTokenizer.from_pretrained(folder)
        text = "The river stood near the bridge, unforgettably."
        assert tokenizer(text)["input_ids"] == pretrainer.tokenizer(text)["input_ids"]
        batch = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            expected, found = trained.eval()(**batch)[0], loaded.eval()(**batch)[0]
        torch.testing.assert_close(found, expected, atol=2e-2, rtol=2e-2)
        assert tied(loaded)
        assert sum(part.count for part in counted_parts(loaded)) == sum(p.numel() for p in loaded.parameters())


@pytest.mark.parametrize("objective", RECIPES)
def test_a_recipe_goes_on_from_a_checkpoint_of_its_architecture(objective: str, ready: Place) -> None:
    """A folder stands in for a hub id: both are read by the same from_pretrained. Some start from a teacher."""
    import dataclasses

    recipe = RECIPES[objective]
    first = PRETRAINERS[objective](recipe, ready)
    folder = first.export(ready.models / "elsewhere")[-1]
    start = str(ready.models / "bert-mini") if objective in ("distillation", "module replacing") else str(folder)
    again = PRETRAINERS[objective](dataclasses.replace(recipe, start=start), ready)
    assert len(again.tokenizer) == len(first.tokenizer)
    for name, value in first.model.state_dict().items():
        torch.testing.assert_close(again.model.state_dict()[name], value, atol=2e-3, rtol=2e-3, msg=name)


@pytest.mark.parametrize("objective", RECIPES)
def test_a_start_that_is_nowhere_is_refused_with_what_to_do(objective: str, ready: Place) -> None:
    import dataclasses

    with pytest.raises(ModelUnavailableError, match="--start"):
        PRETRAINERS[objective](dataclasses.replace(RECIPES[objective], start="/nowhere/at-all"), ready)


@pytest.mark.parametrize("objective", ["causal", "replaced tokens"])
def test_train_leaves_models_with_the_recipe_and_a_log(objective: str, ready: Place, monkeypatch: Any) -> None:
    from pretraining import train as training

    monkeypatch.setattr(training, "LOG_STEPS", 4)
    recipe = RECIPES[objective]
    folders: list[Path] = train(recipe, ready)
    for folder in folders:
        about = json.loads((folder / "training.json").read_text())
        assert (about["name"], about["objective"], about["steps"]) == (recipe.name, objective, STEPS)
    log = (ready.work / recipe.name / "log.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in log]
    assert [entry["step"] for entry in entries] == [4, 8, 12]
    for entry in entries:
        assert {"tokens", "seconds", "tokens_per_second", "seconds_left"} <= set(entry)
        assert any(name.endswith("_loss") for name in entry)
        assert any(name.endswith("_accuracy") for name in entry)
    assert entries[-1]["seconds_left"] == 0
