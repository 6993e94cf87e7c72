"""Which runs answer a question about distillation together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.errors import BadInputError
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import WEIGHTS, ablated, labels_only, lesson_of
from tests.tuning.small import CATS, examples

SPEC = RunSpec("m", method="distill", teacher="r0", soft_weight=5, hard_weight=2, cosine_weight=1)


def weights(spec: RunSpec) -> tuple[float, float, float]:
    return (spec.soft_weight, spec.hard_weight, spec.cosine_weight)


def test_each_line_changes_one_thing() -> None:
    lines = {line.slug: line for line in ablated(SPEC)}
    assert list(lines) == ["all", "no-soft", "no-cosine", "no-hard", "random"]
    assert weights(lines["all"].spec) == WEIGHTS
    for slug, place in (("no-soft", 0), ("no-hard", 1), ("no-cosine", 2)):
        expected = [0.0 if number == place else weight for number, weight in enumerate(WEIGHTS)]
        assert list(weights(lines[slug].spec)) == expected
    assert lines["random"].spec == replace(SPEC, start="random")
    assert {line.spec.seed for line in lines.values()} == {SPEC.seed}


def test_distilberts_own_changes_stand_beside_them() -> None:
    """Sanh et al. 2019, Table 4."""
    changes = {line.slug: line.change for line in ablated(SPEC)}
    assert changes == {"all": None, "no-soft": -2.96, "no-cosine": -1.46, "no-hard": -0.31, "random": -3.69}


@pytest.mark.parametrize("name", ["soft_weight", "hard_weight", "cosine_weight"])
def test_a_term_that_is_not_there_cannot_be_left_out(name: str) -> None:
    with pytest.raises(BadInputError, match="all three need a weight"):
        ablated(replace(SPEC, **{name: 0.0}))  # type: ignore[arg-type]


def test_labels_only_leaves_everything_else() -> None:
    alone = labels_only(SPEC)
    assert weights(alone) == (0.0, 1.0, 0.0)
    assert replace(alone, soft_weight=5.0, hard_weight=2.0, cosine_weight=1.0) == SPEC
    assert labels_only(alone) == alone


class TestLessons:
    """What a student reads where most examples have no label."""

    ALL = examples(CATS, 48)

    @pytest.mark.parametrize("labelled", [0, 48, 1000])
    def test_all_labels_are_the_examples_as_they_are(self, labelled: int) -> None:
        for spec in (SPEC, labels_only(SPEC)):
            lesson = lesson_of(self.ALL, replace(spec, labelled=labelled))
            assert lesson.examples == self.ALL
            assert lesson.labelled == set(range(48))

    def test_with_a_teacher_every_text_is_read(self) -> None:
        lesson = lesson_of(self.ALL, replace(SPEC, labelled=8))
        assert lesson.examples == self.ALL
        assert len(lesson.labelled) == 8

    @pytest.mark.parametrize("labelled", [1, 7, 47])
    def test_labels_only_sees_the_labelled_and_no_other(self, labelled: int) -> None:
        spec = replace(SPEC, labelled=labelled)
        known = lesson_of(self.ALL, spec).labelled
        alone = lesson_of(self.ALL, labels_only(spec))
        assert set(alone.examples) == {self.ALL[place] for place in known}
        assert alone.labelled == set(range(48)), "as many steps, and every label of them counts"
        times = [alone.examples.count(self.ALL[place]) for place in known]
        assert max(times) - min(times) <= max(self.ALL.count(self.ALL[place]) for place in known)

    def test_the_seed_alone_draws_them(self) -> None:
        spec = replace(SPEC, labelled=8)
        other = replace(spec, temperature=9.0, soft_weight=0.5, student_layers=1, epochs=7)
        assert lesson_of(self.ALL, spec).labelled == lesson_of(self.ALL, other).labelled
        draws = {tuple(sorted(lesson_of(self.ALL, replace(spec, seed=seed)).labelled)) for seed in range(5)}
        assert len(draws) == 5
