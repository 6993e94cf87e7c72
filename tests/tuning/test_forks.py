"""A fork against transformers' own way to the same classifier, and that it shares every tensor that it can."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from explorer.models.families import ARCHITECTURES, Architecture
from explorer.models.loaded_model import LoadedModel
from explorer.tuning.forks import fork_classifier, head_modules, head_names, own
from tests.tuning.samples import batch, frozen_copy, is_unchanged, tiny_loaded

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
HEADS = {
    "BERT": ["classifier"],
    "RoBERTa": ["classifier"],
    "XLM-RoBERTa": ["classifier"],
    "CamemBERT": ["classifier"],
    "ALBERT": ["classifier"],
    "DistilBERT": ["pre_classifier", "classifier"],
    "ELECTRA generator": ["classifier"],
    "ELECTRA discriminator": ["classifier"],
    "DeBERTa": ["pooler", "classifier"],
    "DeBERTa-v2/v3": ["pooler", "classifier"],
    "GPT-2": ["score"],
    "ModernBERT": ["classifier"],
    "ModernBERT decoder": ["head", "classifier"],
    "EuroBERT": ["dense", "classifier"],
}


def independent(loaded: LoadedModel, fork: PreTrainedModel) -> PreTrainedModel:
    """transformers loads the same checkpoint; the fork's head is copied over."""
    model = AutoModelForSequenceClassification.from_pretrained(loaded.model_id, num_labels=3).eval()
    model.config.pad_token_id = fork.config.pad_token_id
    head = {name: fork.get_parameter(name).detach().clone() for name in head_names(fork)}
    missing = model.load_state_dict(head, strict=False)
    assert not missing.unexpected_keys
    return model


@EVERY_FAMILY
def test_a_fork_equals_what_transformers_makes_of_the_checkpoint(architecture: Architecture) -> None:
    loaded = tiny_loaded(architecture.family)
    fork = fork_classifier(loaded, 3, seed=1)
    other = independent(loaded, fork)
    assert type(fork) is type(other)
    inputs = {name: tensor for name, tensor in batch().items() if name != "token_type_ids"}
    with torch.no_grad():
        torch.testing.assert_close(fork(**inputs).logits, other(**inputs).logits, rtol=0, atol=1e-6)
        mine = fork(**inputs, output_hidden_states=True).hidden_states
        theirs = loaded.model(**inputs, output_hidden_states=True).hidden_states
    assert len(mine) == len(theirs)
    assert all(torch.equal(one, two) for one, two in zip(mine, theirs, strict=True))


@EVERY_FAMILY
def test_the_body_shares_the_bundles_storage_but_not_its_parameters(architecture: Architecture) -> None:
    loaded = tiny_loaded(architecture.family)
    before = frozen_copy(loaded)
    fork = fork_classifier(loaded, 2, seed=0)
    fresh = set(head_names(fork))
    theirs = dict(loaded.model.named_parameters(remove_duplicate=False))
    for name, parameter in fork.named_parameters():
        assert parameter.requires_grad == (name in fresh)
        if name not in fresh:
            assert parameter.data_ptr() == theirs[name].data_ptr()
            assert parameter is not theirs[name]
            parameter.data = torch.zeros(1)
    for name, buffer in fork.named_buffers():
        assert buffer.data_ptr() == loaded.model.get_buffer(name).data_ptr()
    assert is_unchanged(loaded, before)


@EVERY_FAMILY
def test_the_head_is_what_the_checkpoint_lacks(architecture: Architecture) -> None:
    fork = fork_classifier(tiny_loaded(architecture.family), 2, seed=0)
    assert head_modules(fork) == HEADS[architecture.family]
    in_modules = {
        f"{module}.{name}" for module in head_modules(fork) for name, _ in fork.get_submodule(module).named_parameters()
    }
    assert in_modules == set(head_names(fork))


@EVERY_FAMILY
def test_the_head_is_initialised_as_by_transformers_and_by_the_seed_alone(architecture: Architecture) -> None:
    loaded = tiny_loaded(architecture.family)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    forks = [fork_classifier(loaded, 64, seed) for seed in (5, 5, 6)]
    assert torch.equal(torch.get_rng_state(), before)
    usual = AutoModelForSequenceClassification.from_pretrained(loaded.model_id, num_labels=64)
    for name in head_names(forks[0]):
        first, again, other = (fork.get_parameter(name).detach() for fork in forks)
        theirs = usual.get_parameter(name).detach()
        assert torch.equal(first, again)
        if float(theirs.std()) > 0:
            assert not torch.equal(first, other)
            assert float(first.std()) == pytest.approx(float(theirs.std()), rel=0.15)
        else:
            assert torch.equal(first, theirs)


def test_a_pooler_that_the_checkpoint_lacks_is_fresh_and_trained() -> None:
    loaded = tiny_loaded("BERT", "BertForMaskedLM")
    fork = fork_classifier(loaded, 2, seed=0)
    assert head_modules(fork) == ["bert.pooler", "classifier"]
    assert torch.equal(fork.bert.pooler.dense.weight, fork_classifier(loaded, 2, seed=0).bert.pooler.dense.weight)
    assert fork.bert.pooler.dense.weight.data_ptr() != loaded.model.bert.pooler.dense.weight.data_ptr()


def test_the_config_is_the_forks_own() -> None:
    loaded = tiny_loaded("GPT-2")
    fork = fork_classifier(loaded, 1, seed=0)
    assert (fork.config.num_labels, fork.config.problem_type, fork.config.use_cache) == (1, "regression", False)
    assert fork.config is not loaded.model.config
    assert loaded.model.config.num_labels == 2
    assert fork_classifier(loaded, 5, seed=0).config.problem_type == "single_label_classification"


def test_padding_needs_a_token_even_where_neither_config_nor_tokenizer_has_one() -> None:
    loaded = tiny_loaded("GPT-2")
    config, kept = loaded.model.config, loaded.tokenizer.pad_token
    assert fork_classifier(loaded, 2, seed=0).config.pad_token_id == config.pad_token_id
    pad, config.pad_token_id, loaded.tokenizer.pad_token = config.pad_token_id, None, None
    try:
        assert fork_classifier(loaded, 2, seed=0).config.pad_token_id == config.eos_token_id
    finally:
        config.pad_token_id, loaded.tokenizer.pad_token = pad, kept


def test_what_a_fork_owns_is_a_trainable_copy() -> None:
    loaded = tiny_loaded("BERT")
    fork = fork_classifier(loaded, 2, seed=0)
    name = "bert.encoder.layer.0.output.dense.bias"
    own(fork, [name])
    mine, theirs = fork.get_parameter(name), loaded.model.get_parameter(name)
    assert mine.requires_grad
    assert torch.equal(mine, theirs)
    before = theirs.clone()
    with torch.no_grad():
        mine += 1
    assert torch.equal(theirs, before)
