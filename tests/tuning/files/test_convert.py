from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from explorer.errors import BadInputError
from explorer.tuning.__main__ import main
from explorer.tuning.adapted import adapt
from explorer.tuning.files.convert import convert
from explorer.tuning.files.imports import import_adapter
from tests.rows import each_row
from tests.tuning.files.kept import unpacked
from tests.tuning.samples import batch, moved, tiny_loaded

ROOT = Path(__file__).resolve().parents[3]
REAL = ROOT.parent / "shared" / "data" / "lora" / "roberta_base_lora_mnli.bin"


def loralib(path: Path, **more: Tensor) -> Path:
    """The trained tensors of a tiny RoBERTa run under loralib's names, as its authors' files have them."""
    run = moved(tiny_loaded("RoBERTa"), outputs=3, rank=4, alpha=8)
    names = {
        name: name.removeprefix("base_model.model.").replace("lora_A.weight", "lora_A") for name in run.trainable()
    }
    state = {names[name].replace("lora_B.weight", "lora_B"): value.detach() for name, value in run.trainable().items()}
    torch.save({**state, **more}, path)
    return path


def test_a_file_of_loralib_answers_as_its_run_did_here_and_in_peft(tmp_path: Path) -> None:
    run = moved(tiny_loaded("RoBERTa"), outputs=3, rank=4, alpha=8)
    source, target = loralib(tmp_path / "lora.bin"), tmp_path / "lora.zip"
    convert(source, target, base=run.loaded.model_id, alpha=8, rank=4, labels=("a", "b", "c"))
    imported = import_adapter(target, run.loaded)
    assert (imported.labels, imported.spec.rank, imported.spec.alpha, imported.notes) == (("a", "b", "c"), 4, 8.0, ())
    again = adapt(run.loaded, 3, imported.spec)
    assert imported.state is not None
    again.load_state(imported.state)
    with torch.no_grad():
        expected = run.logits(batch())
        torch.testing.assert_close(again.logits(batch()), expected, atol=1e-6, rtol=1e-6)
        base = AutoModelForSequenceClassification.from_pretrained(run.loaded.model_id, num_labels=3)
        loaded = PeftModel.from_pretrained(base, unpacked(target)).eval()
        inputs = {name: tensor for name, tensor in batch().items() if name != "token_type_ids"}
        torch.testing.assert_close(loaded(**inputs).logits[:2], expected[:2], atol=1e-5, rtol=1e-5)


def test_the_bodys_other_tensors_are_left_out_and_said(tmp_path: Path) -> None:
    source = loralib(tmp_path / "lora.bin", **{"roberta.embeddings.word_embeddings.weight": torch.ones(3, 3)})
    imported = convert(source, tmp_path / "lora.zip")
    assert not any("embeddings" in name for name in imported.head)
    assert "roberta.embeddings.word_embeddings.weight" in imported.notes[-1]


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return Path.touch, (self.path,)


def test_code_in_a_pickle_is_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "it ran"
    for number, write in enumerate((torch.save, lambda value, path: path.write_bytes(pickle.dumps(value)))):
        path = tmp_path / f"{number}.bin"
        write({"a.lora_A": Trap(trace)}, path)
        with pytest.raises(BadInputError, match="cannot be read as tensors alone"):
            convert(path, tmp_path / "out.zip")
    assert not trace.exists()
    assert not (tmp_path / "out.zip").exists()


@each_row(
    ("values", "options", "said"),
    [
        ({"a": torch.ones(1)}, {}, "no LoRA factors"),
        ([1, 2], {}, "names and tensors"),
        ({"a.lora_A": torch.ones(2, 4), "a.lora_B": torch.ones(4, 2)}, {"rank": 8}, "of rank 2; --rank says 8"),
        ({"a.lora_A": torch.ones(2, 4), "b.lora_A": torch.ones(3, 4)}, {}, "of rank 2, 3"),
        ({"a.lora_A": torch.ones(2, 4)}, {}, "do not fit"),
        ({"a.lora_A": torch.ones(2, 4), "a.lora_B": torch.ones(4, 2)}, {"alpha": float("nan")}, "lora_alpha"),
    ],
)
def test_what_cannot_be_converted_is_said_and_leaves_no_zip(
    values: object, options: dict[str, float], said: str, tmp_path: Path
) -> None:
    torch.save(values, tmp_path / "lora.bin")
    with pytest.raises(BadInputError, match=said):
        convert(tmp_path / "lora.bin", tmp_path / "out.zip", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out.zip").exists()


def test_the_command_says_what_is_wrong_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(tmp_path / "none.bin"), str(tmp_path / "out.zip")]) == 1
    assert capsys.readouterr().err.startswith("There is no file")


def test_the_command_runs_as_documented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = loralib(tmp_path / "lora.bin"), tmp_path / "lora.zip"
    options = ["--base", "x/y", "--alpha", "8", "--rank", "4", "--labels", "a,b,c"]
    assert main(["convert", str(source), str(target), *options]) == 0
    assert "4 matrices of rank 4, alpha 8" in capsys.readouterr().out
    with zipfile.ZipFile(target) as file:
        config = json.loads(file.read("adapter_config.json"))
        assert file.read("README.md").startswith(b'---\nbase_model: "x/y"')
    assert config["base_model_name_or_path"] == "x/y"
    assert config["target_modules"] == ["query", "value"]
    assert config["modules_to_save"] == ["classifier"]


@pytest.mark.skipif(not REAL.exists(), reason="the LoRA authors' file is not on this machine")
def test_the_real_adapter_has_the_figures_that_are_known_of_it(tmp_path: Path) -> None:
    target = tmp_path / "mnli.zip"
    convert(REAL, target, "FacebookAI/roberta-base", labels=("entailment", "neutral", "contradiction"))
    imported = import_adapter(target)
    assert len(imported.deltas) == 24
    assert imported.outputs == 3
    queries = [imported.deltas[layer, "query"].dense() for layer in range(12)]
    norms = [float(delta.norm()) for delta in queries]
    assert min(norms) == pytest.approx(7.6, abs=0.05)
    assert max(norms) == pytest.approx(14.4, abs=0.05)
    energies = torch.linalg.svdvals(queries[11]) ** 2
    assert float(energies[0] / energies.sum()) == pytest.approx(0.99, abs=0.005)
