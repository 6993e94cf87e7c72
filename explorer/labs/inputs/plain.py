"""What the scripts without the package are told: where tokenizers are, and where a family keeps its tables."""

from __future__ import annotations

from explorer.labs.inputs.sum_schema import ADDED, MOST_POSITIONS
from explorer.models.catalog import OWN_TOKENIZERS
from explorer.plain import Asked, Plain, architecture_of, place_of, plain_script


def text_and_tokenizers(asked: Asked) -> dict[str, object]:
    """The text as it was cut, and the tokenizers that could be opened."""
    names = [done.name for done in asked.result.tokenized]
    places = {name: f"assets/tokenizers/{name}" if name in OWN_TOKENIZERS else place_of(name) for name in names}
    return {"MODELS": places, "TEXT": asked.result.text}


def of_parts(name: str) -> Plain:
    """A script that is told the tables and stages which this model has, by the parts of the answer."""

    def fill(asked: Asked) -> str:
        known = architecture_of(asked)
        if known is None:
            return ""
        kinds = [part.kind for part in asked.result.parts]
        tables = {kind: getattr(known.embeddings, kind) for kind in ADDED if kind in kinds}
        stages = {kind: path for kind, path in known.embeddings.stages if kind in kinds}
        values = {"TABLES": tables, "STAGES": stages, "FIRST_POSITION": known.spare_positions}
        return plain_script(name, lambda _: values)(asked)

    return fill


def positions(asked: Asked) -> str:
    """The script for position embeddings; none for a model that adds none."""
    known = architecture_of(asked)
    if known is None or not asked.result.positions:
        return ""
    values = {"TABLE": known.embeddings.position, "FIRST_POSITION": known.spare_positions, "MOST": MOST_POSITIONS}
    return plain_script("position_similarity", lambda _: values)(asked)
