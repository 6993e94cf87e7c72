"""What LoRA's update is made of: the singular values of dW = scale . B A in every matrix (Hu et al. 2021, section 7.2)."""

from pathlib import Path

import torch
from safetensors.torch import load_file

FACTORS = "assets/runs/example-lora-8/snapshots/000090.safetensors"  # A and B of one step of a run
KEPT = 64
ORDER = ("query", "key", "value", "output", "ffn_in", "ffn_out")

tensors = load_file(Path(FACTORS).expanduser())
sites = {tuple(name.split("/")[:2]) for name in tensors}  # (layer, module)
sites = sorted(sites, key=lambda site: (int(site[0]), [*ORDER, site[1]].index(site[1])))

rows = []
for layer, module in sites:
    A, B, scale = (tensors[f"{layer}/{module}/{part}"].double() for part in ("A", "B", "scale"))
    # B A is as large as W, and its rank is at most r. Two thin QRs leave an r x r core with the same singular values.
    core = torch.linalg.qr(B).R @ torch.linalg.qr(A.T).R.T
    values = scale * torch.linalg.svdvals(core)
    rows += [(int(layer), module, index, value) for index, value in enumerate(values[:KEPT].tolist(), start=1)]

print("layer, module, index, singular value")
for row in rows:
    print(*row)
