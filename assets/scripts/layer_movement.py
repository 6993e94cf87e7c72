"""How far each layer moves the states of a text (Lan et al. 2020, section 3.1, Figure 1)."""

import itertools

import torch
from transformers import AutoModel, AutoTokenizer

MODELS = ("assets/models/albert-mini", "assets/models/bert-mini")  # folders, or ids of the Hugging Face hub
TEXT = "The lighthouse keeper wrote a letter to his sister every Sunday."

rows = []
for name in MODELS:
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModel.from_pretrained(name, dtype=torch.float32).eval()
    text = TEXT
    for spelling in ("[MASK]", "<mask>"):
        text = text.replace(spelling, tokenizer.mask_token or spelling)
    inputs = tokenizer(text, return_tensors="pt")
    special = torch.tensor([token in tokenizer.all_special_ids for token in inputs["input_ids"][0].tolist()])
    with torch.no_grad():
        states = model(**inputs, output_hidden_states=True).hidden_states
    states = [state[0, ~special].double() for state in states]
    for layer, (before, after) in enumerate(itertools.pairwise(states), start=1):
        cosine = torch.cosine_similarity(before, after).clamp(-1, 1)
        angle, distance = torch.rad2deg(torch.arccos(cosine)).mean(), (after - before).norm(dim=-1).mean()
        rows.append((name, layer, angle.item(), distance.item(), before.norm(dim=-1).mean().item(), len(before)))

print("model, layer, angle, distance, length, tokens")
for row in rows:
    print(*row)
