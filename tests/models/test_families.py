"""The table of families against transformers itself: every family is built, saved, loaded and run, a few kilobytes each."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import torch
import transformers

from explorer.models.families import ARCHITECTURES, Architecture, Capability, by_family, find_architecture
from explorer.models.folders import unsupported
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from explorer.tuning.spec import TARGETS
from tests.models import tiny
from tests.rows import each_row

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
PER_TOKEN = {Capability.MLM: (len(tiny.WORDS),), Capability.CAUSAL: (len(tiny.WORDS),), Capability.RTD: ()}


def load(folder: Path) -> LoadedModel:
    return load_model(str(folder), Settings(device="cpu"))


@EVERY_FAMILY
def test_a_checkpoint_with_all_its_heads_can_do_all_that_its_family_can(
    architecture: Architecture, tmp_path: Path
) -> None:
    loaded = load(tiny.save(tmp_path, architecture.family))
    assert loaded.architecture == architecture
    assert loaded.capabilities == set(architecture.heads)
    assert type(loaded.model).__name__ == architecture.model_class


@EVERY_FAMILY
def test_each_head_is_where_the_table_says_and_has_its_shape(architecture: Architecture, tmp_path: Path) -> None:
    loaded = load(tiny.save(tmp_path, architecture.family))
    output = loaded.model(torch.tensor([[2, 5, 6, 3]]))
    for capability in architecture.heads:
        shape = (1, 4, *PER_TOKEN[capability]) if capability in PER_TOKEN else (1, 2)
        assert loaded.logits(capability, output).shape == shape


@EVERY_FAMILY
def test_each_head_takes_its_true_classes_by_the_keyword_in_the_table(architecture: Architecture) -> None:
    labels = [head.labels for head in architecture.heads.values()]
    assert len(labels) == len(set(labels))
    taken = inspect.signature(getattr(transformers, architecture.model_class).forward).parameters
    assert set(labels) <= set(taken)


@EVERY_FAMILY
def test_the_model_type_is_that_of_the_class(architecture: Architecture) -> None:
    assert getattr(transformers, architecture.model_class).config_class.model_type == architecture.model_type


@EVERY_FAMILY
def test_the_longest_input_can_be_read(architecture: Architecture, tmp_path: Path) -> None:
    """RoBERTa reads two tokens fewer than it has position embeddings; its tokenizer need not say so."""
    model = tiny.build(architecture)
    model.save_pretrained(tmp_path)
    tiny.wordpiece(longest=10**9).save_pretrained(tmp_path)
    loaded = load(tmp_path)
    assert loaded.longest == tiny.LONGEST - (2 if architecture.layers.body == "roberta" else 0)
    ids = torch.full((1, loaded.longest), 5)
    assert loaded.model(ids)[0].isfinite().all()


def test_families_have_names_of_their_own() -> None:
    families = [architecture.family for architecture in ARCHITECTURES]
    assert len(families) == len(set(families))


@each_row(
    ("model_type", "declared", "family"),
    [
        ("electra", ["ElectraForMaskedLM"], "ELECTRA generator"),
        ("electra", ["ElectraForPreTraining"], "ELECTRA discriminator"),
        ("electra", [], "ELECTRA discriminator"),
        ("bert", ["BertForMaskedLM"], "BERT"),
        ("bert", [], "BERT"),
        ("deberta", [], "DeBERTa"),
        ("deberta-v2", ["DebertaV2ForMaskedLM"], "DeBERTa-v2/v3"),
    ],
)
def test_a_config_finds_its_family(model_type: str, declared: list[str], family: str) -> None:
    assert find_architecture(model_type, declared) == by_family(family)


@each_row("model_type", ["t5", "llama", "", "None", "BERT"])
def test_other_models_have_none(model_type: str) -> None:
    assert find_architecture(model_type, ["BertModel"]) is None


def test_a_family_that_is_not_listed_raises() -> None:
    with pytest.raises(KeyError):
        by_family("T5")


def test_the_refusal_names_every_family() -> None:
    sentence = unsupported("x/y", "t5")
    assert all(architecture.family.split()[0].split("-v2")[0] in sentence for architecture in ARCHITECTURES)


def classifier(architecture: Architecture) -> transformers.PreTrainedModel:
    """transformers' own classifier of a family, tiny and random."""
    config = type(tiny.build(architecture).config)
    model_class = transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[config]
    return tiny.build(architecture, model_class.__name__).eval()


class TestLayers:
    @EVERY_FAMILY
    def test_every_role_that_a_run_may_name_is_a_linear_map_of_every_layer(self, architecture: Architecture) -> None:
        layers = architecture.layers
        assert tuple(layers.modules) == TARGETS
        model = classifier(architecture)
        count = 1 if architecture.family == "ALBERT" else 2
        for layer in range(count):
            for path in layers.modules.values():
                assert model.get_submodule(layers.name(layer, path)).weight.ndim == 2
        with pytest.raises(AttributeError):
            model.get_submodule(layers.name(count, layers.modules["query"]))

    @EVERY_FAMILY
    def test_the_matrices_have_the_shapes_of_their_roles(self, architecture: Architecture) -> None:
        """(outputs, inputs) with the hidden size 32; a fused matrix has its parts' outputs together."""
        model, layers = classifier(architecture), architecture.layers
        inner = model.get_submodule(layers.name(0, layers.modules["ffn_out"])).weight.numel() // 32
        gated = 2 if architecture.family.startswith("ModernBERT") else 1
        expected = {"output": (32, 32), "ffn_in": (gated * inner, 32), "ffn_out": (32, inner)}
        for name, path in layers.matrices().items():
            shape = tuple(model.get_submodule(layers.name(0, path)).weight.shape)
            outputs_first = shape[::-1] if architecture.family == "GPT-2" else shape
            assert outputs_first == expected.get(name, (32 * (name.count("+") + 1), 32))

    @EVERY_FAMILY
    def test_only_these_modules_are_located_and_the_pattern_finds_the_same(self, architecture: Architecture) -> None:
        layers = architecture.layers
        names = [name for name, _ in classifier(architecture).named_modules()]
        located = {name: place for name in names if (place := layers.locate(name))}
        roles = layers.matrices()
        assert {role for _, role in located.values()} == set(roles)
        assert all(layers.name(layer, roles[role]) == name for name, (layer, role) in located.items())
        assert [name for name in names if re.fullmatch(layers.pattern(roles.values()), name)] == list(located)
        assert layers.locate(f"base_model.model.{next(iter(located))}") == next(iter(located.values()))

    def test_asking_for_a_part_of_a_fused_matrix_gives_it_once(self) -> None:
        assert by_family("GPT-2").layers.matrices(("query", "value")) == {"query+key+value": "attn.c_attn"}
        assert list(by_family("BERT").layers.matrices(("value", "query"))) == ["query", "value"]

    @EVERY_FAMILY
    def test_a_prefix_is_taken_by_the_bodies_that_take_past_keys_and_values(self, architecture: Architecture) -> None:
        body = classifier(architecture).get_submodule(architecture.layers.body)
        assert ("past_key_values" in inspect.signature(body.forward).parameters) == architecture.layers.takes_prefix

    @EVERY_FAMILY
    def test_the_classifier_reads_the_position_that_the_table_says(self, architecture: Architecture) -> None:
        """Seen from the gradient: which positions of the body's output bear on the logits."""
        model = classifier(architecture)
        seen: list[torch.Tensor] = []

        def keep(module: object, inputs: object, output: transformers.utils.ModelOutput) -> None:
            output.last_hidden_state.retain_grad()
            seen.append(output.last_hidden_state)

        model.get_submodule(architecture.layers.body).register_forward_hook(keep)
        model(torch.tensor([[2, 5, 6, 7]])).logits.sum().backward()
        grad = seen[0].grad
        if grad is None:  # pooled inside the body, which every family does from the first position
            assert not architecture.layers.reads_last
            return
        used = grad[0].abs().sum(-1).nonzero().flatten().tolist()
        every = getattr(model.config, "classifier_pooling", "") == "late"  # EuroBERT averages what all tokens say
        assert used == ([0, 1, 2, 3] if every else [3] if architecture.layers.reads_last else [0])

    @EVERY_FAMILY
    def test_layers_have_biases_unless_a_switch_is_off(self, architecture: Architecture) -> None:
        switches = architecture.layers.bias_switches
        assert has_biases(architecture) == (not switches)
        assert all(has_biases(architecture, **{switch: True}) for switch in switches)


def has_biases(architecture: Architecture, **changes: bool) -> bool:
    body = tiny.build(architecture, **changes).get_submodule(architecture.layers.body)
    return any(name.endswith("bias") for name, _ in body.named_parameters())
