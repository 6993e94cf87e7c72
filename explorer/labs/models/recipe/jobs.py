"""The steps of RoBERTa's recipe; nothing is computed, all of it is quoted."""

from __future__ import annotations

from explorer.labs.models.recipe.schema import PUBLISHED, RecipeParams, RecipeResult


def recipe_steps(params: RecipeParams) -> RecipeResult:
    """The published settings, to be compared on one task."""
    return RecipeResult(params.score, PUBLISHED)
