from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from peft import PeftModel
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from explorer.errors import BadInputError
from explorer.runs.record import OnRealTask
from explorer.tasks.task import Example, Task, TaskData
from explorer.tuning.adapted import Adapted
from explorer.tuning.files.export import export_adapter, export_merged
from tests.rows import each_row
from tests.tuning.files.kept import record, unpacked
from tests.tuning.samples import moved, plain_inputs, tiny_loaded
from tests.tuning.small import BOTH, CATS, WEIGHT, data

NASTY = "A \"run\"\n---\nbase_model: evil # \\ | `x` {{imports}} ''' 🐈"
PEFT = [*(("lora", {"variant": variant, "rank": 4}) for variant in ("lora", "rslora", "dora", "pissa")), ("ia3", {})]
PEFT += [("prompt", {}), ("prefix", {})]
OTHERS = ["full", "head", "bitfit", "houlsby", "pfeiffer"]


@torch.no_grad()
def assert_same_logits(model: torch.nn.Module, adapted: Adapted) -> None:
    inputs = plain_inputs(adapted.fork)
    torch.testing.assert_close(model.eval()(**inputs).logits, adapted.logits(inputs), atol=1e-5, rtol=1e-5)


@each_row("family", ["BERT", "GPT-2", "DistilBERT"])
@each_row(("method", "options"), PEFT, ids=str)
def test_peft_loads_an_export_on_the_untouched_base(
    family: str, method: str, options: dict[str, object], tmp_path: Path
) -> None:
    if family == "DistilBERT" and method == "prefix":
        pytest.skip("cannot be had")
    adapted = moved(tiny_loaded(family), method, outputs=2, **options)
    folder = unpacked(export_adapter(adapted, record(adapted), None, tmp_path / "run.zip"))
    base = AutoModelForSequenceClassification.from_pretrained(
        adapted.loaded.model_id, num_labels=2, dtype=torch.float32
    )
    base.config.pad_token_id = adapted.fork.config.pad_token_id
    assert_same_logits(PeftModel.from_pretrained(base, folder), adapted)
    assert not list(folder.rglob("*.bin"))
    assert (
        json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"] == adapted.loaded.model_id
    )


def test_a_pooler_that_the_checkpoint_lacks_comes_along(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT", "BertForMaskedLM"))
    folder = unpacked(export_adapter(adapted, record(adapted), None, tmp_path / "run.zip"))
    torch.manual_seed(99)
    base = AutoModelForSequenceClassification.from_pretrained(adapted.loaded.model_id, num_labels=2)
    assert_same_logits(PeftModel.from_pretrained(base, folder), adapted)


def test_pissa_is_exported_as_lora_of_twice_the_rank(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), variant="pissa", rank=3, alpha=6)
    folder = unpacked(export_adapter(adapted, record(adapted), None, tmp_path / "run.zip"))
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["init_lora_weights"]) == (6, 12, True)


@each_row("method", [*OTHERS, "lora", "prompt"])
def test_the_cards_own_code_loads_the_export(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapted = moved(tiny_loaded("BERT"), method)
    folder = unpacked(export_adapter(adapted, record(adapted), data(), tmp_path / "run.zip"))
    code = (folder / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "train", raising=False)
    space: dict[str, object] = {}
    exec(code, space)
    monkeypatch.delitem(sys.modules, "train", raising=False)
    assert_same_logits(space["model"], adapted)  # type: ignore[arg-type]


@each_row("family", ["BERT", "GPT-2"])
@each_row("method", ["lora", "ia3", "full"])
def test_a_merged_checkpoint_loads_without_peft_and_names_its_classes(
    family: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapted = moved(tiny_loaded(family), method)
    folder = unpacked(export_merged(adapted, record(adapted), tmp_path / "run.zip"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
    assert_same_logits(model, adapted)
    assert model.config.id2label == {0: "no", 1: "yes"}
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert tokenizer("the cat sat").input_ids == adapted.loaded.tokenizer("the cat sat").input_ids
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("run", "run.zip")] == []


def test_adapters_cannot_be_exported_merged(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), "houlsby")
    with pytest.raises(BadInputError, match="cannot be merged"):
        export_merged(adapted, record(adapted), tmp_path / "run.zip")


@pytest.mark.parametrize("method", ["lora", "full"])
def test_the_card_has_front_matter_whatever_the_run_is_called(method: str, tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), method)
    folder = unpacked(export_adapter(adapted, record(adapted, name=NASTY), data(), tmp_path / "run.zip"))
    _, front, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    values = yaml.safe_load(front)
    assert values["base_model"] == adapted.loaded.model_id
    assert values["library_name"] == ("peft" if method == "lora" else "transformers")
    assert values["model-index"][0]["name"] == NASTY
    assert values["model-index"][0]["results"][0]["metrics"] == [{"type": "accuracy", "value": 0.75}]
    named = values["model-index"][0]["results"][0]["dataset"]["type"]
    assert named == "bert-explorer/sst2", "the hub's sst2 is another dataset than the bundled one"
    for said in ("0.7500", "undefined", "0 = no, 1 = yes", "30", "10 of 100"):
        assert said in text
    compile((folder / "train.py").read_text(encoding="utf-8"), "train.py", "exec")


def test_data_of_another_number_of_classes_is_left_out(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), outputs=3)
    folder = unpacked(export_adapter(adapted, record(adapted), data(), tmp_path / "run.zip"))
    assert not (folder / "train.py").exists()
    assert "Train it again" not in (folder / "README.md").read_text(encoding="utf-8")


def test_the_examples_are_those_that_were_used(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), examples=2)
    odd = (
        Example('tab\there "quoted"\r\nnext\rline', None, 1.0),
        Example("我 🐈", None, 0.0),
        Example("third", None, 0.0),
    )
    task_data = TaskData(CATS, "cats", odd, {"validation": data().validation["validation"]})
    folder = unpacked(export_adapter(adapted, record(adapted), task_data, tmp_path / "run.zip"))
    read = script_of(folder)["read"]
    texts, labels = read(folder / "data" / "train.tsv")
    held_out, _ = read(folder / "data" / "validation.tsv")
    assert texts == [[odd[0].text], [odd[1].text]]
    assert labels.tolist() == [1.0, 0.0]
    assert len(held_out) == 7


def script_of(folder: Path) -> dict[str, Any]:
    """What train.py defines."""
    space: dict[str, Any] = {"__name__": "train", "__file__": str(folder / "train.py")}
    exec(compile((folder / "train.py").read_text(encoding="utf-8"), "train.py", "exec"), space)
    return space


def run_script(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "train.py", "--epochs", "1", *arguments],
        cwd=folder, capture_output=True, text=True, env=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_script_trains_a_lora_that_peft_loads(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), rank=4)
    folder = unpacked(export_adapter(adapted, record(adapted, name=NASTY), data(), tmp_path / "run.zip"))
    said = run_script(folder)
    assert "validation: accuracy 0." in said
    trained = sum(parameter.numel() for parameter in adapted.trainable().values())
    assert f"{trained:,} parameters are trained" in said
    base = AutoModelForSequenceClassification.from_pretrained(adapted.loaded.model_id, num_labels=2)
    PeftModel.from_pretrained(base, folder / "trained")


IN_PROCESS = [
    *(("BERT", method, {}) for method in (*OTHERS, "ia3", "prompt", "prefix")),
    ("BERT", "lora", {"variant": "dora", "dropout": 0.1}),
    ("BERT", "lora", {"variant": "pissa"}),
    ("BERT", "pfeiffer", {"dropout": 0.1}),
    ("GPT-2", "lora", {}),
    ("GPT-2", "prompt", {}),
    ("ALBERT", "houlsby", {}),
    ("DistilBERT", "bitfit", {}),
]


@pytest.mark.parametrize(("family", "method", "options"), IN_PROCESS, ids=str)
def test_every_methods_script_trains_as_many_parameters_as_the_app(
    family: str, method: str, options: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    adapted = moved(tiny_loaded(family), method, **options)
    folder = unpacked(export_adapter(adapted, record(adapted), data(train=16), tmp_path / "run.zip"))
    said = run_here(folder, capsys, monkeypatch)
    trained = sum(parameter.numel() for parameter in adapted.trainable().values())
    assert f"{trained:,} parameters are trained" in said
    assert "validation: accuracy" in said
    if method == "lora":
        base = AutoModelForSequenceClassification.from_pretrained(adapted.loaded.model_id, num_labels=2)
        PeftModel.from_pretrained(base, folder / "trained")


@pytest.mark.parametrize("options", [{"variant": "pissa"}, {"variant": "dora"}, {"targets": ("ffn_in",)}], ids=str)
def test_what_the_script_saves_is_what_it_trained(options: dict[str, object], tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"), rank=4, **options)
    script = script_of(unpacked(export_adapter(adapted, record(adapted), data(), tmp_path / "run.zip")))
    folder, path = adapted.loaded.model_id, tmp_path / "trained"
    model = script["prepare"](AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter += 0.1 * torch.randn_like(parameter)
        path.mkdir()
        script["save"](model, path)
        base = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
        loaded = PeftModel.from_pretrained(base, path).eval()
        inputs = plain_inputs(base)
        torch.testing.assert_close(loaded(**inputs).logits, model.eval()(**inputs).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("task", [BOTH, WEIGHT], ids=str)
def test_the_script_reads_pairs_and_learns_scores(
    task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapted = moved(tiny_loaded("BERT"), outputs=task.outputs)
    folder = unpacked(export_adapter(adapted, record(adapted, task), data(task, train=16), tmp_path / "run.zip"))
    assert f"validation: {task.metrics[0]} " in run_here(folder, capsys, monkeypatch)


def run_here(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The script's main in this process, which spares ten seconds of importing torch."""
    monkeypatch.setattr(sys, "argv", ["train.py", "--epochs", "1"])
    capsys.readouterr()
    script_of(folder)["main"]()
    return capsys.readouterr().out


def test_the_scripts_metrics_agree_with_scikit_learn(tmp_path: Path) -> None:
    from explorer.tasks.metrics import METRICS

    adapted = moved(tiny_loaded("BERT"))
    task = Task("t", "T", "?", ("text",), ("a", "b", "c"), tuple(METRICS), "made up")
    folder = unpacked(export_adapter(adapted, record(adapted, task), data(train=4), tmp_path / "run.zip"))
    draw = torch.Generator().manual_seed(0)
    labels, guesses = (torch.randint(0, 3, (50,), generator=draw).double() for _ in range(2))
    for name, metric in script_of(folder)["METRICS"].items():
        assert metric(labels, guesses) == pytest.approx(METRICS[name].compute(labels.tolist(), guesses.tolist()))


def test_the_card_of_a_worked_example_has_the_real_tasks_figure(tmp_path: Path) -> None:
    adapted = moved(tiny_loaded("BERT"))
    real = OnRealTask("SST-2", "dev.tsv", "abc", 872, {"accuracy": 0.7764}, "2026-01-01", "the command")
    folder = unpacked(export_adapter(adapted, record(adapted).evolve(real=(real,)), data(), tmp_path / "run.zip"))
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "On GLUE's own SST-2 (872 examples of `dev.tsv`): accuracy 0.7764; measured on 2026-01-01" in text
    assert "`the command`" in text
