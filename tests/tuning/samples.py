"""Tiny models of several families with a method on them that has moved, as if it had been trained."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import torch
from torch import Tensor, nn

from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.spec import RunSpec
from tests.models.tiny import WORDS, save


@cache
def tiny_loaded(family: str, class_name: str | None = None) -> LoadedModel:
    """A random model of a family, kept for all tests of a session; no test may change it."""
    with torch.inference_mode(False):  # whoever asks first, others may train what is built on it
        folder = save(Path(mkdtemp(prefix="tiny-")), family, class_name)
        return load_model(str(folder), Settings(device="cpu"))


def frozen_copy(loaded: LoadedModel) -> dict[str, Tensor]:
    """Every tensor of the shared model as it is now."""
    return {name: tensor.clone() for name, tensor in loaded.model.state_dict().items()}


def is_unchanged(loaded: LoadedModel, before: dict[str, Tensor]) -> bool:
    """Bit for bit."""
    now = loaded.model.state_dict()
    return now.keys() == before.keys() and all(torch.equal(now[name], before[name]) for name in now)


def moved(loaded: LoadedModel, method: str = "lora", outputs: int = 2, seed: int = 0, **options: object) -> Adapted:
    """An adapted model whose trained parameters are all away from where they started."""
    adapted = adapt(
        loaded, outputs, RunSpec(loaded.model_id, method=method, seed=seed, **{"prefix_length": 4, **options})
    )  # type: ignore[arg-type]
    draw = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in adapted.trainable().values():
            parameter += 0.2 * torch.randn(parameter.shape, generator=draw)
    return adapted


def batch(rows: int = 3, length: int = 8) -> dict[str, Tensor]:
    """Random tokens, the last row shorter than the others and padded on the right."""
    draw = torch.Generator().manual_seed(5)
    ids = torch.randint(5, len(WORDS), (rows, length), generator=draw)
    mask = torch.ones_like(ids)
    mask[-1, length // 2 :] = 0
    return {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}


def plain_inputs(model: nn.Module) -> dict[str, Tensor]:
    """One text without padding, with what the model's own tokenizer would give: token types where it has them."""
    row = {name: tensor[:1] for name, tensor in batch().items()}
    if not getattr(model.config, "type_vocab_size", 0):
        del row["token_type_ids"]
    return row
