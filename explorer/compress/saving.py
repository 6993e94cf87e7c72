"""Writes a pruned model as files: weights, config, tokenizer, a record of what is left of each layer, and the script
that opens it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.compress import loading
from explorer.compress.loading import RECORD, WEIGHTS
from explorer.compress.removal import Removed
from explorer.models.families import Architecture
from explorer.tuning.files.zips import write_zip

SCRIPT = "load_pruned.py"
CARD = "README.md"


def opens_plainly(removed: Removed, architecture: Architecture) -> bool:
    """Return whether transformers' own from_pretrained opens it: no head is gone, and all layers have one width."""
    # A config has one number for all layers, and one head size that follows from hidden_size / num_attention_heads.
    whole = all(heads == removed.before.heads for heads in removed.heads)
    one_width = len(set(removed.neurons)) == 1
    return whole and one_width


def save_pruned(
    removed: Removed, architecture: Architecture, tokenizer: PreTrainedTokenizerBase, folder: Path, title: str
) -> None:
    """Write everything into a new or empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    model = removed.model
    save_file(_once(model), folder / WEIGHTS, metadata={"format": "pt"})
    tokenizer.save_pretrained(folder)
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    if len(set(removed.neurons)) == 1:
        config[_width_name(config)] = removed.neurons[0]
    (folder / "config.json").write_text(json.dumps(config, indent=2, default=str) + "\n", encoding="utf-8")
    record = {
        "model_class": type(model).__name__,
        "heads": removed.heads,
        "head_size": removed.head_size,
        "neurons": removed.neurons,
        "layers_path": architecture.layers.name(0, "").split(".0.")[0],
        "layers_kept": removed.layers,
        "layers_before": removed.before.depth,
        "layer_types_before": _layer_types(model, removed),
        "shared": removed.before.shared,
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(loading.__file__, folder / SCRIPT)  # loading.py needs nothing of this app
    (folder / CARD).write_text(_card(removed, architecture, title), encoding="utf-8")


def zip_pruned(
    removed: Removed, architecture: Architecture, tokenizer: PreTrainedTokenizerBase, target: Path, title: str
) -> tuple[str, ...]:
    """Write the same files as one zip at `target`. Returns their names."""
    with tempfile.TemporaryDirectory() as folder:
        save_pruned(removed, architecture, tokenizer, Path(folder), title)
        files = {file.name: file for file in sorted(Path(folder).iterdir())}
        write_zip(target, files)
    return tuple(files)


def _width_name(config: dict[str, object]) -> str:
    """Return the config's name for the width of the feed-forward part."""
    return next(name for name in ("intermediate_size", "hidden_dim", "n_inner") if name in config)


def _layer_types(model: PreTrainedModel, removed: Removed) -> list[str] | None:
    """Return ModernBERT's kind of each layer in the whole model, from the layers that are left."""
    kinds = getattr(model.config, "layer_types", None)
    if not kinds:
        return None
    by_depth = dict(zip(removed.layers, kinds, strict=True))
    # Layers that are gone are never used, so any kind will do.
    return [by_depth.get(depth, kinds[0]) for depth in range(removed.before.depth)]


def _once(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return every tensor that a checkpoint holds, tied ones under the name from which `tie_weights` takes them."""
    seen: set[int] = set()
    kept: dict[str, Tensor] = {}
    tied = model.all_tied_weights_keys
    for name, tensor in sorted(model.state_dict(keep_vars=True).items(), key=lambda entry: entry[0] in tied):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            kept[name] = tensor.detach().to("cpu", torch.float32 if tensor.is_floating_point() else None).contiguous()
    return kept


def _card(removed: Removed, architecture: Architecture, title: str) -> str:
    plain = (
        "All layers have the same width and all their heads, so `from_pretrained` opens it as well."
        if opens_plainly(removed, architecture)
        else "Layers have widths of their own, which a config cannot say, so `from_pretrained` does not open it."
    )
    rows = "\n".join(
        f"| {layer} | {removed.heads[block]} of {removed.before.heads} | {removed.neurons[block]:,} of "
        f"{removed.before.neurons:,} |"
        for layer, block in zip(removed.layers, _blocks(removed), strict=True)
    )
    return (
        f"# {title}\n\nA pruned {architecture.family} model, made with the BERT Explorer.\n\n"
        f"```python\nfrom {SCRIPT.removesuffix('.py')} import load_pruned\n\n"
        f'model, tokenizer = load_pruned(".")\n```\n\n{plain}\n\n'
        f"| layer | heads | feed-forward neurons |\n|---|---|---|\n{rows}\n"
    )


def _blocks(removed: Removed) -> list[int]:
    """Return the block of each layer that is left."""
    if removed.before.shared:
        return [removed.before.block_of(depth) for depth in removed.layers]
    return list(range(len(removed.layers)))
