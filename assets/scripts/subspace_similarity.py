"""Which directions two LoRA runs share: phi(i, j) = |V_i^T V_j|^2 / min(i, j) (Hu et al. 2021, section 7.2)."""

from pathlib import Path

import torch
from safetensors.torch import load_file

# A and B of two runs.
FACTORS_A = "assets/runs/example-lora-8/snapshots/000090.safetensors"
FACTORS_B = "assets/runs/example-lora-64/snapshots/000090.safetensors"
LAYER = 0  # from 0
MODULE = "query"
KEPT = 64


def directions(path):
    """The right-singular vectors of A, strongest first: what of its input the update looks at. (width, at most r)."""
    A = load_file(Path(path).expanduser())[f"{LAYER}/{MODULE}/A"].float()
    _, strengths, Vh = torch.linalg.svd(A, full_matrices=False)
    noise = strengths[0] * A.shape[1] * torch.finfo(A.dtype).eps
    return Vh[strengths > noise][:KEPT].T.double()


# Every pair of directions' squared cosine; summed over the first i and the first j, that is the squared norm.
overlaps = (directions(FACTORS_A).T @ directions(FACTORS_B)).square()
shared = overlaps.cumsum(0).cumsum(1)

rows = []
for i in range(len(shared)):
    for j in range(shared.shape[1]):
        rows.append((i + 1, j + 1, shared[i, j].item() / (min(i, j) + 1)))

print("i, j, phi; 1 where one subspace lies in the other")
for row in rows:
    print(*row)
