"""How strongly W already holds the directions of its update (Hu et al. 2021, section 7.3, table 7)."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
FACTORS = "assets/runs/example-lora-8/snapshots/000090.safetensors"  # A and B of a LoRA run
LAYER = 0  # from 0
MODULE = "query"
R = 4  # directions
WEIGHT = "encoder.layer.0.attention.self.query"  # where the model keeps this W

tensors = load_file(Path(FACTORS).expanduser())
A, B, scale = (tensors[f"{LAYER}/{MODULE}/{part}"].double() for part in ("A", "B", "scale"))
W = AutoModel.from_pretrained(MODEL, dtype=torch.float32).get_submodule(WEIGHT).weight.detach().double()

# The first r directions of scale . B A, on the side of the outputs (U) and of the inputs (V), by two thin QRs and a small core.
outer, inner = torch.linalg.qr(B), torch.linalg.qr(A.T)
U, strengths, Vh = torch.linalg.svd(scale * outer.R @ inner.R.T, full_matrices=False)
U, Vh = outer.Q @ U, Vh @ inner.Q.T
inside = strengths[:R].norm()  # what the update holds in them

norms = {
    "ΔW": (U[:, :R].T @ W @ Vh[:R].T).norm(),  # what W holds in the same directions
    "W": torch.linalg.svdvals(W)[:R].norm(),  # the most that it holds in any r
    "random": W.norm() * R / W.numel() ** 0.5,  # what it holds in random ones, on average
}
rows = [(name, norm.item(), (inside / norm).item()) for name, norm in norms.items()]
print("directions, projected norm of W, factor")
for row in rows:
    print(*row)
