"""How strongly two updates amplify their directions of W, layer by layer (Hu et al. 2021, section 7.3)."""

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
R = 4  # directions
WEIGHT = "encoder.layer.{}.attention.self.query"  # where the model keeps W, with the layer's number

model = AutoModel.from_pretrained(MODEL, dtype=torch.float32)
rows = []
for name, path in RUNS.items():
    tensors = load_file(Path(path).expanduser())
    layers = sorted(int(entry.split("/")[0]) for entry in tensors if entry.endswith(f"/{MODULE}/A"))
    for layer in layers:
        A, B, scale = (tensors[f"{layer}/{MODULE}/{part}"].double() for part in ("A", "B", "scale"))
        W = model.get_submodule(WEIGHT.format(layer)).weight.detach().double()
        # The singular value decomposition of scale . B A, by two thin QRs and a small core.
        outer, inner = torch.linalg.qr(B), torch.linalg.qr(A.T)
        U, strengths, Vh = torch.linalg.svd(scale * outer.R @ inner.R.T, full_matrices=False)
        U, Vh = outer.Q @ U, Vh @ inner.Q.T
        inside = strengths[:R].norm()  # what the update holds in its first r directions
        held = (U[:, :R].T @ W @ Vh[:R].T).norm()  # what W holds in them
        random = W.norm() * R / W.numel() ** 0.5  # what W holds in random ones
        share = (inside / strengths.norm()) ** 2
        rows.append((name, MODULE, R, layer, (inside / held).item(), share.item(), (held / random).item()))

print("run, module, r, layer, factor, share of the update's energy, W's emphasis")
for row in rows:
    print(*row)
