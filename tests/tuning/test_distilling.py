"""What a student learns from, and that nobody else changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax, mse_loss, softmax

from explorer.models.families import Architecture
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Task, TaskData
from explorer.tuning.distilling import AGREEMENT, Teaching
from explorer.tuning.reading import Scale, decide, predict
from explorer.tuning.rows import tokenise
from explorer.tuning.students import labels_only, lesson_of
from explorer.tuning.training import Training
from tests.tuning import teaching
from tests.tuning.samples import frozen_copy, is_unchanged, tiny_loaded
from tests.tuning.small import BOTH, CATS, WEIGHT, data, losses
from tests.tuning.teaching import (
    EVERY_FAMILY,
    SPEC,
    WITH_COSINE,
    hard_training,
    same,
    student_of,
    teacher_of,
    training_of,
)

unchanged = teaching.unchanged


class TestLoss:
    @pytest.mark.parametrize("weights", [{"soft_weight": 1.0}, WITH_COSINE], ids=["soft", "all"])
    @pytest.mark.parametrize("soft_loss", ["kl", "l2"])
    def test_the_first_loss_is_the_weighted_sum_of_its_terms(self, weights: dict[str, float], soft_loss: str) -> None:
        spec = replace(SPEC, soft_loss=soft_loss, temperature=3.0, batch_size=48, **weights)  # type: ignore[arg-type]
        task_data = data()
        training = training_of(spec, task_data)
        rows = training.train_rows
        student, teacher = training.adapted, teacher_of()
        with torch.no_grad():
            inputs, labels = rows.batch(range(len(rows)), torch.device("cpu"))
            zs, hs = student.logits_and_states(inputs)
            zt, ht = teacher.logits_and_states(inputs)
            soft = 9 * kl_div(log_softmax(zs / 3, -1), softmax(zt / 3, -1), reduction="batchmean")
            expected = spec.soft_weight * (soft if soft_loss == "kl" else mse_loss(zs, zt))
            expected += spec.hard_weight * cross_entropy(zs, labels.long())
            expected += spec.cosine_weight * (1 - torch.cosine_similarity(hs, ht)).mean()
        assert losses(training, 1)[0] == pytest.approx(float(expected), rel=2e-2)

    def test_the_teacher_itself_has_nothing_to_learn(self) -> None:
        training = training_of(replace(SPEC, student_layers=2, batch_size=48), data())
        assert losses(training, 1)[0] == pytest.approx(0, abs=1e-3)

    @pytest.mark.parametrize("task", [CATS, BOTH, WEIGHT], ids=lambda task: task.slug)
    def test_labels_alone_are_the_plain_training(self, task: Task) -> None:
        spec = replace(SPEC, soft_weight=0.0, hard_weight=1.0, soft_loss="l2")
        taught, plain = training_of(spec, data(task)), hard_training(spec, data(task))
        assert losses(taught) == losses(plain)
        assert same(taught.adapted.state(), plain.adapted.state())

    def test_soft_targets_alone_need_no_labels(self) -> None:
        task_data = data()
        wrong = replace(task_data, train=tuple(replace(one, label=1 - one.label) for one in task_data.train))
        one, other = (training_of(SPEC, which) for which in (task_data, wrong))
        assert losses(one) == losses(other)
        assert same(one.adapted.state(), other.adapted.state())

    def test_a_mixture_is_neither(self) -> None:
        mixed, soft, hard = (
            training_of(replace(SPEC, soft_weight=share, hard_weight=1 - share), data()) for share in (0.5, 1.0, 0.0)
        )
        first = [losses(one, 1)[0] for one in (mixed, soft, hard)]
        assert first[0] == pytest.approx((first[1] + first[2]) / 2, rel=1e-5)

    def test_a_regression_learns_from_the_score_in_its_own_unit(self) -> None:
        """The teacher's scale is another one than the student's, as when it was trained on other examples."""
        spec = replace(SPEC, soft_loss="l2", batch_size=48, student_layers=2)
        scale = Scale(100.0, 3.0)
        training = training_of(spec, data(WEIGHT), scale=scale)
        rows = training.train_rows
        theirs = predict(teacher_of(outputs=1), rows, torch.device("cpu"))
        in_units = theirs.double() * scale.spread + scale.mean
        own = (in_units - training.scale.mean) / training.scale.spread
        expected = mse_loss(predict(training.adapted, rows, torch.device("cpu")).double(), own)
        assert losses(training, 1)[0] == pytest.approx(float(expected), rel=2e-2)
        assert AGREEMENT not in training.quick_scores()


class TestFewLabels:
    FEW = replace(SPEC, soft_weight=0.5, hard_weight=0.5, labelled=6)

    def test_all_of_them_are_the_run_without_the_setting(self) -> None:
        plain = training_of(replace(self.FEW, labelled=0), data())
        every = training_of(replace(self.FEW, labelled=48), data())
        assert losses(plain) == losses(every)
        assert same(plain.adapted.state(), every.adapted.state())

    def _relabelled(self, known: bool) -> TaskData:
        """The examples with the labels turned of those that keep theirs, or of the others."""
        task_data, places = data(), lesson_of(data().train, self.FEW).labelled
        turned = (
            replace(one, label=1 - one.label) if (place in places) is known else one
            for place, one in enumerate(task_data.train)
        )
        return replace(task_data, train=tuple(turned))

    @pytest.mark.parametrize("alone", [False, True], ids=["with the teacher", "labels only"])
    def test_no_other_label_is_ever_read(self, alone: bool) -> None:
        spec = labels_only(self.FEW) if alone else self.FEW
        one, other = (training_of(spec, which) for which in (data(), self._relabelled(known=False)))
        assert losses(one) == losses(other)
        assert same(one.adapted.state(), other.adapted.state())
        turned = training_of(spec, self._relabelled(known=True))
        losses(turned)
        assert not same(one.adapted.state(), turned.adapted.state())

    def test_the_first_loss_is_of_all_texts_and_of_the_few_labels(self) -> None:
        training = training_of(replace(self.FEW, batch_size=48), data())
        rows, places = training.train_rows, sorted(lesson_of(data().train, self.FEW).labelled)
        zs, zt = (predict(one, rows, torch.device("cpu")) for one in (training.adapted, teacher_of()))
        soft = 4 * kl_div(log_softmax(zs / 2, -1), softmax(zt / 2, -1), reduction="batchmean")
        expected = 0.5 * soft + 0.5 * cross_entropy(zs[places], rows.labels[places].long())
        assert losses(training, 1)[0] == pytest.approx(float(expected), rel=2e-2)

    def test_both_students_take_as_many_steps(self) -> None:
        assert training_of(self.FEW, data()).steps == training_of(labels_only(self.FEW), data()).steps

    def test_a_regressions_scale_is_that_of_the_known_scores(self) -> None:
        few = replace(self.FEW, soft_loss="l2")
        scales = {training_of(spec, data(WEIGHT), scale=Scale()).scale for spec in (few, replace(few, labelled=0))}
        assert len(scales) == 2


class TestLearning:
    def test_a_student_learns_its_teachers_answers(self) -> None:
        spec = replace(SPEC, epochs=30, start="random", learning_rate=5e-3, temperature=2.0)
        training = training_of(spec, data())
        before = training.quick_scores()[AGREEMENT]
        curve = losses(training)
        after = training.quick_scores()[AGREEMENT]
        assert sum(curve[-5:]) < 0.5 * sum(curve[:5])
        assert before is not None
        assert after is not None
        assert after >= max(before, 0.75)

    def test_agreement_is_the_share_of_the_same_answers(self) -> None:
        training = training_of(SPEC, data())
        rows = training.held_out
        own, theirs = (
            decide(CATS, predict(one, rows, torch.device("cpu")), Scale()) for one in (training.adapted, teacher_of())
        )
        expected = sum(a == b for a, b in zip(own, theirs, strict=True)) / len(rows)
        scores = training.quick_scores()
        assert scores[AGREEMENT] == expected
        assert list(scores) == [*CATS.metrics, AGREEMENT]

    @pytest.mark.parametrize("method", ["lora", "prompt", "prefix", "houlsby", "ia3", "full"])
    def test_whatever_way_the_teacher_was_tuned(self, method: str) -> None:
        teacher = teacher_of(method=method)
        before = teacher.state()
        training = training_of(replace(SPEC, start="pretrained", cosine_weight=1.0), data(), teacher)
        assert all(value == value for value in losses(training))
        assert same(teacher.state(), before)

    @EVERY_FAMILY
    def test_every_family_has_students_and_teachers_of_others(self, architecture: Architecture) -> None:
        """The texts are read by each with its own tokenizer."""
        spec = replace(SPEC, start="pretrained", soft_weight=0.5, hard_weight=0.5)
        task_data, student = data(), student_of(spec, architecture.family)
        before = frozen_copy(student.loaded)
        train, rows = (tokenise(student.loaded, part) for part in (task_data.train, task_data.validation["validation"]))
        teaching = Teaching(teacher_of(), CATS, Scale(), Scale(), spec)
        shares = list(teaching.ask(task_data.train))
        assert shares == sorted(shares)
        assert shares[-1] == 1
        training = Training(student, CATS, train, rows, spec, 1e-3, teaching)
        assert all(value == value for value in losses(training, 3))
        assert is_unchanged(student.loaded, before)


@pytest.mark.parametrize("changes", [{}, WITH_COSINE, {"start": "random"}], ids=["soft", "all terms", "random"])
@pytest.mark.parametrize("stop", [1, 4])
def test_an_interrupted_student_ends_where_an_uninterrupted_one_does(changes: dict[str, Any], stop: int) -> None:
    spec = replace(SPEC, **changes)
    whole = training_of(spec, data())
    uninterrupted = losses(whole)
    first = training_of(spec, data())
    before = losses(first, stop)
    again = training_of(spec, data())
    again.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    assert before + losses(again) == pytest.approx(uninterrupted, abs=1e-6)
    one, other = again.adapted.state(), whole.adapted.state()
    assert max(float((one[name] - other[name]).abs().max()) for name in one) < 1e-6


def test_the_shared_bundle_is_the_same_object_of_memory() -> None:
    loaded: LoadedModel = tiny_loaded("BERT")
    places = {name: tensor.data_ptr() for name, tensor in loaded.model.state_dict().items()}
    losses(training_of(SPEC, data()), 2)
    assert {name: tensor.data_ptr() for name, tensor in loaded.model.state_dict().items()} == places
