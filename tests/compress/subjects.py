"""Tiny subjects of every family, to prune."""

from __future__ import annotations

from pathlib import Path

import torch

from explorer.compress.subject import Subject, of_model, of_run
from explorer.models.families import ARCHITECTURES
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.reading import Scale
from explorer.tuning.spec import RunSpec
from tests.models.tiny import save
from tests.tuning.small import CATS, data

FAMILIES = [architecture.family for architecture in ARCHITECTURES]
RELATIVE = {
    "DeBERTa": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 12},
    "DeBERTa-v2/v3": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 12},
}
"""DeBERTa's own attention, which its config switches on."""

FOUR_HEADS = {"distilbert": {"n_heads": 4}, "gpt2": {"n_head": 4}}


def tiny(folder: Path, family: str, **changes: object) -> LoadedModel:
    """Four heads a layer, so that some can go and some stay."""
    model_type = next(entry.model_type for entry in ARCHITECTURES if entry.family == family)
    heads = FOUR_HEADS.get(model_type, {"num_attention_heads": 4})
    path = save(folder / family.replace("/", "-"), family, **{**heads, **RELATIVE.get(family, {}), **changes})
    return load_model(str(path), Settings(device="cpu"))


def adapted_by(method: str, loaded: LoadedModel, outputs: int = 2) -> Adapted:
    """As after a training that moved everything a little."""
    adapted = adapt(loaded, outputs, RunSpec(model=loaded.model_id, task="sst2", method=method, prefix_length=4))
    with torch.no_grad():
        for parameter in adapted.trainable().values():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    return adapted


def run_subject(loaded: LoadedModel, method: str = "lora", examples: int = 12, held_out: int = 12) -> Subject:
    return of_run(adapted_by(method, loaded), "my run", data(CATS), Scale(), examples, held_out)


def model_subject(loaded: LoadedModel, examples: int = 12, held_out: int = 12) -> Subject:
    return of_model(loaded, data(CATS), examples, held_out)
