"""The cosine of each position's embedding with each other's: what a model has learnt about distance."""

import torch
from torch.nn.functional import normalize
from transformers import AutoModel

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TABLE = "embeddings.position_embeddings"  # where this family keeps them
FIRST_POSITION = 0  # RoBERTa counts from 2: the rows before belong to padding
STEP = 1  # every how many positions one is taken
MOST = 64

model = AutoModel.from_pretrained(MODEL, dtype=torch.float32)
table = model.get_submodule(TABLE).weight.detach()[FIRST_POSITION:]
positions = list(range(0, len(table), STEP))[:MOST]
unit = normalize(table[positions].double(), dim=-1)
cosines = unit @ unit.T

rows = []
for i, first in enumerate(positions):
    for j, second in enumerate(positions):
        rows.append((first, second, cosines[i, j].item()))

print("first, second, cosine; those of position 0")
for row in rows[: len(positions)]:
    print(*row)
