"""What peft makes of our settings: names, starts, and that virtual tokens really act and are read at the right place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from peft import PeftModel, get_peft_model_state_dict
from peft.tuners.lora import LoraLayer
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture, by_family
from explorer.tuning.adapted import adapt
from explorer.tuning.forks import fork_classifier
from explorer.tuning.methods.by_peft import config_of
from explorer.tuning.spec import TARGETS, RunSpec
from tests.pairs import by_pairs
from tests.rows import each_row
from tests.tuning.samples import batch, frozen_copy, is_unchanged, moved, tiny_loaded

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
PEFT_METHODS = ("lora", "prompt", "prefix", "ia3")


def without_types(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in inputs.items() if name != "token_type_ids"}


@each_row("method", PEFT_METHODS)
@each_row("family", ["BERT", "GPT-2"])
def test_saved_names_and_values_are_pefts(family: str, method: str) -> None:
    adapted = moved(tiny_loaded(family), method, rank=4, variant="dora")
    state = adapted.state()
    theirs = get_peft_model_state_dict(adapted.model, save_embedding_layers=False)
    assert state.keys() == theirs.keys()
    assert all(torch.equal(state[name], theirs[name]) for name in state)


@by_pairs("method", PEFT_METHODS)
def test_peft_loads_what_it_saves_onto_transformers_own_model(
    architecture: Architecture, method: str, tmp_path: Path
) -> None:
    """One text at a time, as transformers finds no padding behind virtual tokens."""
    if method == "prefix" and not architecture.layers.takes_prefix:
        pytest.skip("no prefix")
    loaded = tiny_loaded(architecture.family)
    adapted = moved(loaded, method, rank=4)
    adapted.model.save_pretrained(tmp_path, save_embedding_layers=False)
    base = AutoModelForSequenceClassification.from_pretrained(loaded.model_id, num_labels=2)
    base.config.pad_token_id = adapted.fork.config.pad_token_id
    again = PeftModel.from_pretrained(base, tmp_path).eval()
    one = without_types({name: tensor[:1] for name, tensor in batch().items()})
    with torch.no_grad():
        torch.testing.assert_close(again(**one).logits, adapted.logits(one), rtol=0, atol=1e-6)


class TestLora:
    @by_pairs("target", TARGETS)
    def test_exactly_the_targets_are_adapted(self, architecture: Architecture, target: str) -> None:
        layers = architecture.layers
        adapted = adapt(tiny_loaded(architecture.family), 2, RunSpec("tiny", rank=4, targets=(target,)))
        wrapped = [name for name, module in adapted.fork.named_modules() if isinstance(module, LoraLayer)]
        count = 1 if architecture.family == "ALBERT" else 2
        assert wrapped == [layers.name(layer, layers.modules[target]) for layer in range(count)]

    def test_the_start_is_the_papers(self) -> None:
        """B = 0 and A uniform in ±1/sqrt(k), whose variance is 1/(3k)."""
        state = adapt(tiny_loaded("BERT"), 2, RunSpec("tiny", rank=16, targets=TARGETS)).state()
        first = torch.cat([tensor.flatten() for name, tensor in state.items() if "query.lora_A" in name])
        assert first.abs().max() <= 32**-0.5
        assert float(first.var()) == pytest.approx(1 / (3 * 32), rel=0.1)
        assert not any(tensor.any() for name, tensor in state.items() if "lora_B" in name)

    @each_row(("variant", "scale"), [("lora", 3 / 4), ("rslora", 3 / 2), ("dora", 3 / 4), ("pissa", 3 / 4)])
    def test_alpha_and_rank_give_the_scale(self, variant: str, scale: float) -> None:
        adapted = adapt(tiny_loaded("BERT"), 2, RunSpec("tiny", rank=4, alpha=3, variant=variant))
        modules = [module for module in adapted.model.modules() if isinstance(module, LoraLayer)]
        assert len(modules) == 4
        assert {module.scaling["default"] for module in modules} == {scale}

    def test_pissa_starts_from_the_largest_singular_directions(self) -> None:
        loaded = tiny_loaded("BERT")
        before = frozen_copy(loaded)
        adapted = adapt(loaded, 2, RunSpec("tiny", rank=4, variant="pissa"))
        module = adapted.fork.bert.encoder.layer[0].attention.self.query
        W = loaded.model.bert.encoder.layer[0].attention.self.query.weight  # noqa: N806
        product = module.scaling["default"] * module.lora_B["default"].weight @ module.lora_A["default"].weight
        torch.testing.assert_close(module.base_layer.weight, W - product, rtol=0, atol=1e-6)
        values, most = torch.linalg.svdvals(product), torch.linalg.svdvals(W)
        torch.testing.assert_close(values[:4], most[:4], rtol=0.02, atol=0)
        torch.testing.assert_close(torch.linalg.svdvals(W - product)[0], most[4], rtol=0.05, atol=0)
        assert is_unchanged(loaded, before)

    @pytest.mark.parametrize(("family", "role"), [("BERT", "query"), ("GPT-2", "query\\+key\\+value")])
    def test_a_rank_over_the_width_is_refused_with_the_width(self, family: str, role: str) -> None:
        assert adapt(tiny_loaded(family), 2, RunSpec("tiny", rank=32)).trainable()
        with pytest.raises(
            BadInputError, match=rf"rank is 33, and the smaller side of the {role} matrix is 32\. Take 32"
        ):
            adapt(tiny_loaded(family), 2, RunSpec("tiny", rank=33))

    def test_the_configuration_can_be_written_as_json(self, tmp_path: Path) -> None:
        adapted = moved(tiny_loaded("BERT"), rank=4, alpha=3.5)
        config = config_of(adapted.model)
        assert config is not None
        config.save_pretrained(tmp_path)
        saved = json.loads((tmp_path / "adapter_config.json").read_text())
        assert (saved["r"], saved["lora_alpha"], saved["task_type"]) == (4, 3.5, "SEQ_CLS")
        assert saved["base_model_name_or_path"] == adapted.loaded.model_id
        assert config_of(adapt(adapted.loaded, 2, RunSpec("tiny", method="head")).model) is None


class TestVirtualTokens:
    @by_pairs("method", ["prompt", "prefix"])
    def test_every_one_of_them_changes_the_output(self, architecture: Architecture, method: str) -> None:
        """A gate that is accepted and ignored would pass unnoticed otherwise."""
        if method == "prefix" and not architecture.layers.takes_prefix:
            pytest.skip("no prefix")
        adapted = moved(tiny_loaded(architecture.family), method)
        virtual = adapted.trainable()["prompt_embeddings"]
        adapted.logits(batch()).square().sum().backward()
        assert virtual.grad is not None
        assert virtual.grad.abs().sum(-1).all()
        with torch.no_grad():
            before = adapted.logits(batch())
            for row in virtual:
                row += torch.randn_like(row)
                after = adapted.logits(batch())
                assert not torch.equal(after, before)
                before = after

    def test_a_prompt_of_real_embeddings_reads_as_those_words_would(self) -> None:
        """Prompt tuning against itself: words put in front by hand, the classifier reading the first of them."""
        for family in ("BERT", "RoBERTa", "GPT-2", "ALBERT", "ELECTRA generator"):
            loaded = tiny_loaded(family)
            adapted = adapt(loaded, 2, RunSpec("tiny", method="prompt", prefix_length=3))
            fork = fork_classifier(loaded, 2, seed=0)
            words = torch.tensor([9, 6, 12])
            with torch.no_grad():
                adapted.trainable()["prompt_embeddings"].copy_(fork.get_input_embeddings().weight[words])
            inputs = without_types(batch())
            longer = {
                "input_ids": torch.cat([words.expand(3, 3), inputs["input_ids"]], dim=1),
                "attention_mask": torch.cat([torch.ones(3, 3, dtype=torch.long), inputs["attention_mask"]], dim=1),
            }
            longer["input_ids"] = longer["input_ids"].masked_fill(
                longer["attention_mask"] == 0, fork.config.pad_token_id
            )
            with torch.no_grad():
                torch.testing.assert_close(adapted.logits(inputs), fork(**longer).logits, rtol=0, atol=1e-6)

    def test_prompts_start_as_words_of_the_vocabulary(self) -> None:
        adapted = adapt(tiny_loaded("ALBERT"), 2, RunSpec("tiny", method="prompt", prefix_length=5))
        words = adapted.fork.get_input_embeddings().weight
        assert all((words == row).all(-1).any() for row in adapted.trainable()["prompt_embeddings"])

    def test_prefixes_are_keys_and_values_of_every_layer(self) -> None:
        adapted = adapt(tiny_loaded("BERT"), 2, RunSpec("tiny", method="prefix", prefix_length=5))
        assert adapted.trainable()["prompt_embeddings"].shape == (5, 2 * 2 * 32)


class TestIA3:
    def test_keys_values_and_inner_units_have_a_factor_each(self) -> None:
        state = adapt(tiny_loaded("BERT"), 2, RunSpec("tiny", method="ia3")).state()
        shapes = {
            name.split("layer.0.")[1]: tuple(tensor.shape) for name, tensor in state.items() if "layer.0." in name
        }
        assert shapes == {
            "attention.self.key.ia3_l": (32, 1),
            "attention.self.value.ia3_l": (32, 1),
            "output.dense.ia3_l": (1, 64),
        }

    def test_a_factor_scales_what_the_paper_says(self) -> None:
        """Doubling l_v doubles the values: against value weights and biases doubled by hand."""
        loaded = tiny_loaded("BERT")
        adapted = adapt(loaded, 2, RunSpec("tiny", method="ia3"))
        by_hand = fork_classifier(loaded, 2, seed=0)
        with torch.no_grad():
            for name, factor in adapted.trainable().items():
                if "value" in name:
                    factor.fill_(2)
            for layer in by_hand.bert.encoder.layer:
                value = layer.attention.self.value
                value.weight.data, value.bias.data = value.weight * 2, value.bias * 2
            torch.testing.assert_close(adapted.logits(batch()), by_hand(**batch()).logits, rtol=0, atol=1e-6)

    def test_a_fused_projection_is_scaled_as_a_whole(self) -> None:
        assert by_family("GPT-2").layers.matrices(("key", "value")) == {"query+key+value": "attn.c_attn"}
        state = adapt(tiny_loaded("GPT-2"), 2, RunSpec("tiny", method="ia3")).state()
        assert sum("c_attn.ia3_l" in name for name in state) == 2
