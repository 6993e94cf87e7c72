"""Students on plain text: what is hidden, what they learn from, and that nobody else changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cosine_similarity, cross_entropy, kl_div, log_softmax, mse_loss, softmax
from transformers import AutoModelForMaskedLM

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.models.families import ARCHITECTURES, Architecture, Capability
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from explorer.tasks.formats.text import TEXT
from explorer.tasks.task import Example
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.distilling import AGREEMENT
from explorer.tuning.files.export import export_adapter, export_merged
from explorer.tuning.forks import fork_masked
from explorer.tuning.masked import (
    ACCURACY,
    LEARNT,
    MASKED_LOSS,
    MEASURED,
    Hidden,
    MaskedTraining,
    Masks,
    read_masked,
    rows_of,
)
from explorer.tuning.merging import as_mask_filler
from explorer.tuning.plan import plan
from explorer.tuning.spec import RunSpec
from tests.models.tiny import WORDS, save
from tests.tuning.files.kept import record, unpacked
from tests.tuning.samples import frozen_copy, is_unchanged, moved, tiny_loaded
from tests.tuning.small import CATS, examples, losses
from tests.tuning.teaching import same

SPEC = RunSpec("tiny", "text", "distill_text", student_layers=1, epochs=2, learning_rate=1e-3, batch_size=16)
ALL_TERMS = replace(SPEC, soft_weight=5.0, hard_weight=2.0, cosine_weight=1.0)
FILLING = [entry for entry in ARCHITECTURES if Capability.MLM in entry.heads]
EVERY_FAMILY = pytest.mark.parametrize("architecture", FILLING, ids=lambda entry: entry.family)
TRAIN, HELD_OUT = (
    tuple(replace(one, label=0.0) for one in examples(CATS, count, seed)) for count, seed in ((32, 1), (16, 2))
)


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """The shared model, which teaches, is what it was, whatever a test does."""
    loaded = tiny_loaded("BERT")
    before = frozen_copy(loaded)
    yield
    assert is_unchanged(loaded, before)
    assert all(weight.grad is None and not weight.requires_grad for weight in loaded.model.parameters())


def training_of(spec: RunSpec = SPEC, family: str = "BERT") -> MaskedTraining:
    """As the worker makes one."""
    loaded = tiny_loaded(family)
    adapted = adapt(loaded, 1, spec)
    train, held_out = (rows_of(loaded, part, adapted.longest) for part in (TRAIN, HELD_OUT))
    return MaskedTraining(adapted, TEXT, train, held_out, spec, spec.learning_rate or 1e-3)


def whole(model: Any, hidden: Hidden) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and states by transformers itself, the head over all positions."""
    output = model(**hidden.inputs, output_hidden_states=True)
    logits = output.prediction_logits if "prediction_logits" in output else output.logits
    return logits[hidden.chosen], output.hidden_states[-1]


class TestMasks:
    def test_bert_hides_fifteen_percent_and_never_a_special_token(self) -> None:
        training = training_of()
        rows = training.train_rows
        counts = {"mask": 0, "kept": 0, "other": 0}
        for epoch in range(60):
            hidden = training.masks.hide(rows, range(len(rows)), LEARNT, 0, epoch)
            shown, truth = hidden.inputs["input_ids"][hidden.chosen], hidden.truth
            counts["mask"] += int((shown == training.masks.mask).sum())
            counts["kept"] += int((shown == truth).sum())
            counts["other"] += int(((shown != truth) & (shown != training.masks.mask)).sum())
            assert not set(truth.tolist()) & training.masks.special
            assert bool(hidden.inputs["attention_mask"][hidden.chosen].all())
        total = sum(counts.values())
        assert total == 60 * sum(max(1, round(0.15 * (length - 2))) for length in rows.lengths.tolist())
        assert counts["mask"] / total == pytest.approx(0.8, abs=0.03)
        assert counts["other"] / total == pytest.approx(0.1, abs=0.03)

    def test_what_is_hidden_depends_on_the_row_and_the_key_alone(self) -> None:
        training = training_of()
        masks, rows = training.masks, training.train_rows
        one, again = masks.hide(rows, [3], LEARNT, 0, 0), masks.hide(rows, [5, 3], LEARNT, 0, 0)
        length = int(rows.lengths[3])
        assert torch.equal(one.inputs["input_ids"][0, :length], again.inputs["input_ids"][1, :length])
        drawn = {tuple(masks.hide(rows, [3], LEARNT, 0, epoch).inputs["input_ids"][0].tolist()) for epoch in range(12)}
        assert len(drawn) > 2, "other words in other epochs"

    def test_held_out_words_are_all_masks_and_the_same_for_every_run(self) -> None:
        for spec in (SPEC, replace(SPEC, seed=5)):
            training = training_of(spec)
            hidden = training.masks.hide(training.held_out, range(16), MEASURED, 1)
            assert set(hidden.inputs["input_ids"][hidden.chosen].tolist()) == {training.masks.mask}
        assert training_of().measured is not None
        first, other = (training_of(replace(SPEC, seed=seed)).quick_scores() for seed in (0, 7))
        assert first == other, "before the first step the seed has drawn nothing that is measured"

    def test_a_text_without_a_known_word_is_left_out(self) -> None:
        loaded = tiny_loaded("BERT")
        unknown = Example("zebra", None, 0.0)
        assert len(rows_of(loaded, (unknown, *TRAIN), 24)) == len(TRAIN)
        with pytest.raises(BadInputError, match="knows none of the words"):
            rows_of(loaded, (unknown,), 24)


class TestLoss:
    @pytest.mark.parametrize("soft_loss", ["kl", "l2"])
    @pytest.mark.parametrize("spec", [SPEC, ALL_TERMS], ids=["soft", "all"])
    def test_the_first_loss_is_the_weighted_sum_of_its_terms(self, spec: RunSpec, soft_loss: str) -> None:
        spec = replace(spec, temperature=3.0, soft_loss=soft_loss, batch_size=32)
        training = training_of(spec)
        hidden = training.masks.hide(training.train_rows, range(32), LEARNT, 0, 0)
        draw = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in training.adapted.trainable().values():
                parameter += 0.2 * torch.randn(parameter.shape, generator=draw)
            zt, ht = whole(tiny_loaded("BERT").model, hidden)
            zs, hs = whole(training.adapted.fork, hidden)
            words = hidden.inputs["attention_mask"].bool()
            soft = 9 * kl_div(log_softmax(zs / 3, -1), softmax(zt / 3, -1), reduction="batchmean")
            expected = spec.soft_weight * (soft if soft_loss == "kl" else mse_loss(zs, zt))
            expected += spec.hard_weight * cross_entropy(zs, hidden.truth)
            expected += spec.cosine_weight * (1 - cosine_similarity(hs[words], ht[words], dim=-1)).mean()
        assert losses(training, 1)[0] == pytest.approx(float(expected), rel=3e-2)

    def test_all_of_its_teachers_layers_leave_nothing_to_learn(self) -> None:
        spec = replace(ALL_TERMS, student_layers=2, hard_weight=0.0)
        training = training_of(spec)
        assert losses(training, 1)[0] == pytest.approx(0, abs=2e-3)
        scores = training_of(spec).quick_scores()
        assert scores[AGREEMENT] == 1

    def test_the_hidden_words_alone_ask_no_teacher(self, monkeypatch: pytest.MonkeyPatch) -> None:
        training = training_of(replace(SPEC, soft_weight=0.0, hard_weight=1.0, batch_size=32))
        hidden = training.masks.hide(training.train_rows, range(32), LEARNT, 0, 0)
        with torch.no_grad():
            expected = float(cross_entropy(whole(training.adapted.fork, hidden)[0], hidden.truth))
        monkeypatch.setattr(training, "teacher", None)
        monkeypatch.setattr(training, "_is_evaluated", lambda: False)
        assert losses(training, 1)[0] == pytest.approx(expected, rel=2e-2)

    def test_the_head_on_the_chosen_places_is_the_head_on_all(self) -> None:
        loaded = tiny_loaded("BERT")
        rows = rows_of(loaded, TRAIN[:4], 24)
        hidden = Masks(loaded.tokenizer).hide(rows, range(4), LEARNT, 0)
        model = fork_masked(loaded)
        with torch.no_grad():
            logits, states = read_masked(model, hidden.inputs, hidden.chosen)
            expected, last = whole(loaded.model, hidden)
        torch.testing.assert_close(logits, expected)
        torch.testing.assert_close(states, last)
        assert not model.bert._forward_hooks


class TestLearning:
    def test_a_student_learns_its_teachers_guesses(self) -> None:
        training = training_of(replace(SPEC, start="random", epochs=40, learning_rate=5e-3))
        before = training.quick_scores()[AGREEMENT]
        curve = losses(training)
        after = training.quick_scores()[AGREEMENT]
        assert sum(curve[-5:]) < 0.6 * sum(curve[:5])
        assert before is not None
        assert after is not None
        assert after > max(before, 0.3)

    def test_hidden_words_teach_which_words_there_are(self) -> None:
        training = training_of(replace(SPEC, soft_weight=0.0, hard_weight=1.0, epochs=20, learning_rate=5e-3))
        before, _ = training.measured(training.held_out)
        losses(training)
        after, words = training.measured(training.held_out)
        assert after[MASKED_LOSS] < before[MASKED_LOSS]  # type: ignore[operator]
        assert words == int(sum(max(1, round(0.15 * (length - 2))) for length in training.held_out.lengths))

    def test_the_teachers_own_line_is_the_whole_models(self) -> None:
        training = training_of(replace(SPEC, student_layers=2))
        own, _ = training.measured(training.held_out)
        assert training.reference == pytest.approx({ACCURACY: own[ACCURACY], MASKED_LOSS: own[MASKED_LOSS]}, rel=1e-6)

    @EVERY_FAMILY
    def test_every_family_that_fills_masks(self, architecture: Architecture) -> None:
        loaded = tiny_loaded(architecture.family)
        before = frozen_copy(loaded)
        training = training_of(ALL_TERMS, architecture.family)
        fork = training.adapted.fork
        tied = fork.get_output_embeddings().weight is fork.get_input_embeddings().weight
        assert tied == bool(fork.config.tie_word_embeddings)
        assert all(value == value for value in losses(training, 3))
        assert is_unchanged(loaded, before)
        assert (fork.get_output_embeddings().weight is fork.get_input_embeddings().weight) == tied
        planned = plan(loaded, 1, ALL_TERMS, 10, 8.0)
        assert planned.total == planned.trainable == sum(value.numel() for value in fork.parameters())

    @pytest.mark.parametrize("stop", [1, 3])
    def test_an_interrupted_student_ends_where_an_uninterrupted_one_does(self, stop: int) -> None:
        undisturbed = training_of(ALL_TERMS)
        expected = losses(undisturbed)
        first = training_of(ALL_TERMS)
        before = losses(first, stop)
        again = training_of(ALL_TERMS)
        again.load_state({name: tensor.clone() for name, tensor in first.state().items()})
        assert before + losses(again) == pytest.approx(expected, abs=1e-6)
        assert same(again.adapted.state(), undisturbed.adapted.state())

    def test_a_random_start_depends_on_the_seed_alone(self) -> None:
        states = [adapt(tiny_loaded("BERT"), 1, replace(SPEC, start="random", seed=seed)).state() for seed in (0, 0, 1)]
        assert same(states[0], states[1])
        assert not same(states[0], states[2])


class TestRefused:
    @pytest.mark.parametrize("family", ["GPT-2", "ELECTRA discriminator"])
    def test_a_family_that_fills_no_masks(self, family: str) -> None:
        with pytest.raises(BadInputError, match="fills no masks"):
            adapt(tiny_loaded(family), 1, SPEC)

    def test_a_checkpoint_without_the_head(self) -> None:
        with pytest.raises(MissingCapabilityError, match="cannot fill masks"):
            adapt(tiny_loaded("BERT", "BertForSequenceClassification"), 1, SPEC)

    def test_more_layers_than_there_are(self) -> None:
        with pytest.raises(BadInputError, match="cannot be cut from 2"):
            adapt(tiny_loaded("BERT"), 1, replace(SPEC, student_layers=3))

    def test_it_has_no_classes_and_no_update(self) -> None:
        student = adapt(tiny_loaded("BERT"), 1, SPEC)
        with pytest.raises(BadInputError, match="knows no classes"):
            student.logits({})
        with pytest.raises(BadInputError, match="layers of its own"):
            student.deltas()


def student_of(loaded: LoadedModel) -> Adapted:
    return moved(loaded, "distill_text", 1, student_layers=1, task="text")


@EVERY_FAMILY
def test_a_student_goes_home_as_a_whole_model(architecture: Architecture, tmp_path: Path) -> None:
    student = student_of(tiny_loaded(architecture.family))
    facts = record(student, TEXT)
    with pytest.raises(BadInputError, match="kind = merged"):
        export_adapter(student, facts, None, tmp_path / "no.zip")
    folder = unpacked(export_merged(student, facts, tmp_path / "student.zip"))
    card = (folder / "README.md").read_text()
    assert 'pipeline_tag: "fill-mask"' in card
    assert "a word for each mask" in card
    assert "one score" not in card
    loaded: Any = AutoModelForMaskedLM.from_pretrained(folder).eval()
    inputs = {"input_ids": torch.tensor([[2, 6, 4, 7, 3]]), "attention_mask": torch.ones(1, 5, dtype=torch.long)}
    with torch.no_grad():
        torch.testing.assert_close(loaded(**inputs).logits, student.fork(**inputs).logits, atol=1e-5, rtol=1e-4)
    opened = load_model(str(folder), Settings(device="cpu"))
    assert opened.capabilities == {Capability.MLM}
    assert opened.model.config.num_hidden_layers == 1


def test_it_is_asked_like_any_model_that_fills_masks(tmp_path: Path) -> None:
    student = student_of(load_model(str(save(tmp_path, "BERT")), Settings(device="cpu")))
    opened = as_mask_filler(student, "mine")
    inputs = {"input_ids": torch.tensor([[2, 6, 4, 7, 3]])}
    with torch.no_grad():
        logits = opened.logits(Capability.MLM, opened.model(**inputs))
    assert logits.shape == (1, 5, len(WORDS))
    assert opened.capabilities == {Capability.MLM}
