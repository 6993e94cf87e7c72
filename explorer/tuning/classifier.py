"""Makes a fine-tuned classifier a model like any other, for the pages that look inside."""

from __future__ import annotations

import dataclasses

from explorer.errors import BadInputError
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel
from explorer.tuning.adapted import Adapted


def as_loaded(adapted: Adapted, name: str) -> LoadedModel:
    """Return the adapted model under a name of its own; it answers with a class only (explorer.models.questions).

    Raises BadInputError for methods that put virtual tokens before the text: attention would have more columns than
    tokens.
    """
    if adapted.method.has_virtual_tokens:
        raise BadInputError(
            f"{name} was trained with {adapted.method.title}, which puts virtual tokens before the text. "
            "Choose a run by another method, such as LoRA, to look inside."
        )
    return dataclasses.replace(adapted.loaded, model_id=name, model=adapted.fork, capabilities=frozenset())


def as_mask_filler(adapted: Adapted, name: str) -> LoadedModel:
    """Return a student on plain text under a name of its own, with its one head."""
    architecture = adapted.loaded.architecture
    head = dataclasses.replace(architecture.heads[Capability.MLM], logits="logits", labels="labels")
    return dataclasses.replace(
        adapted.loaded,
        model_id=name,
        model=adapted.fork,
        architecture=dataclasses.replace(architecture, heads={Capability.MLM: head}),
        capabilities=frozenset({Capability.MLM}),
    )
