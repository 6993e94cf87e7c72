"""All singular values of W and of its update dW = scale B A: which of the two is of low rank."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
FACTORS = "assets/runs/example-lora-8/snapshots/000090.safetensors"  # A and B of a LoRA run
LAYER = 0  # from 0
MODULE = "query"
WEIGHT = "encoder.layer.0.attention.self.query"  # where the model keeps this W

tensors = load_file(Path(FACTORS).expanduser())
A, B, scale = (tensors[f"{LAYER}/{MODULE}/{part}"].double() for part in ("A", "B", "scale"))
W = AutoModel.from_pretrained(MODEL, dtype=torch.float32).get_submodule(WEIGHT).weight.detach()

weight = torch.linalg.svdvals(W.double())
update = torch.linalg.svdvals(scale * B @ A)[: min(*A.shape, *B.shape)]  # the others are zero


def energy(values):
    """The share of the squared norm that the first i directions hold."""
    return values.square().cumsum(0) / values.square().sum()


rows = []
for place in range(len(weight)):
    row = [place + 1, (place + 1) / len(weight), weight[place].item(), energy(weight)[place].item()]
    row += [update[place].item(), energy(update)[place].item()] if place < len(update) else [None, None]
    rows.append(tuple(row))

for name, values in (("W", weight), ("dW", update)):
    needed = [int((energy(values) < share).sum()) + 1 for share in (0.5, 0.9, 0.99)]
    print(f"{name}: 50, 90 and 99% of its energy are in {needed} of {len(weight)} directions")
