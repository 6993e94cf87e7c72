"""What the scripts without the package are told: where tokenizers are, and where a family keeps its tables."""

from __future__ import annotations

from explorer.labs.inputs.sum_schema import MOST_POSITIONS
from explorer.labs.plain import Asked, architecture_of, place_of, plain_script
from explorer.models.catalog import OWN_TOKENIZERS


def text_and_tokenizers(asked: Asked) -> dict[str, object]:
    """The text as it was cut, and the tokenizers that could be opened."""
    names = [done.name for done in asked.result.tokenized]
    places = {name: f"assets/tokenizers/{name}" if name in OWN_TOKENIZERS else place_of(name) for name in names}
    return {"MODELS": places, "TEXT": asked.result.text}


def tables_and_stages(asked: Asked) -> dict[str, object]:
    """Those that this model has, by the parts of the answer."""
    known = architecture_of(asked).embeddings
    kinds = [part.kind for part in asked.result.parts]
    tables = {kind: getattr(known, kind) for kind in ("token", "segment", "position") if kind in kinds}
    stages = {kind: path for kind, path in known.stages if kind in kinds}
    return {"TABLES": tables, "STAGES": stages, "FIRST_POSITION": architecture_of(asked).spare_positions}


def positions(asked: Asked) -> str:
    """The script for position embeddings; none for a model that adds none."""
    known = architecture_of(asked)
    values = {"TABLE": known.embeddings.position, "FIRST_POSITION": known.spare_positions, "MOST": MOST_POSITIONS}
    return plain_script("position_similarity", lambda asked: values)(asked) if asked.result.positions else ""
