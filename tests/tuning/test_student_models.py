"""Whose layers a student has, how large it is, and how it is kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from explorer.errors import BadInputError
from explorer.models.families import Architecture
from explorer.models.loaded_model import load_model
from explorer.settings import Settings
from explorer.tuning.adapted import adapt
from explorer.tuning.counting import count
from explorer.tuning.distilling import check_teacher, take_layers
from explorer.tuning.files.export import export_adapter, export_merged
from explorer.tuning.forks import pretrained
from explorer.tuning.merging import merged
from explorer.tuning.plan import plan
from explorer.tuning.spec import RunSpec
from tests.models.tiny import save
from tests.tuning import teaching
from tests.tuning.files.kept import record, unpacked
from tests.tuning.samples import batch, frozen_copy, is_unchanged, moved, tiny_loaded
from tests.tuning.teaching import (
    EVERY_FAMILY,
    SPEC,
    same,
    student_of,
    teacher_of,
)

unchanged = teaching.unchanged


class TestShape:
    @EVERY_FAMILY
    def test_a_student_has_its_own_copies_of_the_first_layers(self, architecture: Architecture) -> None:
        loaded = tiny_loaded(architecture.family)
        student = student_of(family=architecture.family)
        theirs = pretrained(loaded)
        assert student.fork.config.num_hidden_layers == 1
        assert {id(value) for value in student.trainable().values()} == {id(p) for p in student.fork.parameters()}
        for name, parameter in student.fork.named_parameters():
            assert parameter.requires_grad
            if name in theirs and theirs[name].shape == parameter.shape:
                assert torch.equal(parameter, theirs[name]), name
                assert parameter.data_ptr() != theirs[name].data_ptr()
        before = frozen_copy(loaded)
        with torch.no_grad():
            for parameter in student.fork.parameters():
                parameter.add_(1)
        assert is_unchanged(loaded, before)

    @EVERY_FAMILY
    def test_its_size_is_the_models_less_the_layers_left_out(self, architecture: Architecture) -> None:
        loaded = tiny_loaded(architecture.family)
        config, layout = loaded.model.config, architecture.layers
        whole = count(config, layout, 2, RunSpec("tiny", method="full"), pretrained(loaded).keys())
        short = count(config, layout, 2, SPEC, pretrained(loaded).keys())
        full = adapt(loaded, 2, RunSpec("tiny", method="full")).fork
        last = sum(value.numel() for name, value in full.named_parameters() if name.startswith(layout.name(1, "")))
        assert (
            short.total
            == whole.total - last
            == sum(p.numel() for p in student_of(family=architecture.family).fork.parameters())
        )
        assert short.trained == short.total
        assert (short.depth, whole.depth) == (1, 2)
        planned = plan(loaded, 2, SPEC, 10, 8.0)
        assert (planned.total, planned.trainable) == (short.total, short.total)
        assert planned.seconds < plan(loaded, 2, RunSpec("tiny", method="full", epochs=2), 10, 8.0).seconds

    def test_none_named_is_half_and_too_many_are_refused(self) -> None:
        assert student_of(replace(SPEC, student_layers=0)).fork.config.num_hidden_layers == 1
        with pytest.raises(BadInputError, match="cannot be cut from 2"):
            student_of(replace(SPEC, student_layers=3))

    @EVERY_FAMILY
    def test_a_random_start_depends_on_the_seed_alone(self, architecture: Architecture) -> None:
        make = partial(student_of, family=architecture.family)
        first, again, other = (make(replace(SPEC, start="random", seed=seed)).state() for seed in (0, 0, 1))
        assert same(first, again)
        assert not same(first, other)
        usual = make(SPEC).state()
        matrices = [name for name, value in usual.items() if value.ndim > 1 and value.numel() > 2]
        body = [name for name in matrices if name.startswith(architecture.layers.body)]
        assert all(not torch.equal(first[name], usual[name]) for name in body)
        assert all(value.isfinite().all() for value in first.values())

    def test_there_is_no_update_to_look_into(self) -> None:
        with pytest.raises(BadInputError, match="layers of its own"):
            student_of().deltas()


class TestTakingOver:
    @EVERY_FAMILY
    def test_the_layers_are_the_teachers(self, architecture: Architecture) -> None:
        teacher = teacher_of(architecture.family)
        plain = dict(merged(teacher).named_parameters())
        student = student_of(family=architecture.family)
        take_layers(student, merged(teacher))
        for name, parameter in student.trainable().items():
            assert torch.equal(parameter, plain[name]), name
            assert parameter.data_ptr() != plain[name].data_ptr()

    def test_every_second_one(self, tmp_path: Path) -> None:
        loaded = load_model(str(save(tmp_path, "BERT", num_hidden_layers=4)), Settings(device="cpu"))
        teacher = moved(loaded)
        student = adapt(loaded, 2, replace(SPEC, student_layers=2))
        take_layers(student, merged(teacher))
        theirs = dict(merged(teacher).named_parameters())
        for own, layer in ((0, 0), (1, 2)):
            name = "bert.encoder.layer.{}.attention.self.query.weight"
            assert torch.equal(student.trainable()[name.format(own)], theirs[name.format(layer)])

    def test_a_teacher_of_all_layers_gives_the_same_answers(self) -> None:
        student = student_of(replace(SPEC, student_layers=2))
        take_layers(student, merged(teacher_of()))
        torch.testing.assert_close(student.logits(batch()), teacher_of().logits(batch()))

    def test_a_student_can_teach(self) -> None:
        first = student_of(replace(SPEC, student_layers=2))
        second = student_of()
        take_layers(second, merged(first))
        with pytest.raises(BadInputError, match="cannot be cut from 1"):
            take_layers(student_of(replace(SPEC, student_layers=2)), merged(second))

    def test_a_model_of_another_shape_is_refused(self, tmp_path: Path) -> None:
        wide = load_model(str(save(tmp_path, "BERT", hidden_size=64)), Settings(device="cpu"))
        student = adapt(wide, 2, SPEC)
        with pytest.raises(BadInputError, match="start = pretrained"):
            take_layers(student, merged(teacher_of()))
        check_teacher(student, teacher_of())
        with pytest.raises(BadInputError, match="64 and of 32 numbers have no cosine"):
            check_teacher(adapt(wide, 2, replace(SPEC, cosine_weight=1.0)), teacher_of())


class TestStates:
    @EVERY_FAMILY
    def test_the_state_is_what_the_classifier_reads_and_the_logits_are_the_same(
        self, architecture: Architecture
    ) -> None:
        adapted = teacher_of(architecture.family)
        inputs = batch()
        with torch.no_grad():
            logits, states = adapted.logits_and_states(inputs)
            torch.testing.assert_close(logits, adapted.logits(inputs))
            lengths = inputs["attention_mask"].sum(1)
            for row, length in enumerate(lengths.tolist()):
                alone = {name: tensor[row : row + 1, :length] for name, tensor in inputs.items()}
                hidden = adapted.model(**adapted.taken(alone), output_hidden_states=True).hidden_states[-1][0]
                at = length - 1 if adapted.layers.reads_last else 0
                torch.testing.assert_close(states[row], hidden[at], atol=1e-5, rtol=1e-4)

    @pytest.mark.parametrize("method", ["prompt", "prefix"])
    def test_virtual_tokens_do_not_shift_the_place(self, method: str) -> None:
        adapted = teacher_of("GPT-2", method)
        with torch.no_grad():
            _, states = adapted.logits_and_states(batch())
            one = {name: tensor[:1] for name, tensor in batch().items()}
            hidden = adapted.model(**adapted.taken(one), output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(states[0], hidden[0, -1], atol=1e-5, rtol=1e-4)


@EVERY_FAMILY
def test_a_student_goes_home_as_a_whole_model(architecture: Architecture, tmp_path: Path) -> None:
    student = moved(tiny_loaded(architecture.family), "distill", 2, student_layers=1, teacher="r0")
    facts = record(student)
    with pytest.raises(BadInputError, match="kind = merged"):
        export_adapter(student, facts, None, tmp_path / "no.zip")
    folder = unpacked(export_merged(student, facts, tmp_path / "student.zip"))
    assert "Student" in (folder / "README.md").read_text()
    loaded: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert loaded.config.num_hidden_layers == 1
    with torch.no_grad():
        torch.testing.assert_close(
            loaded(**student.taken(batch())).logits, student.logits(batch()), atol=1e-5, rtol=1e-4
        )


def test_a_kept_student_is_restored_without_its_teacher(tmp_path: Path) -> None:
    student = moved(tiny_loaded("BERT"), "distill", 2, student_layers=1, teacher="gone")
    again = adapt(tiny_loaded("BERT"), 2, student.spec)
    again.load_state(student.state())
    assert torch.equal(again.logits(batch()), student.logits(batch()))
