"""An adapted model: where it starts, what it depends on, what it saves, and where its gradients begin."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.forks import fork_classifier
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import VARIANTS, RunSpec
from tests.pairs import by_pairs
from tests.tuning.samples import batch, frozen_copy, is_unchanged, moved, tiny_loaded

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
EVERY_WAY = pytest.mark.parametrize(
    ("method", "variant"),
    [(method.slug, "lora") for method in METHODS] + [("lora", variant) for variant in VARIANTS[1:]],
)
STARTS_AT_THE_BASE = [("full", "lora"), ("head", "lora"), ("bitfit", "lora"), ("houlsby", "lora"), ("ia3", "lora")]
STARTS_AT_THE_BASE += [("lora", variant) for variant in VARIANTS]


def make(method: str, variant: str = "lora", family: str = "BERT", **options: object) -> Adapted:
    spec = RunSpec(
        "tiny", method=method, variant=variant, **{"rank": 4, "prefix_length": 4, "bottleneck": 8, **options}
    )  # type: ignore[arg-type]
    return adapt(tiny_loaded(family), 2, spec)


@contextmanager
def noise() -> Iterator[None]:
    """Other threads that draw from the global generator all the time."""
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set():
            torch.randn(100)

    threads = [threading.Thread(target=draw) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class TestStart:
    @by_pairs("way", STARTS_AT_THE_BASE)
    def test_it_gives_what_the_model_gives(self, architecture: Architecture, way: tuple[str, str]) -> None:
        method, variant = way
        if method == "bitfit" and architecture.layers.bias_switches:
            pytest.skip("no biases")
        fork = fork_classifier(tiny_loaded(architecture.family), 2, seed=0)
        adapted = make(method, variant, architecture.family)
        with torch.no_grad():
            expected = fork(**{name: tensor for name, tensor in batch().items() if name != "token_type_ids"}).logits
            inputs = {name: tensor for name, tensor in batch().items() if name != "token_type_ids"}
            torch.testing.assert_close(adapted.logits(inputs), expected, rtol=0, atol=2e-6)

    @EVERY_WAY
    def test_it_depends_on_the_seed_alone(self, method: str, variant: str) -> None:
        torch.manual_seed(0)
        before = torch.get_rng_state()
        alone = make(method, variant, seed=3).state()
        assert torch.equal(torch.get_rng_state(), before)
        with noise(), ThreadPoolExecutor(3) as pool:
            together = list(pool.map(lambda seed: make(method, variant, seed=seed).state(), (3, 4, 3)))
        assert all(torch.equal(alone[name], together[0][name]) for name in alone)
        assert all(torch.equal(alone[name], together[2][name]) for name in alone)
        assert any(not torch.equal(alone[name], together[1][name]) for name in alone)

    def test_every_method_has_the_same_head(self) -> None:
        heads = [make(method.slug).trainable() for method in METHODS]
        first, *others = (
            next(tensor for name, tensor in head.items() if name.endswith("classifier.weight")) for head in heads
        )
        assert all(torch.equal(first, other) for other in others)


class TestLogits:
    @by_pairs("method", ["head", "lora", "prompt", "prefix", "pfeiffer"])
    def test_padding_changes_nothing_whatever_token_it_is(self, architecture: Architecture, method: str) -> None:
        if method == "prefix" and not architecture.layers.takes_prefix:
            pytest.skip("no prefix")
        adapted = moved(tiny_loaded(architecture.family), method, rank=4)
        inputs = {name: tensor for name, tensor in batch(length=8).items() if name != "token_type_ids"}
        alone = {name: tensor[2:, :4] for name, tensor in inputs.items()}
        other = {**inputs, "input_ids": inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, 7)}
        with torch.no_grad():
            together = adapted.logits(inputs)
            torch.testing.assert_close(together[2:], adapted.logits(alone), rtol=1e-4, atol=2e-6)
            assert torch.equal(adapted.logits(other), together)
            torch.testing.assert_close(
                adapted.logits({"input_ids": inputs["input_ids"][:2]}), together[:2], rtol=1e-4, atol=2e-6
            )

    def test_token_types_reach_the_models_that_have_them(self) -> None:
        types = {"token_type_ids": torch.ones(3, 8, dtype=torch.long)}
        for family, differs in (("BERT", True), ("GPT-2", False), ("DistilBERT", False)):
            adapted = moved(tiny_loaded(family))
            with torch.no_grad():
                same = torch.equal(adapted.logits(batch()), adapted.logits(batch() | types))
            assert same != differs

    def test_only_the_adapters_own_dropout_is_switched_on(self) -> None:
        for method in ("lora", "houlsby", "pfeiffer"):
            adapted = moved(tiny_loaded("BERT"), method, rank=4, dropout=0.5)
            adapted.train()
            assert not torch.equal(adapted.logits(batch()), adapted.logits(batch()))
            adapted.eval()
            assert torch.equal(adapted.logits(batch()), adapted.logits(batch()))
            plain = moved(tiny_loaded("BERT"), method, rank=4, dropout=0.0)
            plain.train()
            assert torch.equal(plain.logits(batch()), adapted.logits(batch()))

    def test_dropout_repeats_with_the_seed_under_noise(self) -> None:
        def run() -> list[Tensor]:
            adapted = moved(tiny_loaded("BERT"), rank=4, dropout=0.5)
            adapted.train()
            return [adapted.logits(batch()).detach() for _ in range(3)]

        with noise():
            assert all(torch.equal(one, other) for one, other in zip(run(), run(), strict=True))

    def test_many_threads_may_ask_at_once(self) -> None:
        adapted = moved(tiny_loaded("GPT-2"), "prompt")
        batches = [batch(rows=rows, length=length) for rows in (1, 2, 3) for length in (6, 8)]
        with torch.no_grad():
            expected = [adapted.logits(inputs) for inputs in batches]
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda inputs: adapted.logits(inputs).detach(), batches * 5))
        assert all(torch.equal(answer, expected[number % 6]) for number, answer in enumerate(answers))


class TestState:
    @EVERY_WAY
    def test_it_restores_the_model_in_another_one(self, method: str, variant: str, tmp_path: Path) -> None:
        loaded = tiny_loaded("BERT")
        before = frozen_copy(loaded)
        adapted = moved(loaded, method, variant=variant, rank=4, bottleneck=8, seed=1)
        save_file(adapted.state(), tmp_path / "state.safetensors")
        fresh = make(method, variant, seed=2)
        with torch.no_grad():
            expected = adapted.logits(batch())
            assert not torch.allclose(fresh.logits(batch()), expected, atol=1e-4)
            fresh.load_state(load_file(tmp_path / "state.safetensors"))
            torch.testing.assert_close(fresh.logits(batch()), expected, rtol=0, atol=2e-6)
        assert all(torch.equal(tensor, fresh.state()[name]) for name, tensor in adapted.state().items())
        for place, delta in adapted.deltas().items():
            torch.testing.assert_close(fresh.deltas()[place].dense(), delta.dense(), rtol=0, atol=1e-6)
        assert is_unchanged(loaded, before)

    def test_it_is_a_copy(self) -> None:
        adapted = make("lora")
        state = adapted.state()
        kept = {name: tensor.clone() for name, tensor in state.items()}
        with torch.no_grad():
            for parameter in adapted.trainable().values():
                parameter += 1
        assert all(torch.equal(state[name], kept[name]) for name in kept)

    def test_what_does_not_fit_is_refused_by_name(self) -> None:
        state = make("lora").state()
        with pytest.raises(BadInputError, match="lora_A"):
            make("lora", rank=2).load_state(state)
        with pytest.raises(BadInputError, match="should be absent"):
            make("pfeiffer").load_state(state)
        with pytest.raises(BadInputError, match=r"start\..*missing"):
            make("lora", "pissa").load_state(state)

    def test_only_what_was_trained_is_in_it(self) -> None:
        assert set(make("head").state()) == {"classifier.weight", "classifier.bias"}
        assert sum(tensor.numel() for tensor in make("lora").state().values()) == 2 * 2 * 4 * (32 + 32) + 2 * 32 + 2


class TestGradients:
    @pytest.mark.parametrize(("method", "reaches"), [("head", False), ("lora", True), ("pfeiffer", True)])
    def test_nothing_below_the_lowest_adapter_is_in_the_graph(self, method: str, reaches: bool) -> None:
        adapted = make(method)
        seen: dict[str, bool] = {}
        for name in ("embeddings", "encoder.layer.0.attention.self.key", "encoder.layer.1"):
            module = adapted.fork.get_submodule(f"bert.{name}")
            module.register_forward_hook(
                lambda _, __, output, name=name: seen.update({name: output.requires_grad})  # type: ignore[misc]
            )
        adapted.train()
        adapted.logits(batch())
        assert seen == {"embeddings": False, "encoder.layer.0.attention.self.key": False, "encoder.layer.1": reaches}


class TestFeatures:
    @EVERY_FAMILY
    def test_the_head_on_kept_features_gives_the_same_logits(self, architecture: Architecture) -> None:
        adapted = moved(tiny_loaded(architecture.family), "head")
        assert adapted.frozen_body == (architecture.family != "EuroBERT")
        if not adapted.frozen_body:
            return
        features = adapted.body_output(batch())
        assert features.shape == (3, 32)
        assert not features.requires_grad
        torch.testing.assert_close(adapted.head(features), adapted.logits(batch()), rtol=0, atol=1e-6)
        adapted.head(features).sum().backward()
        assert all(parameter.grad is not None for parameter in adapted.trainable().values())

    def test_a_mean_over_the_tokens_is_a_feature_too(self) -> None:
        adapted = moved(tiny_loaded("ModernBERT"), "head")
        adapted.fork.config.classifier_pooling = "mean"
        torch.testing.assert_close(
            adapted.head(adapted.body_output(batch())), adapted.logits(batch()), rtol=0, atol=1e-6
        )

    def test_a_body_that_changes_has_none(self) -> None:
        assert not any(make(method.slug).frozen_body for method in METHODS if method.slug != "head")
        loaded = tiny_loaded("BERT", "BertForMaskedLM")
        assert not adapt(loaded, 2, RunSpec("tiny", method="head")).frozen_body


class TestRoom:
    def test_virtual_tokens_leave_less_for_the_text(self) -> None:
        longest = tiny_loaded("BERT").longest
        assert make("lora").longest == longest
        assert make("prompt", prefix_length=5).longest == longest - 5
        ids = torch.full((1, longest - 5), 6)
        for method in ("prompt", "prefix"):
            assert make(method, prefix_length=5).logits({"input_ids": ids}).isfinite().all()

    def test_too_many_are_refused(self) -> None:
        with pytest.raises(BadInputError, match=r"reads 24 tokens in all\. Take 12 or less"):
            make("prefix", prefix_length=13)
