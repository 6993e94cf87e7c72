"""Intruder dimensions (Shuttleworth et al. 2024): strong directions of W + dW that W did not have."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
RUNS = {  # A and B of each LoRA run
    "LoRA r=8 · SST-2": "assets/runs/example-lora-8/snapshots/000090.safetensors",
    "LoRA r=64 · SST-2": "assets/runs/example-lora-64/snapshots/000090.safetensors",
}
MODULE = "query"
K = 10  # of the directions of W + dW, the strongest
EPSILON = 0.5  # below this |cosine| with all of W's directions, one is an intruder
WEIGHT = "encoder.layer.{}.attention.self.query"  # where the model keeps W, with the layer's number

model = AutoModel.from_pretrained(MODEL, dtype=torch.float32)
rows = []
for name, path in RUNS.items():
    tensors = load_file(Path(path).expanduser())
    layers = sorted(int(entry.split("/")[0]) for entry in tensors if entry.endswith(f"/{MODULE}/A"))
    for layer in layers:
        A, B, scale = (tensors[f"{layer}/{MODULE}/{part}"] for part in ("A", "B", "scale"))
        W = model.get_submodule(WEIGHT.format(layer)).weight.detach()
        before = torch.linalg.svd(W, full_matrices=False).U
        after = torch.linalg.svd(W + float(scale) * (B @ A), full_matrices=False).U
        cosines, closest = (after[:, :K].T.double() @ before.double()).abs().max(dim=1)
        for place in range(len(cosines)):
            cosine = min(1.0, cosines[place].item())
            rows.append((name, layer, place + 1, cosine, closest[place].item() + 1, int(cosine < EPSILON)))

print("run, layer, direction of W + dW, largest |cosine| with W's, with which, intruder")
for row in rows:
    print(*row)
