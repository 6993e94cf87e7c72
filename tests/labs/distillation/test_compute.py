"""Soft targets and losses of real forward passes, against transformers and torch used directly."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax, softmax
from transformers import BertForMaskedLM, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.labs.distillation import jobs as compute
from explorer.labs.distillation.params import LossesParams, SoftTargetsParams
from explorer.labs.distillation.schema import REST
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.labs.distillation.opening import Opening, opening, record
from tests.models.tiny import save
from tests.tuning.samples import frozen_copy, is_unchanged, moved, tiny_loaded

TEXT = "The capital of France is [MASK]."
EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)


@pytest.fixture(autouse=True)
def as_a_job() -> object:
    """Jobs run in inference mode."""
    with torch.inference_mode():
        yield


class TestVocabulary:
    @pytest.mark.parametrize("temperature", [0.1, 1.0, 20.0])
    def test_the_targets_are_the_softened_softmax_of_the_whole_vocabulary(
        self,
        loaded: LoadedModel,
        masked_lm: BertForMaskedLM,
        tokenizer: PreTrainedTokenizerBase,
        tmp_path: Path,
        temperature: float,
    ) -> None:
        params = SoftTargetsParams(TEXT, temperature, "bert-small", top_k=5)
        result = compute.soft_targets(opening(tmp_path, {"bert-small": loaded}), params)
        encoded = tokenizer(TEXT, return_tensors="pt")
        place = encoded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        logits = masked_lm(**encoded).logits[0, place].double()
        expected = (logits / temperature).softmax(-1)
        best = logits.topk(5).indices.tolist()
        named = result.targets[:5]
        assert [target.name for target in named] == [tokenizer.decode([number]) for number in best]
        for target, number in zip(named, best, strict=True):
            assert target.logit == pytest.approx(float(logits[number]), abs=1e-3)
            assert target.soft == pytest.approx(float(expected[number]), rel=5e-2 if temperature < 1 else 2e-3)
        assert [target.hard for target in result.targets] == [1, 0, 0, 0, 0, 0]
        assert result.targets[5].name == REST
        assert sum(target.soft for target in result.targets) == pytest.approx(1, abs=1e-12)
        assert result.classes == len(logits)
        assert result.dark == pytest.approx(1 - named[0].soft, abs=1e-12)

    def test_what_goes_to_the_page_is_all_of_the_logits(self, loaded: LoadedModel, tmp_path: Path) -> None:
        result = compute.soft_targets(
            opening(tmp_path, {"bert-small": loaded}), SoftTargetsParams(TEXT, 3.0, "bert-small")
        )
        logits = np.frombuffer(base64.b64decode(result.logits), dtype="<f4").astype(np.float64)
        assert len(logits) == result.classes
        assert (np.diff(logits) <= 0).all()
        weights = np.exp((logits - logits[0]) / 3)
        shares = weights / weights.sum()
        assert shares[:8].tolist() == pytest.approx([target.soft for target in result.targets[:8]], rel=1e-9)
        assert shares[8:].sum() == pytest.approx(result.targets[8].soft, rel=1e-9)
        assert -(shares * np.log(shares)).sum() == pytest.approx(result.entropy, rel=1e-9)

    def test_the_curve_goes_from_certain_to_even(self, loaded: LoadedModel, tmp_path: Path) -> None:
        opened = opening(tmp_path, {"bert-small": loaded})
        result = compute.soft_targets(opened, SoftTargetsParams(TEXT, 2.0, "bert-small"))
        temperatures, entropies, dark = zip(*result.curve, strict=True)
        assert (temperatures[0], temperatures[-1]) == pytest.approx((0.1, 20))
        assert list(entropies) == sorted(entropies)
        assert list(dark) == sorted(dark)
        hot = compute.soft_targets(opened, SoftTargetsParams(TEXT, 1000.0, "bert-small"))
        assert hot.entropy == pytest.approx(math.log(hot.classes), rel=1e-3)
        cold = compute.soft_targets(opened, SoftTargetsParams(TEXT, 1e-3, "bert-small"))
        assert [target.soft for target in cold.targets] == pytest.approx([target.hard for target in cold.targets])


@EVERY_FAMILY
def test_every_family_answers_with_its_own_head(architecture: Architecture, tmp_path: Path) -> None:
    loaded = tiny_loaded(architecture.family)
    before = frozen_copy(loaded)
    opened = opening(tmp_path, {"tiny": loaded})
    text = f"the cat sat on the {loaded.tokenizer.mask_token or ''} ."
    second = "a mat sat" if len(loaded.capabilities) > 1 else ""
    result = compute.soft_targets(opened, SoftTargetsParams(text, 2.0, "tiny", second=second))
    assert sum(target.soft for target in result.targets) == pytest.approx(1)
    same = compute.distillation_losses(opened, LossesParams(text, 2.0, "tiny", second=second, student_layers=2))
    assert all(loss.value == pytest.approx(0, abs=1e-5) for loss in same.losses if loss.slug in ("soft", "kl", "l2"))
    half = compute.distillation_losses(opened, LossesParams(text, 2.0, "tiny", second=second))
    values = {loss.slug: loss.value for loss in half.losses}
    assert values["soft"] is not None
    assert values["soft"] > 0
    assert half.student.endswith("with 1 of 2 layers")
    assert is_unchanged(loaded, before)


class TestTruth:
    def test_the_hard_target_is_the_visitors_answer_where_they_give_one(self, tmp_path: Path) -> None:
        opened = opening(tmp_path, r=moved(tiny_loaded("BERT"), rank=4))
        for answer in ("no", "yes"):
            result = compute.soft_targets(opened, SoftTargetsParams("the cat sat", run="r", answer=answer))
            assert {target.name: target.hard for target in result.targets} == {
                "no": answer == "no",
                "yes": answer == "yes",
            }
            assert result.truth == answer
            assert result.truth_soft == next(target.soft for target in result.targets if target.name == answer)

    @pytest.mark.parametrize("answer", ["no", "yes", ""])
    def test_the_hard_loss_is_against_it_on_losses_too(self, tmp_path: Path, answer: str) -> None:
        opened = opening(tmp_path, r=moved(tiny_loaded("BERT"), rank=4))
        params = LossesParams("the cat sat", run="r", student_layers=1, answer=answer)
        result = compute.distillation_losses(opened, params)
        hard = next(loss for loss in result.losses if loss.slug == "hard")
        logits = torch.tensor([row.student_logit for row in result.classes], dtype=torch.float64)[None]
        true = [row.name for row in result.classes].index(answer or result.answer)
        assert hard.value == pytest.approx(float(cross_entropy(logits, torch.tensor([true]))))
        assert hard.title.endswith("true answer" if answer else "first choice")
        assert result.truth == answer

    def test_a_word_beyond_those_that_are_named_is_in_the_rest(self, tmp_path: Path) -> None:
        opened = opening(tmp_path, {"tiny": tiny_loaded("BERT")})
        ranked = compute.soft_targets(opened, SoftTargetsParams("the [MASK] sat", 1.0, "tiny", top_k=30)).targets
        asked = SoftTargetsParams("the [MASK] sat", 1.0, "tiny", top_k=1, answer=ranked[4].name.strip())
        first, rest = compute.soft_targets(opened, asked).targets
        assert (first.hard, rest.hard) == (0.0, 1.0)

    def test_what_is_no_answer_is_refused(self, tmp_path: Path) -> None:
        opened = opening(tmp_path, {"tiny": tiny_loaded("BERT")})
        with pytest.raises(BadInputError, match="is not one of the"):
            compute.soft_targets(opened, SoftTargetsParams("the [MASK] sat", 1.0, "tiny", answer="no such word"))


def test_a_model_that_continues_a_text_is_asked_up_to_the_blank(tmp_path: Path) -> None:
    opened = opening(tmp_path, {"tiny": tiny_loaded("GPT-2")})
    cut, plain = (
        compute.soft_targets(opened, SoftTargetsParams(text, 1.0, "tiny")) for text in ("the cat [MASK].", "the cat")
    )
    assert cut.targets == plain.targets
    assert "blank" in cut.asked
    with pytest.raises(BadInputError, match="before the blank"):
        compute.soft_targets(opened, SoftTargetsParams("[MASK] cat", 1.0, "tiny"))


class TestRuns:
    def test_a_runs_classes_are_named_whole(self, tmp_path: Path) -> None:
        teacher = moved(tiny_loaded("BERT"), rank=4)
        opened = opening(tmp_path, r=teacher)
        result = compute.soft_targets(opened, SoftTargetsParams("the cat sat", 2.0, run="r", top_k=1))
        assert {target.name for target in result.targets} == {"no", "yes"}
        inputs = teacher.loaded.tokenizer("the cat sat", return_tensors="pt")
        logits = teacher.logits(inputs)[0].double()
        by_name = dict(zip(("no", "yes"), (logits / 2).softmax(-1).tolist(), strict=True))
        for target in result.targets:
            assert target.soft == pytest.approx(by_name[target.name], abs=1e-6)
        assert result.asked == "which class"

    @pytest.mark.parametrize("method", ["lora", "prompt", "prefix", "houlsby", "full"])
    @pytest.mark.parametrize("family", ["BERT", "GPT-2"])
    def test_every_method_can_teach(self, family: str, method: str, tmp_path: Path) -> None:
        opened = opening(tmp_path, r=moved(tiny_loaded(family), method))
        result = compute.distillation_losses(opened, LossesParams("the cat sat", run="r", run_student="r"))
        values = {loss.slug: loss.value for loss in result.losses}
        assert values["soft"] == values["l2"] == 0
        assert values["cosine"] == pytest.approx(0, abs=1e-9)
        assert result.limit == 0
        assert all(point[1] == pytest.approx(0, abs=1e-12) for point in result.gradients)

    @pytest.mark.parametrize("method", ["lora", "houlsby"])
    def test_with_all_of_its_layers_a_run_is_its_own_student(self, method: str, tmp_path: Path) -> None:
        opened = opening(tmp_path, r=moved(tiny_loaded("BERT"), method))
        result = compute.distillation_losses(opened, LossesParams("the cat sat", run="r", student_layers=2))
        assert result.student == result.teacher
        assert {loss.value for loss in result.losses if loss.slug in ("soft", "kl", "l2")} == {0.0}

    def test_each_loss_is_what_torch_says(self, tmp_path: Path) -> None:
        one, other = moved(tiny_loaded("BERT")), moved(tiny_loaded("BERT"), seed=3)
        params = LossesParams("the cat sat on a mat", 3.0, run="one", run_student="other", alpha=0.25)
        result = compute.distillation_losses(opening(tmp_path, one=one, other=other), params)
        inputs = one.loaded.tokenizer("the cat sat on a mat", return_tensors="pt")
        zt, zs = (adapted.logits(inputs).double() for adapted in (one, other))
        divergence = float(kl_div(log_softmax(zs / 3, -1), softmax(zt / 3, -1), reduction="sum"))
        hard = float(cross_entropy(zs, zt.argmax(-1)))
        values = {loss.slug: loss.value for loss in result.losses}
        assert values["kl"] == pytest.approx(divergence, rel=1e-4)
        assert values["soft"] == pytest.approx(9 * divergence, rel=1e-4)
        assert values["l2"] == pytest.approx(float(((zs - zt) ** 2).mean()), rel=1e-4)
        assert values["hard"] == pytest.approx(hard, rel=1e-4)
        assert values["weighted"] == pytest.approx(0.25 * 9 * divergence + 0.75 * hard, rel=1e-4)
        states = [adapted.logits_and_states(inputs)[1][0].double() for adapted in (one, other)]
        assert values["cosine"] == pytest.approx(1 - float(torch.cosine_similarity(*states, dim=0)), abs=1e-5)

    @pytest.mark.parametrize(("alpha", "single"), [(0.0, "hard"), (1.0, "soft")])
    def test_the_ends_of_the_average_are_the_single_losses(self, alpha: float, single: str, tmp_path: Path) -> None:
        opened = opening(tmp_path, one=moved(tiny_loaded("BERT")), other=moved(tiny_loaded("BERT"), seed=3))
        params = LossesParams("the cat", run="one", run_student="other", alpha=alpha)
        values = {loss.slug: loss.value for loss in compute.distillation_losses(opened, params).losses}
        assert values["weighted"] == values[single]

    def test_the_gradients_differ_by_the_factor_and_reach_the_limit(self, tmp_path: Path) -> None:
        opened = opening(tmp_path, one=moved(tiny_loaded("BERT")), other=moved(tiny_loaded("BERT"), seed=3))
        result = compute.distillation_losses(opened, LossesParams("the cat", run="one", run_student="other"))
        for temperature, plain, scaled in result.gradients:
            assert scaled == pytest.approx(temperature**2 * plain, rel=1e-9)
        assert result.gradients[-1][2] == pytest.approx(result.limit, rel=5e-2)


class TestRefusing:
    def test_states_of_another_width_have_no_cosine(self, tmp_path: Path) -> None:
        with torch.inference_mode(False):
            wide = load_model(str(save(tmp_path / "wide", "BERT", hidden_size=64)), Settings(device="cpu"))
        opened = opening(tmp_path, one=moved(tiny_loaded("BERT")), other=moved(wide))
        result = compute.distillation_losses(opened, LossesParams("the cat", run="one", run_student="other"))
        cosines = [loss for loss in result.losses if loss.slug.startswith("cosine")]
        assert [loss.value for loss in cosines] == [None, None]
        assert all("32 and of 64" in loss.note for loss in cosines)

    def test_a_score_has_no_soft_targets(self, tmp_path: Path) -> None:
        adapted = moved(tiny_loaded("BERT"), outputs=1)
        opened = Opening(tmp_path, {"r": (record(adapted, "r", labels=()), adapted)})
        with pytest.raises(BadInputError, match="One number has no soft targets"):
            compute.soft_targets(opened, SoftTargetsParams("the cat", run="r"))  # type: ignore[arg-type]

    def test_runs_of_different_tasks(self, tmp_path: Path) -> None:
        one, other = moved(tiny_loaded("BERT")), moved(tiny_loaded("BERT"), outputs=3)
        runs = {"one": (record(one, "one"), one), "other": (record(other, "other", labels=("a", "b", "c")), other)}
        with pytest.raises(BadInputError, match="two runs of the same task"):
            compute.distillation_losses(
                Opening(tmp_path, runs),  # type: ignore[arg-type]
                LossesParams("the cat", run="one", run_student="other"),
            )

    def test_a_pretrained_head_and_a_run(self, tmp_path: Path) -> None:
        opened = opening(tmp_path, {"tiny": tiny_loaded("BERT")}, r=moved(tiny_loaded("BERT")))
        with pytest.raises(BadInputError, match="nothing to compare"):
            compute.distillation_losses(opened, LossesParams("the [MASK] sat", model="tiny", run_student="r"))

    def test_a_pair_without_its_second_text(self, tmp_path: Path) -> None:
        adapted = moved(tiny_loaded("BERT"))
        runs = {"r": (record(adapted, "r", columns=("one", "two")), adapted)}
        with pytest.raises(BadInputError, match="type the second one"):
            compute.soft_targets(Opening(tmp_path, runs), SoftTargetsParams("the cat", run="r"))  # type: ignore[arg-type]

    def test_more_layers_than_the_teacher_and_adapters_that_cannot_be_cut(self, tmp_path: Path) -> None:
        opened = opening(tmp_path, lora=moved(tiny_loaded("BERT")), houlsby=moved(tiny_loaded("BERT"), "houlsby"))
        with pytest.raises(BadInputError, match="cannot be cut from 2"):
            compute.distillation_losses(opened, LossesParams("the cat", run="lora", student_layers=3))
        with pytest.raises(BadInputError, match="cannot be merged"):
            compute.distillation_losses(opened, LossesParams("the cat", run="houlsby"))

    def test_nothing_is_asked_without_a_mask(self, tmp_path: Path) -> None:
        with pytest.raises(BadInputError, match=r"write \[MASK\]"):
            compute.soft_targets(
                opening(tmp_path, {"tiny": tiny_loaded("RoBERTa")}), SoftTargetsParams("the cat", model="tiny")
            )


def test_the_same_question_gives_the_same_answer(loaded: LoadedModel, tmp_path: Path) -> None:
    opened, params = opening(tmp_path, {"bert-small": loaded}), SoftTargetsParams(TEXT, 2.0, "bert-small")
    assert compute.soft_targets(opened, params) == compute.soft_targets(opened, replace(params))
