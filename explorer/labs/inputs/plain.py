"""What the scripts without the package are told: where tokenizers are, and where a family keeps its tables."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.labs.inputs.embeddings import ADDED, MOST_POSITIONS
from explorer.labs.inputs.schema import CutPart
from explorer.labs.inputs.typos import SENTENCES, SHARES
from explorer.models.catalog import OWN_TOKENIZERS
from explorer.plain import Asked, Plain, architecture_of, place_of, plain_script


def text_and_tokenizers(asked: Asked) -> dict[str, object]:
    """Return the text as it was cut, and the tokenizers that could be opened."""
    return {"MODELS": _places(done.name for done in asked.result.tokenized), "TEXT": asked.result.text}


def of_parts(name: str) -> Plain:
    """Return the function that makes a script, which is told the tables and stages that this model has."""

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
    """Make the script for position embeddings; "" for a model that adds none."""
    known = architecture_of(asked)
    if known is None or not asked.result.positions:
        return ""
    values = {"TABLE": known.embeddings.position, "FIRST_POSITION": known.spare_positions, "MOST": MOST_POSITIONS}
    return plain_script("position_similarity", lambda _: values)(asked)


def cut_word(asked: Asked) -> str:
    """Make the script for the tokenizers that could be opened; "" if one takes something whole, or lacks a character."""
    cuts = asked.result.cuts
    if not all(cut.agrees and all(map(_from_letters, cut.parts)) for cut in cuts):
        return ""
    values = {"MODELS": _places(cut.name for cut in cuts), "WORD": asked.result.word}
    return plain_script("cut_word", lambda _: values, "transformers")(asked)


def _models(asked: Asked) -> dict[str, object]:
    return {"MODELS": {name: place_of(name) for name in asked.params.models}}


typos = plain_script("typos", lambda asked: {**_models(asked), "TEXT": asked.result.text, "TYPED": asked.result.typed})
typos_over_shares = plain_script(
    "typos_over_shares",
    lambda asked: {**_models(asked), "SENTENCES": SENTENCES[: asked.params.sentences], "SHARES": SHARES},
)


def _from_letters(part: CutPart) -> bool:
    """Return whether every step spells the part, and merging begins with its single characters."""
    if part.method in ("WordPiece", "whole"):
        return part.method == "WordPiece"
    begins = part.method != "BPE" or len(part.steps[0].pieces) == len(part.text)
    return begins and all("".join(step.pieces) + step.rest == part.text for step in part.steps)


def _places(names: Iterable[str]) -> dict[str, str]:
    return {name: f"assets/tokenizers/{name}" if name in OWN_TOKENIZERS else place_of(name) for name in names}
