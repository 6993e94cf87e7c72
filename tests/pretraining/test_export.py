"""How a trained model travels: fp16 weights in shards, a config that asks for float32, and a clean tokenizer."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForPreTraining, PreTrainedTokenizerBase

from explorer.models.families import by_family
from explorer.models.folders import SUMS
from pretraining.export import export_model, overwrite
from tests.models.tiny import build


def load(folder: Path) -> tuple[BertForPreTraining, PreTrainedTokenizerBase]:
    return BertForPreTraining.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


TEXT = "The captain's unforgettable letters, 東京 & “quotes” (1985)."


@pytest.fixture
def exported(model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> Path:
    own = AutoTokenizer.from_pretrained(tokenizer.name_or_path)
    own.backend_tokenizer.enable_truncation(8)
    own.backend_tokenizer.enable_padding(length=16)
    export_model(model, own, tmp_path / "model")
    return tmp_path / "model"


def stored(folder: Path) -> dict[str, torch.Tensor]:
    weights: dict[str, torch.Tensor] = {}
    for path in folder.glob("*.safetensors"):
        with safe_open(path, "pt") as file:
            weights |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return weights


def test_weights_are_stored_in_fp16_and_the_config_asks_for_float32(exported: Path) -> None:
    assert {value.dtype for value in stored(exported).values()} == {torch.float16}
    assert json.loads((exported / "config.json").read_text())["dtype"] == "float32"
    assert BertForPreTraining.from_pretrained(exported).dtype == torch.float32


def test_a_reloaded_model_has_the_same_weights_to_fp16_precision(model: BertForPreTraining, exported: Path) -> None:
    again, _ = load(exported)
    for name, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], value.half().float()), name


def test_the_decoder_is_tied_to_the_embeddings_and_stored_once(exported: Path) -> None:
    again, _ = load(exported)
    embeddings = again.bert.embeddings.word_embeddings.weight
    assert again.cls.predictions.decoder.weight.data_ptr() == embeddings.data_ptr()
    shapes = [tuple(value.shape) for value in stored(exported).values()]
    assert shapes.count(tuple(embeddings.shape)) == 1


def test_plain_from_pretrained_finds_every_weight(exported: Path) -> None:
    _, report = BertForPreTraining.from_pretrained(exported, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    _, report = AutoModelForMaskedLM.from_pretrained(exported, output_loading_info=True)
    assert not report["missing_keys"]


def test_the_exported_tokenizer_neither_cuts_nor_pads(exported: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    _, again = load(exported)
    long = TEXT * 5
    assert again(long)["input_ids"] == tokenizer(long)["input_ids"]
    assert again.model_max_length == 512
    stored_file = json.loads((exported / "tokenizer.json").read_text())
    assert stored_file["truncation"] is None
    assert stored_file["padding"] is None
    assert again.tokenize("Paris paris")[0] == "Paris"
    assert (again.mask_token, again.cls_token, again.sep_token, again.pad_token) == (
        "[MASK]",
        "[CLS]",
        "[SEP]",
        "[PAD]",
    )


def test_how_a_tokenizer_was_asked_for_is_not_kept(model: BertForPreTraining, exported: Path, tmp_path: Path) -> None:
    read = AutoTokenizer.from_pretrained(exported, local_files_only=True)
    export_model(model, read, tmp_path / "again")
    settings = json.loads((tmp_path / "again" / "tokenizer_config.json").read_text())
    assert not {"is_local", "local_files_only"} & set(settings)
    assert settings["tokenizer_class"]


def test_everyone_may_read_the_files(exported: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in exported.iterdir()} == {0o644}


def test_the_model_in_training_is_left_as_it_was(model: BertForPreTraining, exported: Path) -> None:
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_the_bundled_model_is_such_an_export(model_folder: Path) -> None:
    """Shards under 95 MB, so that a repository can hold them. (What `train` exports has a training.json beside it.)"""
    if not (model_folder / "training.json").exists():
        pytest.skip("the bundled model is an interim one")
    files = list(model_folder.glob("*.safetensors"))
    assert files
    assert all(path.stat().st_size < 95e6 for path in files)
    assert {value.dtype for value in stored(model_folder).values()} == {torch.float16}
    assert json.loads((model_folder / "config.json").read_text())["dtype"] == "float32"


@pytest.mark.parametrize(("family", "segments"), [("BERT", True), ("DistilBERT", False)])
def test_a_model_without_segments_gets_a_tokenizer_that_gives_none(
    family: str, segments: bool, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    own = AutoTokenizer.from_pretrained(tokenizer.name_or_path)
    export_model(build(by_family(family), vocab_size=len(own)), own, tmp_path / "model")
    assert ("token_type_ids" in AutoTokenizer.from_pretrained(tmp_path / "model")("a", "b")) == segments


def sums(folder: Path) -> dict[str, str]:
    """What the list says, by the files' names."""
    lines = (folder / SUMS).read_text(encoding="ascii").splitlines()
    return {name: said for said, name in (line.split("  ") for line in lines)}


def test_the_list_of_sums_is_kept_true_by_what_writes_weights(exported: Path) -> None:
    before = sums(exported)
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= before.keys()
    overwrite(exported, {"cls.seq_relationship.bias": torch.tensor([3.0, -3.0])})
    after = sums(exported)
    assert [name for name in after if after[name] != before[name]] == ["model.safetensors"]
    for name, said in after.items():
        assert hashlib.sha256((exported / name).read_bytes()).hexdigest() == said
