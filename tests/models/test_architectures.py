"""The table of families against transformers itself: every family is built, saved, loaded and run, a few kilobytes each."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
import transformers

from explorer.models.architectures import ARCHITECTURES, Architecture, Capability, by_family, find_architecture
from explorer.models.bundle import Bundle, load_bundle
from explorer.models.hub import unsupported
from explorer.settings import Settings
from tests.models import tiny

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
PER_TOKEN = {Capability.MLM: (len(tiny.WORDS),), Capability.CAUSAL: (len(tiny.WORDS),), Capability.RTD: ()}


def load(folder: Path) -> Bundle:
    return load_bundle(str(folder), Settings(device="cpu"))


@EVERY_FAMILY
def test_a_checkpoint_with_all_its_heads_can_do_all_that_its_family_can(
    architecture: Architecture, tmp_path: Path
) -> None:
    bundle = load(tiny.save(tmp_path, architecture.family))
    assert bundle.architecture == architecture
    assert bundle.capabilities == set(architecture.heads)
    assert type(bundle.model).__name__ == architecture.model_class


@EVERY_FAMILY
def test_each_head_is_where_the_table_says_and_has_its_shape(architecture: Architecture, tmp_path: Path) -> None:
    bundle = load(tiny.save(tmp_path, architecture.family))
    output = bundle.model(torch.tensor([[2, 5, 6, 3]]))
    for capability in architecture.heads:
        shape = (1, 4, *PER_TOKEN[capability]) if capability in PER_TOKEN else (1, 2)
        assert bundle.logits(capability, output).shape == shape


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
    bundle = load(tmp_path)
    assert bundle.longest == tiny.LONGEST - (2 if architecture.family == "RoBERTa" else 0)
    ids = torch.full((1, bundle.longest), 5)
    assert bundle.model(ids)[0].isfinite().all()


def test_families_have_names_of_their_own() -> None:
    families = [architecture.family for architecture in ARCHITECTURES]
    assert len(families) == len(set(families))


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("model_type", ["t5", "llama", "", "None", "BERT"])
def test_other_models_have_none(model_type: str) -> None:
    assert find_architecture(model_type, ["BertModel"]) is None


def test_a_family_that_is_not_listed_raises() -> None:
    with pytest.raises(KeyError):
        by_family("T5")


def test_the_refusal_names_every_family() -> None:
    sentence = unsupported("x/y", "t5")
    assert all(architecture.family.split()[0].split("-v2")[0] in sentence for architecture in ARCHITECTURES)
