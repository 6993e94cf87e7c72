"""Students to train: what is asked for, and what is known of them as they train and at the end."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.maths.intervals import PairedInterval, paired_interval
from explorer.runs.record import RunRecord


@dataclass(frozen=True)
class MeasureParams:
    """Runs whose models are weighed and timed. runs: the teacher first.

    whole: the model that the first run is cut from comes before them, as their teacher.
    """

    runs: tuple[str, ...]
    whole: bool = False


@dataclass(frozen=True)
class Size:
    """One model. bytes: of its weights in float32. milliseconds: of a batch of 1 and of 16 held-out texts, the median.

    run_id: empty for a teacher that is no run.
    """

    run_id: str
    parameters: int
    bytes: int
    milliseconds: tuple[float, float]


@dataclass(frozen=True)
class Distilled:
    """Students and how far they are, the one that learns from its teacher first; sizes (the teacher's first) once all have ended.

    teacher: None on a plain text, where the students' model teaches as a whole. others: the same students of other seeds.
    timed: whether the sizes come by themselves.
    """

    teacher: RunRecord | None
    students: tuple[RunRecord, ...]
    sizes: tuple[Size, ...] = ()
    others: tuple[RunRecord, ...] = ()
    timed: bool = True

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """The students of every seed."""
        return (*self.students, *self.others)

    @property
    def can_be_timed(self) -> bool:
        """Whether the student has ended, and its sizes wait to be asked for."""
        ended = self.students[0].outcome is not None and not any(one.status.is_active for one in self.records)
        return ended and not self.timed

    @property
    def on_text(self) -> bool:
        """Whether they learn to fill masks."""
        return self.teacher is None

    @property
    def teacher_scores(self) -> dict[str, float]:
        """What the teacher reaches, by metric; empty before it is known."""
        if self.teacher is None:
            return next((record.reference for record in self.students if record.reference), {})
        score = self.teacher.score
        return {} if score is None else {self.teacher.leading_metric: score}


@dataclass(frozen=True)
class SeedScores:
    """The leading metric of a student with its teacher, and of the same one without."""

    seed: int
    scores: tuple[float, float]


@dataclass(frozen=True)
class Seeded:
    """The same comparison once for each seed so far, in the order of their seeds.

    pairs: (with the teacher, without it), or (with the teacher,) where no other was trained.
    """

    teacher: RunRecord | None
    pairs: tuple[tuple[RunRecord, ...], ...]

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """Both students of every seed."""
        return tuple(record for pair in self.pairs for record in pair)

    @property
    def measured(self) -> tuple[SeedScores, ...]:
        """The scores of the pairs of which both runs have ended."""
        found = []
        for pair in self.pairs:
            scores = [record.score for record in pair if record.outcome is not None]
            given = [score for score in scores if score is not None]
            if len(given) == 2:
                found.append(SeedScores(pair[0].spec.seed, (given[0], given[1])))
        return tuple(found)

    @property
    def interval(self) -> PairedInterval | None:
        """The interval of the mean difference that the teacher makes; None before two seeds have ended."""
        measured = self.measured
        if len(measured) < 2:
            return None
        return paired_interval([one.scores[0] for one in measured], [one.scores[1] for one in measured])


@dataclass(frozen=True)
class Ablated:
    """The ablation so far: a record for each of its lines in the order of explorer.tuning.students.ablated, seed by seed.

    teacher: None on a plain text.
    """

    teacher: RunRecord | None
    records: tuple[RunRecord, ...]
