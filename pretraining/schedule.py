"""Which stage holds and how high the learning rate is, as functions of the share of the steps that is done."""

from __future__ import annotations

from pretraining.recipes import Stage, TrainingRecipe


def stage_at(recipe: TrainingRecipe, progress: float) -> Stage:
    """The stage that holds at a share of the steps in [0, 1]."""
    passed = 0.0
    for stage in recipe.stages:
        passed += stage.share
        if progress < passed:
            return stage
    return recipe.stages[-1]


def rate_factor(recipe: TrainingRecipe, progress: float) -> float:
    """Linear warm-up, then linear decay to zero at progress 1."""
    return min(progress / recipe.warmup_share, (1.0 - progress) / (1.0 - recipe.warmup_share))
