"""The messages for a model that cannot be had: what happened, and what to do."""

from __future__ import annotations

from huggingface_hub.errors import GatedRepoError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

from explorer.models.catalog import DEFAULT_MODEL, find_card
from explorer.models.families import ARCHITECTURES
from explorer.settings import Settings


def explain(model_id: str, error: Exception) -> str:
    """Return the message for a failed download: what happened and what to do."""
    if isinstance(error, GatedRepoError):
        return (
            f"{model_id} is gated: its owners ask you to accept their terms on the hub and to log in "
            f"(`hf auth login`). {DEFAULT_MODEL} needs neither."
        )
    if isinstance(error, RepositoryNotFoundError):
        return f"The hub has no model called {model_id}. Check the spelling (owner/name); private models need a login."
    if isinstance(error, HFValidationError):
        return f"{model_id!r} is not a model id. An id looks like google-bert/bert-base-uncased."
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"The hub answered with an error ({status}). Try again in a minute, or use {DEFAULT_MODEL}."
    if isinstance(error, OSError) and "No space left" in str(error):
        return f"The disk is full, so {model_id} cannot be kept. Free some space, or use {DEFAULT_MODEL}."
    if isinstance(error, PermissionError):
        return f"{model_id} cannot be kept: this server may not write to its model folder. Use {DEFAULT_MODEL}."
    # A silent hub ends in a LocalEntryNotFoundError, which is a ValueError too.
    if isinstance(error, ValueError) and not isinstance(error, LocalEntryNotFoundError):  # which a silent hub ends in
        return no_network(model_id, "what answered is not a model hub (a network's login page does that)")
    return no_network(model_id, "the connection failed or broke off")


def no_network(model_id: str, reason: str) -> str:
    """Return the message if the hub does not answer."""
    return (
        f"{model_id} could not be downloaded: {reason}. Check the network and choose it again (what has arrived is "
        f"kept), or go on with {DEFAULT_MODEL}, which is bundled."
    )


def no_folder(model_id: str, settings: Settings, needed: str = "config.json and model.safetensors") -> str:
    """Return the message for a folder that is not opened."""
    if not settings.local_folders:
        return "This server does not open folders of its own; give the id of a model on the hub."
    what = "tokenizer" if needed == "tokenizer.json" else "model"
    return f"There is no {what} in the folder {model_id}: it must hold {needed}."


def repair(model_id: str) -> str:
    """Return the sentence on what to do about a damaged model."""
    card = find_card(model_id)
    if card is not None and card.bundled:
        return f"Whoever runs the server has to restore assets/models/{model_id} from the repository; the other models work."
    return "Delete its folder and download it again."


def unsupported(model_id: str, model_type: str) -> str:
    """Return the message for a model of another family."""
    *names, last = dict.fromkeys(entry.family.split(" ")[0].split("-v2")[0] for entry in ARCHITECTURES)
    return f"{model_id} is a {model_type} model. Supported are {', '.join(names)} and {last}."
