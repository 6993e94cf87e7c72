"""Open a pruned model: its layers have widths of their own, which from_pretrained cannot know.

Every export of a pruned model has a copy of this file beside the weights, as load_pruned.py: it imports nothing of the
app.

    from load_pruned import load_pruned
    model, tokenizer = load_pruned("the folder")

Needs torch, transformers and safetensors. pruned.json says what is left.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file
from torch import nn

RECORD = "pruned.json"
WEIGHTS = "model.safetensors"
COUNTS = ("num_attention_heads", "num_heads", "n_heads")
SIZES = ("all_head_size", "split_size")
"""The attributes of attention modules in the BERT family for the number of their heads, and for heads times their size."""


def load_pruned(folder: str | Path) -> tuple[Any, Any]:
    """Return the model, in evaluation mode on the CPU, and its tokenizer."""
    folder = Path(folder)
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    config = transformers.AutoConfig.from_pretrained(folder)
    # Built whole, since a config has one width for all layers, then cut to what is left.
    config.num_hidden_layers = record["layers_before"]
    if getattr(config, "layer_types", None) is not None:
        config.layer_types = record["layer_types_before"]
    model = getattr(transformers, record["model_class"])(config)
    keep_layers(model, record["layers_path"], record["layers_kept"], record["shared"])
    put_all(model, load_file(folder / WEIGHTS))
    for block, heads in enumerate(record["heads"]):
        name_sizes(model.get_submodule(f"{record['layers_path']}.{block}"), heads, record["head_size"])
    model.tie_weights()
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def put_all(model: nn.Module, tensors: dict[str, torch.Tensor]) -> None:
    """Put tensors in their places whatever their shapes."""
    for name, tensor in tensors.items():
        # Not load_state_dict, which refuses tensors of another shape.
        path, _, leaf = name.rpartition(".")
        module = model.get_submodule(path)
        if leaf in module._parameters:
            module._parameters[leaf] = nn.Parameter(tensor, requires_grad=False)
        else:
            module._buffers[leaf] = tensor


def keep_layers(model: Any, path: str, kept: list[int], shared: bool) -> None:
    """Leave these layers only; if all depths share one, it is passed fewer times."""
    model.config.num_hidden_layers = len(kept)
    if getattr(model.config, "layer_types", None):
        model.config.layer_types = [model.config.layer_types[place] for place in kept]
    if shared:
        return
    parent, _, name = path.rpartition(".")
    layers = model.get_submodule(path)
    setattr(model.get_submodule(parent), name, nn.ModuleList(layers[place] for place in kept))
    for number, place in enumerate(kept):
        module: Any
        for module in layers[place].modules():
            if hasattr(module, "layer_idx"):  # the row of a generating model's cache
                module.layer_idx = number


def name_sizes(layer: nn.Module, heads: int, head_size: int) -> None:
    """Write the new sizes where modules keep them, from their weights' shapes and the number of heads left."""
    module: Any
    for module in layer.modules():
        for name in COUNTS:
            if isinstance(vars(module).get(name), int):
                setattr(module, name, heads)
        for name in SIZES:
            if isinstance(vars(module).get(name), int):
                setattr(module, name, heads * head_size)
        weight = module._parameters.get("weight")
        if isinstance(module, nn.Linear) and weight is not None:
            module.out_features, module.in_features = weight.shape
        elif weight is not None and hasattr(module, "nf"):  # GPT-2's Conv1D
            module.nx, module.nf = weight.shape
