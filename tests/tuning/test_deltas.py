"""ΔW against the difference of weights that peft's own merge makes, and from files against the models they come from."""

# ruff: noqa: N806

from __future__ import annotations

import copy
import math

import pytest
import torch
from peft import get_peft_model_state_dict
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.tuning.adapted import Adapted
from explorer.tuning.deltas import Dense, LowRank, base_weights, deltas_from_peft, oriented, stored
from explorer.tuning.forks import own
from explorer.tuning.methods import METHODS
from explorer.tuning.methods.by_peft import config_of
from explorer.tuning.spec import TARGETS, VARIANTS
from tests.rows import each_row
from tests.tuning.samples import frozen_copy, is_unchanged, moved, tiny_loaded

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
MERGEABLE = [("lora", variant) for variant in VARIANTS] + [("ia3", "lora")]
QUERY = "base_model.model.roberta.encoder.layer.3.attention.self.query"


def merged_weights(adapted: Adapted) -> dict[tuple[int, str], Tensor]:
    """The weights after peft's merge of a deep copy, read by transformers' own names."""
    clone = copy.deepcopy(adapted.model)
    plain: nn.Module = clone.merge_and_unload(safe_merge=True) if hasattr(clone, "merge_and_unload") else clone
    layers = adapted.layers
    return {place: oriented(module) for name, module in plain.named_modules() if (place := layers.locate(name))}


def check_against_merge(adapted: Adapted) -> None:
    before = frozen_copy(adapted.loaded)
    base, merged, deltas = base_weights(adapted.loaded), merged_weights(adapted), adapted.deltas()
    assert merged.keys() == base.keys()
    for place, W in base.items():
        change = merged[place] - W
        if place in deltas:
            assert float(change.norm()) > 1e-3
            torch.testing.assert_close(deltas[place].dense(), change, rtol=0, atol=2e-6)
        else:
            assert not change.any()
    assert is_unchanged(adapted.loaded, before)


@each_row(("method", "variant"), MERGEABLE)
@each_row("family", ["BERT", "GPT-2", "ALBERT"])
def test_the_update_is_what_merging_adds(family: str, method: str, variant: str) -> None:
    check_against_merge(moved(tiny_loaded(family), method, variant=variant, rank=4, targets=TARGETS))


@pytest.mark.parametrize("method", ["lora", "full"])
@EVERY_FAMILY
def test_every_family_has_its_update_by_layer_and_role(architecture: Architecture, method: str) -> None:
    adapted = moved(tiny_loaded(architecture.family), method, rank=4, targets=("query", "ffn_out"))
    check_against_merge(adapted)
    roles = architecture.layers.matrices(("query", "ffn_out") if method == "lora" else ())
    count = 1 if architecture.family == "ALBERT" else 2
    assert list(adapted.deltas()) == sorted((layer, role) for layer in range(count) for role in roles)


@pytest.mark.parametrize(("variant", "rank"), [("lora", 4), ("rslora", 4), ("pissa", 8)])
def test_low_rank_updates_come_as_factors(variant: str, rank: int) -> None:
    """PiSSA's is the difference of two products of rank r."""
    for delta in moved(tiny_loaded("BERT"), variant=variant, rank=4).deltas().values():
        assert isinstance(delta, LowRank)
        assert (delta.A.shape, delta.B.shape) == ((rank, 32), (32, rank))
        assert torch.linalg.matrix_rank(delta.dense(), rtol=1e-4) == rank


def test_other_updates_come_as_matrices() -> None:
    for method, variant in (("full", "lora"), ("ia3", "lora"), ("lora", "dora")):
        deltas = moved(tiny_loaded("BERT"), method, variant=variant, rank=4).deltas()
        assert deltas
        assert all(isinstance(delta, Dense) for delta in deltas.values())


def test_updates_are_copies() -> None:
    adapted = moved(tiny_loaded("BERT"), rank=4)
    kept = {place: delta.dense() for place, delta in adapted.deltas().items()}
    deltas = adapted.deltas()
    with torch.no_grad():
        for parameter in adapted.trainable().values():
            parameter += 1
    assert all(torch.equal(delta.dense(), kept[place]) for place, delta in deltas.items())


def test_methods_that_change_no_matrix_have_none() -> None:
    for method in METHODS:
        options = {"rank": 4, "bottleneck": 8}
        has_any = bool(moved(tiny_loaded("BERT"), method.slug, **options).deltas())
        assert has_any == (method.slug in ("full", "lora", "ia3"))


@EVERY_FAMILY
def test_base_weights_are_views_with_outputs_as_rows(architecture: Architecture) -> None:
    loaded = tiny_loaded(architecture.family)
    pointers = {parameter.data_ptr() for parameter in loaded.model.parameters()}
    weights = base_weights(loaded)
    assert all(weight.data_ptr() in pointers for weight in weights.values())
    inner = weights[0, "ffn_out"].shape[1]
    assert weights[0, "ffn_out"].shape == (32, inner)
    assert weights[0, "ffn_in"].shape in ((inner, 32), (2 * inner, 32))


def test_turning_a_weight_back_undoes_it() -> None:
    for module in (nn.Linear(3, 5), Conv1D(5, 3)):
        assert oriented(module).shape == (5, 3)
        assert torch.equal(stored(oriented(module), module), module.weight)


class TestFiles:
    @pytest.mark.parametrize("variant", ["lora", "rslora"])
    @EVERY_FAMILY
    def test_names_alone_give_what_the_model_gives(self, architecture: Architecture, variant: str) -> None:
        adapted = moved(tiny_loaded(architecture.family), variant=variant, rank=4, alpha=6, targets=TARGETS)
        tensors = get_peft_model_state_dict(adapted.model, save_embedding_layers=False)
        config = config_of(adapted.model)
        assert config is not None
        found, expected = deltas_from_peft(tensors, config.to_dict()), adapted.deltas()
        assert list(found) == list(expected)
        for place, delta in expected.items():
            torch.testing.assert_close(found[place].dense(), delta.dense(), rtol=0, atol=1e-6)

    @each_row("ending", [".weight", ".default.weight", ".mine.weight", "", ".default"])
    @each_row("prefix", ["base_model.model.roberta.", "base_model.model.", ""])
    def test_endings_and_prefixes_do_not_matter(self, prefix: str, ending: str) -> None:
        A, B = torch.randn(2, 6), torch.randn(5, 2)
        module = f"{prefix}encoder.layer.3.attention.self.query"
        tensors = {f"{module}.lora_A{ending}": A, f"{module}.lora_B{ending}": B, "classifier.weight": torch.ones(2)}
        (place, delta), *rest = deltas_from_peft(tensors, {"lora_alpha": 8}).items()
        assert (place, rest) == ((3, "query"), [])
        torch.testing.assert_close(delta.dense(), 4 * B @ A)

    @each_row(
        ("config", "scale"),
        [
            ({"lora_alpha": 16, "r": 99}, 8),
            ({"lora_alpha": 16, "use_rslora": True}, 16 / math.sqrt(2)),
            ({"lora_alpha": 16, "alpha_pattern": {"query": 4}}, 2),
            ({"lora_alpha": 16, "alpha_pattern": {"uery": 4, "value": 4}}, 8),
            ({"lora_alpha": 16, "alpha_pattern": {r"layer\.3\..*": 2}}, 1),
        ],
    )
    def test_the_scale_is_the_configs_with_the_files_own_rank(self, config: dict[str, object], scale: float) -> None:
        tensors = {f"{QUERY}.lora_A.weight": torch.ones(2, 4), f"{QUERY}.lora_B.weight": torch.ones(4, 2)}
        delta = deltas_from_peft(tensors, config)[3, "query"]
        assert isinstance(delta, LowRank)
        assert delta.scale == pytest.approx(scale)

    def test_modules_of_other_families_keep_their_path(self) -> None:
        module = "base_model.model.model.layers.7.mixer.in_proj"
        tensors = {f"{module}.lora_A.weight": torch.ones(2, 4), f"{module}.lora_B.weight": torch.ones(4, 2)}
        assert list(deltas_from_peft(tensors, {"lora_alpha": 2})) == [(7, "mixer.in_proj")]

    def test_half_precision_becomes_single(self) -> None:
        half = {
            f"{QUERY}.lora_A.weight": torch.ones(2, 4, dtype=torch.bfloat16),
            f"{QUERY}.lora_B.weight": torch.ones(4, 2, dtype=torch.float16),
        }
        assert deltas_from_peft(half, {"lora_alpha": 2})[3, "query"].dense().dtype == torch.float32

    @each_row(
        ("changes", "config", "reason"),
        [
            ({f"{QUERY}.lora_magnitude_vector": (4,)}, {"lora_alpha": 1}, "DoRA"),
            ({}, {"lora_alpha": 1, "use_dora": True}, "DoRA"),
            ({}, {"lora_alpha": 1, "init_lora_weights": "pissa_niter_4"}, "pissa_niter_4"),
            ({f"{QUERY}.lora_B.weight": (4, 3)}, {"lora_alpha": 1}, r"A \(2, 4\), B \(4, 3\)"),
            ({f"{QUERY}.lora_B.weight": None}, {"lora_alpha": 1}, r"A \(2, 4\)\."),
            ({}, {}, "lora_alpha"),
            ({}, {"lora_alpha": math.nan}, "lora_alpha"),
            ({f"{QUERY}.lora_A.weight": None, f"{QUERY}.lora_B.weight": None}, {"lora_alpha": 1}, "no LoRA factors"),
        ],
    )
    def test_what_cannot_be_told_is_said(
        self, changes: dict[str, tuple[int, ...] | None], config: dict[str, object], reason: str
    ) -> None:
        shapes = {f"{QUERY}.lora_A.weight": (2, 4), f"{QUERY}.lora_B.weight": (4, 2), **changes}
        tensors = {name: torch.ones(shape) for name, shape in shapes.items() if shape is not None}
        with pytest.raises(BadInputError, match=reason):
            deltas_from_peft(tensors, config)


def test_an_owned_weight_that_has_not_moved_is_an_update_of_zero() -> None:
    adapted = moved(tiny_loaded("BERT"), "head")
    own(adapted.fork, ["bert.encoder.layer.0.output.dense.weight"])
    assert not adapted.deltas()[0, "ffn_out"].dense().any()
