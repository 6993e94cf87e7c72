"""Distillation: a small model learns from what a large one says of every class."""

from explorer.action import Action, Lab, LiveAction
from explorer.engine.protocol import Job
from explorer.labs.distillation import ablation_figures, plain
from explorer.labs.distillation import losses_figures as loss_figures
from explorer.labs.distillation import seeds_figures as seed_figures
from explorer.labs.distillation import soft_figures as figures
from explorer.labs.distillation import train_figures as train_figures
from explorer.labs.distillation.params import (
    AblationParams,
    DistillParams,
    FollowStudentParams,
    LossesParams,
    SoftTargetsParams,
    TimedStudentParams,
)
from explorer.runs.comparing import require_success

_COMPUTE = "explorer.labs.distillation.jobs"
_LIVE = "explorer.labs.distillation.live"

SOFT_TARGETS = Action(
    Job(f"{_COMPUTE}:soft_targets", on="runs"), SoftTargetsParams, figures.soft_targets_table, plain=plain.soft_targets
)
LOSSES = Action(
    Job(f"{_COMPUTE}:distillation_losses", on="runs"),
    LossesParams,
    loss_figures.losses_table,
    plain=plain.between("distillation_losses"),
)
GRADIENTS = Action(
    Job(f"{_COMPUTE}:distillation_losses", on="runs"),
    LossesParams,
    loss_figures.gradients_table,
    plain=plain.between("soft_gradients"),
    called="soft_gradients",
)
DISTILL = LiveAction(f"{_LIVE}:distill", DistillParams, train_figures.distill_table, require_success)
FOLLOW_STUDENT = LiveAction(f"{_LIVE}:follow_student", TimedStudentParams, train_figures.distill_table, require_success)
STUDENT_SEEDS = LiveAction(f"{_LIVE}:student_seeds", FollowStudentParams, seed_figures.seeds_table, require_success)
ABLATE = LiveAction(
    f"{_LIVE}:ablate", AblationParams, ablation_figures.ablation_table, require_success, called="ablate_distillation"
)

LAB = Lab(
    slug="distillation",
    title="Distillation",
    chapter="Compress",
    question="What does a teacher know that the label doesn't say?",
    teaser="Soften a model's answer with a temperature, compare losses, and train a student half as deep, live.",
    needs=None,
    actions=(SOFT_TARGETS, LOSSES, GRADIENTS, DISTILL, FOLLOW_STUDENT, STUDENT_SEEDS, ABLATE),
    tab="explorer.labs.distillation.page:build",
)
