"""Turns an old LoRA pickle into peft's safetensors, on its owner's machine: `python -m explorer.tuning convert`."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from explorer.errors import BadInputError
from explorer.tuning.files.archive import CONFIG, FACTS, WEIGHTS
from explorer.tuning.files.imports import Imported, import_adapter
from explorer.tuning.files.zips import write_zip

_FACTOR = re.compile(r"^(?P<module>.+)\.lora_(?P<side>[AB])(?:\.[^.]+)??(?:\.weight)?$")
_WRAPPERS = ("base_model.model.", "module.", "model.base_model.")


def convert(
    source: Path, target: Path, base: str = "", alpha: float = 16.0, rank: int | None = None, labels: Sequence[str] = ()
) -> Imported:
    """Write `target`, a zip that import_adapter and peft take, from a pickled dict of tensors.

    Reads loralib's names (….query.lora_A) and peft's (….query.lora_A.weight). Other tensors of the body are the base
    model's and are left out; those outside it are the head.

    alpha: the paper's, which such files do not hold. rank: checked against the factors if given. The pickle is read
    with torch's weights_only, which accepts tensors and refuses code. Raises BadInputError with what is wrong.
    """
    factors, others = _split(_read(source))
    bodies = {name.split(".")[0] for name in factors}
    head = {name: tensor for name, tensor in others.items() if name.split(".")[0] not in bodies}
    left_out = sorted(set(others) - set(head))
    ranks = sorted({len(tensor) for name, tensor in factors.items() if name.endswith(".lora_A.weight")})
    if len(ranks) != 1 or (rank is not None and ranks != [rank]):
        wanted = f"; --rank says {rank}" if rank is not None else ""
        raise BadInputError(f"The factors A in {source.name} are of rank {', '.join(map(str, ranks)) or '?'}{wanted}.")
    config = {
        "peft_type": "LORA",
        "task_type": "SEQ_CLS",
        "base_model_name_or_path": base or None,
        "inference_mode": True,
        "r": ranks[0],
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted({name.removesuffix(".weight").split(".")[-2] for name in factors}),
        "modules_to_save": sorted({name.split(".")[0] for name in head}) or None,
    }
    tensors = {f"base_model.model.{name}": tensor for name, tensor in (factors | head).items()}
    members: dict[str, str | bytes] = {
        WEIGHTS: save_tensors(tensors),
        CONFIG: json.dumps(config, indent=2),
        FACTS: json.dumps({"labels": list(labels)}, ensure_ascii=False, indent=2),
        "README.md": _card(source, config),
    }
    write_zip(target, members)
    try:
        imported = import_adapter(target)  # what is written must also be readable
    except BadInputError:
        target.unlink()
        raise
    body = f"{len(left_out)} other tensors of the body are left out, {left_out[0]} among them." if left_out else ""
    return replace(imported, notes=(*imported.notes, body)) if body else imported


def _read(source: Path) -> Mapping[str, Tensor]:
    """Read a pickled dict of tensors without running any code in it."""
    if not source.is_file():
        raise BadInputError(f"There is no file {source}.")
    try:
        values = torch.load(source, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise BadInputError(
            f"{source} cannot be read as tensors alone ({str(error).splitlines()[0][:160]}). A pickle that holds more than "
            "tensors is not opened, since that would run its code."
        ) from error
    if not isinstance(values, dict) or not all(isinstance(value, Tensor) for value in values.values()):
        raise BadInputError(f"{source} should hold names and tensors, as torch.save(model.state_dict()) writes them.")
    return values


def _split(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the LoRA factors under peft's names, and the rest under their own."""
    factors: dict[str, Tensor] = {}
    head: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        for wrapper in _WRAPPERS:
            name = name.removeprefix(wrapper)
        match = _FACTOR.match(name)
        target = f"{match['module']}.lora_{match['side']}.weight" if match else name
        # A copy, since safetensors refuses tensors that share memory.
        (factors if match else head)[target] = tensor.clone().contiguous()
    if not factors:
        raise BadInputError("This file holds no LoRA factors: tensors named ….lora_A and ….lora_B.")
    return factors, head


def _card(source: Path, config: Mapping[str, Any]) -> str:
    front = {"base_model": config["base_model_name_or_path"], "library_name": "peft", "tags": ["lora"]}
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items() if value]
    return "\n".join(
        [
            "---",
            *lines,
            "---",
            f"# LoRA of rank {config['r']}, alpha {config['lora_alpha']:g}",
            "",
            f"Converted from {source.name} by BERT Explorer. Adapted matrices: {', '.join(config['target_modules'])}.",
            "",
        ]
    )
