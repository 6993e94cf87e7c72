"""What a fine-tuned run has made, as a model: its update in the weights, beside the heads that the model had before."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from tempfile import mkdtemp

import torch
from transformers import PreTrainedModel

from explorer.errors import BadInputError, storage_error
from explorer.runs.after import why_no_model
from explorer.runs.open import OpenRun
from explorer.tuning.merging import merged


@torch.no_grad()
def as_model(opened: OpenRun) -> PreTrainedModel:
    """The bundle's model with the run's weights wherever both have a tensor of one name; its other heads as they were.

    Raises BadInputError for a run without weights, or whose method leaves nothing to merge.
    """
    opened.require_weights()
    if reason := why_no_model(opened.record):
        raise BadInputError(reason)
    changed = merged(opened.restore()).state_dict()
    model = copy.deepcopy(opened.bundle().model)
    for name, parameter in model.named_parameters():
        if name in changed and changed[name].shape == parameter.shape:
            parameter.copy_(changed[name])
    return model


def keep_model(opened: OpenRun, folder: Path) -> None:
    """Write the model and its tokenizer into `folder`, which is there only when it is whole.

    Raises StorageError if the disk does not take it.
    """
    model = as_model(opened)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(mkdtemp(dir=folder.parent, prefix="making-"))
        try:
            model.save_pretrained(making)
            opened.bundle().tokenizer.save_pretrained(making)
            making.rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as error:
        if (folder / "config.json").is_file():  # another process was quicker
            return
        raise storage_error("the model of this run", error) from error
