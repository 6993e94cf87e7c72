"""Every method on every family: it trains, or it says why it cannot be had; the shared model never changes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import pytest
import torch
from torch.nn.functional import cross_entropy

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture, by_family
from explorer.settings import ROOT
from explorer.tuning.adapted import adapt
from explorer.tuning.forks import fork_classifier
from explorer.tuning.methods import METHODS, Method, find_method
from explorer.tuning.methods.prefix import build as prefix
from explorer.tuning.spec import RunSpec
from tests.pairs import by_pairs
from tests.rows import each_row
from tests.tuning.samples import batch, frozen_copy, is_unchanged, tiny_loaded

SCRIPTS = ROOT / "explorer" / "tuning" / "files" / "templates"
EVERY_METHOD = pytest.mark.parametrize("method", METHODS, ids=lambda entry: entry.slug)
EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
UNAVAILABLE = {
    ("bitfit", "ModernBERT"),
    ("prefix", "ALBERT"),
    ("prefix", "DistilBERT"),
    ("prefix", "DeBERTa"),
    ("prefix", "DeBERTa-v2/v3"),
    ("prefix", "ModernBERT"),
    ("prefix", "EuroBERT"),
    ("bitfit", "ModernBERT decoder"),
    ("bitfit", "EuroBERT"),
}


def spec_of(method: str, **changes: object) -> RunSpec:
    return RunSpec("tiny", method=method, **{"rank": 4, "prefix_length": 4, "bottleneck": 8, **changes})  # type: ignore[arg-type]


def test_which_methods_a_family_cannot_have() -> None:
    missing = {
        (method.slug, architecture.family)
        for method in METHODS
        for architecture in ARCHITECTURES
        if method.unavailable(architecture, tiny_loaded(architecture.family).model.config.to_dict())
    }
    assert missing == UNAVAILABLE


@by_pairs("method", METHODS)
def test_a_method_trains_or_says_why_it_cannot_be_had(method: Method, architecture: Architecture) -> None:
    loaded = tiny_loaded(architecture.family)
    reason = method.unavailable(architecture, loaded.model.config.to_dict())
    if reason:
        assert reason.endswith(".")
        with pytest.raises(BadInputError, match=method.title):
            adapt(loaded, 3, spec_of(method.slug))
        return
    before = frozen_copy(loaded)
    adapted = adapt(loaded, 3, spec_of(method.slug, dropout=0.1))
    inputs, labels = batch(), torch.tensor([0, 1, 2])
    everything = {name: parameter.detach().clone() for name, parameter in adapted.model.named_parameters()}
    trained = adapted.trainable()
    optimizer = torch.optim.AdamW(trained.values(), lr=0.05)
    for _ in range(3):  # LoRA's A and an adapter's lower map move from the second step on: before, what follows is 0
        adapted.train()
        loss = cross_entropy(adapted.logits(inputs), labels)
        assert loss.isfinite()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    moved = {
        name for name, parameter in adapted.model.named_parameters() if not torch.equal(parameter, everything[name])
    }
    assert moved == {name for name, parameter in adapted.model.named_parameters() if parameter.requires_grad}
    assert len(moved) == len(trained)
    assert is_unchanged(loaded, before)


@each_row("family", sorted(family for method, family in UNAVAILABLE if method == "prefix"))
def test_prefixes_really_cannot_be_had_where_that_is_said(family: str) -> None:
    fork = fork_classifier(tiny_loaded(family), 2, seed=0)
    model = prefix(fork, spec_of("prefix"), by_family(family).layers)
    with pytest.raises(ValueError, match="past key values"):
        model(**batch())


@pytest.mark.parametrize("switch", ["attention_bias", "mlp_bias", "norm_bias"])
def test_biases_can_be_trained_where_the_config_has_them(switch: str) -> None:
    architecture = by_family("ModernBERT")
    assert find_method("bitfit").unavailable(architecture, {switch: True}) is None
    assert find_method("bitfit").unavailable(architecture, {switch: False})


@EVERY_METHOD
def test_an_entry_is_complete(method: Method) -> None:
    assert callable(method.build)
    assert (SCRIPTS / f"prepare_{method.template(RunSpec('bert-small'), ARCHITECTURES[0].layers)}.txt").exists()
    assert set(method.options) <= {field.name for field in fields(RunSpec)}
    assert 0 < method.learning_rate < 0.1
    assert method.summary.count(". ") in (0, 1, 2, 3)
    assert method.summary.endswith(".")
    assert method.title
    assert method.formula
    assert method.source


@EVERY_METHOD
def test_only_its_options_matter(method: Method) -> None:
    """What a page does not show for a method must not change the run."""
    other = {"rank": 2, "alpha": 3.0, "dropout": 0.5, "targets": ("key",), "variant": "rslora"}
    unread = {**other, "prefix_length": 3, "bottleneck": 5}
    changes = {name: value for name, value in unread.items() if name not in method.options}
    loaded = tiny_loaded("BERT")
    usual, changed = (adapt(loaded, 2, spec_of(method.slug, **options)) for options in ({}, changes))
    assert usual.state().keys() == changed.state().keys()
    usual.train()
    changed.train()
    assert torch.equal(usual.logits(batch()), changed.logits(batch()))


def test_slugs_are_unique_and_an_unknown_one_is_answered_with_the_list() -> None:
    slugs = [method.slug for method in METHODS]
    assert slugs == ["full", "head", "bitfit", "lora", "prompt", "prefix", "houlsby", "pfeiffer", "ia3"]
    with pytest.raises(BadInputError, match="full, head, bitfit"):
        find_method("qlora")


def test_the_table_can_be_listed_without_the_heavy_libraries() -> None:
    code = "import sys, explorer.tuning.methods; print({'torch', 'peft', 'transformers', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
