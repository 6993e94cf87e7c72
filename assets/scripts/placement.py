"""Where in the spectrum of W its update lies: the share of dW's energy along W's singular directions."""

from itertools import pairwise
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
FACTORS = "assets/runs/example-lora-8/snapshots/000090.safetensors"  # A and B of a LoRA run
LAYER = 0  # from 0
MODULE = "query"
WEIGHT = "encoder.layer.0.attention.self.query"  # where the model keeps this W
BINS = 16

tensors = load_file(Path(FACTORS).expanduser())
A, B, scale = (tensors[f"{LAYER}/{MODULE}/{part}"].double() for part in ("A", "B", "scale"))
delta = scale * B @ A
W = AutoModel.from_pretrained(MODEL, dtype=torch.float32).get_submodule(WEIGHT).weight.detach()

# |dW v_j|^2 and |u_i^T dW|^2, as shares of |dW|^2; W's directions from the strongest to the weakest.
U, _, Vh = torch.linalg.svd(W, full_matrices=False)
right = (delta @ Vh.T.double()).square().sum(0) / delta.square().sum()
left = (U.T.double() @ delta).square().sum(1) / delta.square().sum()

count = len(right)
edges = [round(place * count / min(BINS, count)) for place in range(min(BINS, count) + 1)]
rows = []
for first, last in pairwise(edges):
    expected = [(last - first) / width for width in (delta.shape[1], delta.shape[0])]  # of a random update
    rows.append(
        (first + 1, last, right[first:last].sum().item(), expected[0], left[first:last].sum().item(), expected[1])
    )

print("first, last, right, expected, left, expected")
for row in rows:
    print(*row)
