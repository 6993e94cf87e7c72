"""The distillation lab's jobs on one sentence: soft targets, and the losses between a teacher and a student."""

from __future__ import annotations

import base64

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.distillation.compute import Said, ask, ranked
from explorer.labs.distillation.params import LossesParams, SoftTargetsParams
from explorer.labs.distillation.schema import (
    CURVE,
    GRADIENT_CURVE,
    REST,
    Compared,
    Loss,
    LossesResult,
    SoftTargetsResult,
    Target,
)
from explorer.maths import distillation as maths
from explorer.runs.open import OpenRuns
from explorer.tuning.methods import find_method

MOST_CLASSES_NAMED = 12
"""A task with more classes than this shows the likeliest and the rest, as a vocabulary does."""

COMPARED = 6


def soft_targets(open_run: OpenRuns, params: SoftTargetsParams) -> SoftTargetsResult:
    """Compute what the teacher would have a student learn from this sentence: softmax(z / T) (Hinton et al. 2015,
    equation 1).
    """
    said = ask(open_run, params.model, params.run, params.text, params.second)
    logits = said.logits
    soft = maths.softened(logits, params.temperature)
    count = len(logits) if len(logits) <= MOST_CLASSES_NAMED else params.top_k
    named = ranked(logits, count)
    answer = _class_of(said, params.answer) if params.answer else named[0]
    targets = [
        Target(said.name_of(number), float(logits[number]), float(number == answer), float(soft[number]))
        for number in named
    ]
    if len(named) < len(logits):
        targets.append(Target(REST, None, float(answer not in named), float(_rest(soft, named))))
    return SoftTargetsResult(
        said.name,
        said.asked,
        said.places,
        tuple(targets),
        params.temperature,
        float(maths.entropy(soft)),
        float(maths.dark_mass(soft)),
        len(logits),
        tuple((T, *_spread(logits, T)) for T in CURVE),
        packed(logits),
        said.name_of(answer).strip() if params.answer else "",
        float(soft[answer]) if params.answer else 0.0,
    )


def _class_of(said: Said, answer: str) -> int:
    """Return the number of the true class; the likeliest of several that are spelled alike but for a space."""
    found = next(
        (number for number in ranked(said.logits, len(said.logits)) if said.name_of(number).strip() == answer), None
    )
    if found is None:
        raise BadInputError(
            f"“{answer[:40]}” is not one of the {len(said.logits):,} answers that {said.name} can give. Write one of its "
            "classes, or a word that is a single token of its vocabulary."
        )
    return found


def _spread(logits: Tensor, temperature: float) -> tuple[float, float]:
    soft = maths.softened(logits, temperature)
    return float(maths.entropy(soft)), float(maths.dark_mass(soft))


def _rest(probabilities: Tensor, named: list[int]) -> Tensor:
    """Return the probability of all classes that are not named, summed directly: 1 minus the others would lose its
    digits.
    """
    others = torch.ones(len(probabilities), dtype=torch.bool)
    others[named] = False
    return probabilities[others].sum()


def packed(logits: Tensor) -> str:
    """Return logits (classes,), largest first, as base64 of little-endian float32."""
    return base64.b64encode(logits.sort(descending=True).values.numpy().astype("<f4").tobytes()).decode()


def distillation_losses(open_run: OpenRuns, params: LossesParams) -> LossesResult:
    """Compute every kind of loss between a teacher and a student on one sentence, and the soft loss's gradient against
    T.
    """
    teacher = ask(open_run, params.model, params.run, params.text, params.second)
    student = _student(open_run, params, teacher)
    # No gradient passes a tensor of inference mode, hence the clones.
    with torch.inference_mode(False), torch.enable_grad():
        theirs, own = teacher.logits.clone(), student.logits.clone()
        plain = maths.gradient_norms(own, theirs, GRADIENT_CURVE, scaled=False)
        scaled = maths.gradient_norms(own, theirs, GRADIENT_CURVE)
    return LossesResult(
        teacher.name,
        student.name,
        teacher.asked,
        teacher.name_of(ranked(theirs, 1)[0]),
        params.temperature,
        params.alpha,
        tuple(_compared(teacher, own, params.temperature)),
        tuple(_losses(teacher, student, params)),
        tuple(zip(GRADIENT_CURVE, plain, scaled, strict=True)),
        maths.gradient_limit(own, theirs),
        params.answer,
    )


def _student(open_run: OpenRuns, params: LossesParams, teacher: Said) -> Said:
    if not params.run_student:
        return teacher.shorten(params.student_layers)
    other = open_run(params.run_student).record
    if find_method(other.spec.method).fills_masks:
        return _same_words(teacher, ask(open_run, params.model, params.run_student, params.text, params.second))
    if not params.run:
        raise BadInputError(
            f"{teacher.name} answers with its pretrained head, and a run with a task's classes: they have nothing to compare. "
            "Choose a run as the teacher too, or the teacher with fewer layers as the student."
        )
    first = open_run(params.run).record
    if first.labels != other.labels:
        raise BadInputError(
            f"{other.name} ({other.task_title}) has other classes than {first.name} ({first.task_title}). "
            "Choose two runs of the same task."
        )
    return ask(open_run, params.model, params.run_student, params.text, params.second)


def _same_words(teacher: Said, student: Said) -> Said:
    """Return a student on plain text beside any model of its vocabulary. Raises BadInputError for one of another."""
    if len(teacher.logits) != len(student.logits):
        raise BadInputError(
            f"{teacher.name} chooses among {len(teacher.logits):,} classes and {student.name} among {len(student.logits):,}: "
            "they have nothing to compare. Choose the model that the student was made of, and a sentence with [MASK]."
        )
    return student


def _compared(teacher: Said, student: Tensor, temperature: float) -> list[Compared]:
    """Return the classes that either thinks likely, and the rest."""
    p, q = (maths.softened(logits, temperature) for logits in (teacher.logits, student))
    count = len(p) if len(p) <= MOST_CLASSES_NAMED else COMPARED
    # The teacher's order first; the student adds those that it alone thinks likely.
    named = list(dict.fromkeys([*ranked(teacher.logits, count), *ranked(student, max(1, count // 2))]))
    rows = [
        Compared(teacher.name_of(k), float(teacher.logits[k]), float(student[k]), float(p[k]), float(q[k]))
        for k in named
    ]
    if len(named) < len(p):
        rows.append(Compared(REST, None, None, float(_rest(p, named)), float(_rest(q, named))))
    return rows


def _losses(teacher: Said, student: Said, params: LossesParams) -> list[Loss]:
    # A batch of one: (1, classes) each.
    zt, zs, T, alpha = teacher.logits[None], student.logits[None], params.temperature, params.alpha  # noqa: N806
    soft = float(maths.soft_loss(zs, zt, T))
    truth = torch.tensor([_class_of(teacher, params.answer)]) if params.answer else zt.argmax(-1)
    hard = float(maths.hard_loss(zs, truth))
    if params.answer:
        against, formula = "Hard: against the true answer", r"-\ln \mathrm{softmax}(z^s)_{y}"
    else:
        against, formula = "Hard: against the teacher's first choice", r"-\ln \mathrm{softmax}(z^s)_{\arg\max z^t}"
    states = _cosines(teacher, student)
    return [
        Loss("soft", "Soft: KL at T, times T²", r"T^2 \sum_i p_i \ln \frac{p_i}{q_i}", soft),
        Loss("kl", "KL at T, without T²", r"\sum_i p_i \ln \frac{p_i}{q_i}", float(maths.soft_loss(zs, zt, T, False))),
        Loss("l2", "L2 on the logits", r"\frac{1}{N} \sum_i (z^s_i - z^t_i)^2", float(maths.logit_loss(zs, zt))),
        Loss("hard", against, formula, hard),
        Loss("weighted", "Weighted average", r"\alpha\, L_{soft} + (1 - \alpha)\, L_{hard}", alpha * soft + (1 - alpha) * hard),
        Loss("cosine", "Cosine of the states asked", r"1 - \cos(h^s, h^t)", *states[0]),
        Loss("cosine_mean", "Cosine of the mean states", r"1 - \cos(\bar h^s, \bar h^t)", *states[1]),
    ]  # fmt: skip


def _cosines(teacher: Said, student: Said) -> list[tuple[float | None, str]]:
    """Compute the cosine losses of the states at the place that is asked, and of their means over the tokens.

    Each comes as (value, ""), or as (None, why there is none).
    """
    widths = len(teacher.first), len(student.first)
    if widths[0] != widths[1]:
        why = f"states of {widths[0]} and of {widths[1]} numbers have no cosine"
        return [(None, why), (None, why)]
    pairs = ((student.first, teacher.first), (student.mean, teacher.mean))
    # Rounding may take it below 0.
    return [(max(0.0, float(maths.cosine_loss(one[None], other[None]))), "") for one, other in pairs]
