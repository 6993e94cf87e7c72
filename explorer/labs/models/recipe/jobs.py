"""The steps of RoBERTa's recipe; nothing is computed, all of it is quoted."""

from __future__ import annotations

from explorer.labs.models.recipe.schema import PUBLISHED, RecipeParams, RecipeResult


def recipe_steps(params: RecipeParams) -> RecipeResult:
    """The steps of RoBERTa's recipe with the scores that its paper gives for each; all of it is quoted."""
    return RecipeResult(params.score, PUBLISHED)
