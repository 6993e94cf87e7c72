"""Loading a model, what it then can do, and the store that shares models among visitors."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from explorer.errors import MissingCapabilityError, ModelUnavailableError
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel, ModelStore, choose_device, is_out_of_memory, load_model
from explorer.settings import Settings
from tests.models import tiny
from tests.rows import each_row


def load(folder: Path) -> LoadedModel:
    return load_model(str(folder), Settings(device="cpu"))


def rename_weights(folder: Path, rename: Callable[[str], str]) -> None:
    weights = load_file(folder / "model.safetensors")
    save_weights(folder, {rename(name): weight for name, weight in weights.items()})


def save_weights(folder: Path, weights: dict[str, Tensor]) -> None:
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def refusal(folder: Path) -> str:
    with pytest.raises(ModelUnavailableError) as caught:
        load(folder)
    return str(caught.value)


class TestLoading:
    def test_weights_are_float32_frozen_and_without_dropout(self, tmp_path: Path) -> None:
        tiny.build(tiny.by_family("BERT")).half().save_pretrained(tmp_path)
        tiny.wordpiece().save_pretrained(tmp_path)
        loaded = load(tmp_path)
        assert {weight.dtype for weight in loaded.model.parameters()} == {torch.float32}
        assert not any(module.training for module in loaded.model.modules())
        assert not any(weight.requires_grad for weight in loaded.model.parameters())
        assert loaded.device == torch.device("cpu")

    def test_weights_are_those_that_were_saved(self, bert: LoadedModel) -> None:
        saved = tiny.build(tiny.by_family("BERT")).state_dict()
        loaded = bert.model.state_dict()
        assert saved.keys() == loaded.keys()
        assert all(torch.equal(saved[name], loaded[name]) for name in saved)

    def test_parameters_are_counted_once_where_they_are_shared(self, bert: LoadedModel) -> None:
        distinct = {id(weight): weight.numel() for weight in bert.model.parameters()}
        assert bert.parameters == sum(distinct.values())
        assert bert.bytes == 4 * bert.parameters

    def test_the_file_does_not_set_the_tokenizers_truncation(self, tmp_path: Path) -> None:
        """Switching it off at the first call would fail where two threads make that call together."""
        tiny.save(tmp_path)
        tokenizer = tiny.wordpiece()
        tokenizer.backend_tokenizer.enable_truncation(4)
        tokenizer.backend_tokenizer.enable_padding(length=8)
        tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
        backend = load(tmp_path).tokenizer.backend_tokenizer
        assert (backend.truncation, backend.padding) == (None, None)

    @pytest.mark.parametrize(
        ("changes", "longest"), [({"model_max_length": 10}, 10), ({"model_max_length": 10**30}, tiny.LONGEST)]
    )
    def test_the_longest_input_is_the_smaller_of_the_tokenizers_and_the_models_limit(
        self, tmp_path: Path, changes: dict[str, int], longest: int
    ) -> None:
        tiny.save(tmp_path)
        config = tmp_path / "tokenizer_config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), **changes}))
        assert load(tmp_path).longest == longest

    def test_auto_takes_a_device_and_a_name_takes_that_one(self) -> None:
        assert choose_device("auto").type in ("cuda", "mps", "cpu")
        assert choose_device("cpu") == torch.device("cpu")


class TestHeads:
    @each_row(
        ("class_name", "capabilities"),
        [
            ("BertForPreTraining", {Capability.MLM, Capability.NSP}),
            ("BertForMaskedLM", {Capability.MLM}),
            ("BertForNextSentencePrediction", {Capability.NSP}),
            ("BertForSequenceClassification", set()),
            ("BertModel", set()),
        ],
    )
    def test_a_checkpoint_without_a_head_loses_what_the_head_does(
        self, tmp_path: Path, class_name: str, capabilities: set[Capability]
    ) -> None:
        assert load(tiny.save(tmp_path, "BERT", class_name)).capabilities == capabilities

    @each_row(
        ("family", "class_name"),
        [
            ("RoBERTa", "RobertaModel"),
            ("ALBERT", "AlbertModel"),
            ("DistilBERT", "DistilBertModel"),
            ("ELECTRA discriminator", "ElectraModel"),
            ("DeBERTa", "DebertaModel"),
            ("DeBERTa-v2/v3", "DebertaV2Model"),
            ("ModernBERT", "ModernBertModel"),
        ],
    )
    def test_a_body_alone_can_do_nothing_but_loads(self, tmp_path: Path, family: str, class_name: str) -> None:
        assert load(tiny.save(tmp_path, family, class_name)).capabilities == set()

    @each_row(
        ("family", "rename"),
        [
            (
                "BERT",
                lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("Norm.bias", "Norm.beta"),
            ),
            ("BERT", lambda name: name.replace("predictions.bias", "predictions.decoder.bias")),
            ("ALBERT", lambda name: name.replace("predictions.bias", "predictions.decoder.bias")),
            ("GPT-2", lambda name: name.removeprefix("transformer.")),
        ],
        ids=["BERT-gamma-beta", "BERT-decoder-bias", "ALBERT-decoder-bias", "GPT-2-without-prefix"],
    )
    def test_the_names_of_older_checkpoints_are_understood(
        self, tmp_path: Path, family: str, rename: Callable[[str], str]
    ) -> None:
        tiny.save(tmp_path, family)
        before = load_file(tmp_path / "model.safetensors")
        rename_weights(tmp_path, rename)
        assert load_file(tmp_path / "model.safetensors").keys() != before.keys()
        loaded = load(tmp_path)
        assert loaded.capabilities == set(loaded.architecture.heads)

    def test_a_missing_head_is_refused_by_name(self, bert: LoadedModel) -> None:
        bert.require(Capability.MLM)
        with pytest.raises(MissingCapabilityError, match="continue a text"):
            bert.require(Capability.CAUSAL)


class TestWhatIsRefused:
    def test_pickled_weights(self, tmp_path: Path) -> None:
        tiny.save(tmp_path)
        (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
        assert "never loaded" in refusal(tmp_path)

    def test_a_pickle_beside_safetensors_is_not_opened(self, tmp_path: Path) -> None:
        tiny.save(tmp_path)
        (tmp_path / "pytorch_model.bin").write_bytes(b"no pickle at all")
        assert load(tmp_path).capabilities

    @each_row("keep", [0, 4, 1000, -1000], ids=["nothing", "a-few", "the-head", "most"])
    def test_weights_that_were_cut_off(self, tmp_path: Path, keep: int) -> None:
        file = tiny.save(tmp_path) / "model.safetensors"
        file.write_bytes(file.read_bytes()[:keep])
        assert "cannot be read" in refusal(tmp_path)

    def test_weights_that_are_something_else(self, tmp_path: Path) -> None:
        (tiny.save(tmp_path) / "model.safetensors").write_bytes(b"<html>" * 1000)
        assert "cannot be read" in refusal(tmp_path)

    def test_a_body_with_a_layer_missing(self, tmp_path: Path) -> None:
        """transformers would fill it with random numbers and only log that it did."""
        tiny.save(tmp_path)
        weights = load_file(tmp_path / "model.safetensors")
        save_weights(tmp_path, {name: weight for name, weight in weights.items() if "layer.1." not in name})
        message = refusal(tmp_path)
        assert "16 of its weights are missing" in message
        assert "layer.1." in message

    def test_a_folder_without_a_vocabulary(self, tmp_path: Path) -> None:
        """transformers would make a tokenizer up that knows no word."""
        (tiny.save(tmp_path) / "tokenizer.json").unlink()
        assert "no tokenizer.json" in refusal(tmp_path)

    @pytest.mark.parametrize("content", ["{not json", '{"model": {"type": "Nope"}}', ""])
    def test_a_broken_tokenizer(self, tmp_path: Path, content: str) -> None:
        (tiny.save(tmp_path) / "tokenizer.json").write_text(content)
        assert "cannot be read" in refusal(tmp_path)

    @each_row("content", [b"{not json", b"[]", b"", b"\xff\xfe\x00"])
    def test_a_broken_config(self, tmp_path: Path, content: bytes) -> None:
        (tiny.save(tmp_path) / "config.json").write_bytes(content)
        assert "config.json" in refusal(tmp_path)

    @each_row(
        "changes", [{"hidden_size": "x"}, {"hidden_size": 64}, {"num_attention_heads": 3}, {"hidden_act": "nope"}]
    )
    def test_a_config_that_does_not_fit(self, tmp_path: Path, changes: dict[str, object]) -> None:
        config = tiny.save(tmp_path) / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), **changes}))
        assert "cannot be read" in refusal(tmp_path)

    def test_another_family(self, tmp_path: Path) -> None:
        config = tiny.save(tmp_path) / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "model_type": "t5"}))
        assert "t5 model" in refusal(tmp_path)

    def test_code_in_the_folder_is_not_run(self, tmp_path: Path) -> None:
        tiny.save(tmp_path)
        (tmp_path / "evil.py").write_text("raise SystemExit('this must never run')")
        for name in ("config.json", "tokenizer_config.json"):
            values = json.loads((tmp_path / name).read_text())
            values["auto_map"] = {"AutoModel": "evil.Evil", "AutoTokenizer": ["evil.Evil", "evil.Evil"]}
            (tmp_path / name).write_text(json.dumps(values))
        assert type(load(tmp_path).model).__name__ == "BertForPreTraining"


class TestMemory:
    def test_torch_running_out_on_the_cpu_is_recognised(self) -> None:
        with pytest.raises(RuntimeError) as caught:
            torch.empty(2**50)
        assert is_out_of_memory(caught.value)

    def test_other_errors_are_not_taken_for_it(self) -> None:
        assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
        assert is_out_of_memory(MemoryError())
        assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
        assert not is_out_of_memory(ValueError("can't allocate memory"))


class Loader:
    """Counts what it loads; every model takes 100 bytes."""

    def __init__(self, loaded: LoadedModel, seconds: float = 0.0) -> None:
        self._loaded, self._seconds = loaded, seconds
        self.loaded: list[str] = []

    def __call__(self, model_id: str, settings: Settings) -> LoadedModel:
        self.loaded.append(model_id)
        time.sleep(self._seconds)
        return replace(self._loaded, model_id=model_id, bytes=100)


class TestStore:
    def store(self, load: Callable[[str, Settings], LoadedModel], limit: int = 250) -> ModelStore:
        return ModelStore(Settings(device="cpu", model_cache_bytes=limit), load)

    def test_many_who_ask_at_once_wait_for_one_load(self, bert: LoadedModel) -> None:
        loader = Loader(bert, seconds=0.1)
        store = self.store(loader)
        start = threading.Barrier(8)

        def ask(_: int) -> LoadedModel:
            start.wait(timeout=120)
            return store.get("a")

        with ThreadPoolExecutor(8) as threads:
            loaded_models = list(threads.map(ask, range(8)))
        assert loader.loaded == ["a"]
        assert {id(loaded) for loaded in loaded_models} == {id(loaded_models[0])}

    def test_different_models_load_side_by_side(self, bert: LoadedModel) -> None:
        both_inside = threading.Barrier(2)

        def load_together(model_id: str, settings: Settings) -> LoadedModel:
            both_inside.wait(timeout=120)
            return replace(bert, model_id=model_id)

        store = self.store(load_together, limit=10**9)
        with ThreadPoolExecutor(2) as threads:
            assert [loaded.model_id for loaded in threads.map(store.get, ["a", "b"])] == ["a", "b"]

    def test_the_least_recently_used_goes_when_the_limit_is_passed(self, bert: LoadedModel) -> None:
        loader = Loader(bert)
        store = self.store(loader)
        for model_id in ("a", "b", "a", "c"):
            store.get(model_id)
        assert store.loaded() == ("a", "c")
        assert loader.loaded == ["a", "b", "c"]

    def test_one_model_larger_than_the_limit_stays_alone(self, bert: LoadedModel) -> None:
        store = self.store(Loader(bert), limit=50)
        store.get("a")
        assert store.loaded() == ("a",)
        store.get("b")
        assert store.loaded() == ("b",)

    def test_the_others_go_when_memory_is_needed(self, bert: LoadedModel) -> None:
        store = self.store(Loader(bert), limit=10**9)
        for model_id in ("a", "b", "c"):
            store.get(model_id)
        store.release_others("b")
        assert store.loaded() == ("b",)

    def test_looking_loads_nothing(self, bert: LoadedModel) -> None:
        loader = Loader(bert)
        store = self.store(loader)
        assert store.find("a") is None
        assert loader.loaded == []
        assert store.get("a") is store.find("a")

    def test_a_load_that_fails_may_be_tried_again(self, bert: LoadedModel) -> None:
        loader = Loader(bert)
        broken = iter([True, False])

        def load_second_time(model_id: str, settings: Settings) -> LoadedModel:
            if next(broken):
                raise ModelUnavailableError("not yet")
            return loader(model_id, settings)

        store = self.store(load_second_time)
        with pytest.raises(ModelUnavailableError):
            store.get("a")
        assert store.loaded() == ()
        assert store.get("a").model_id == "a"
