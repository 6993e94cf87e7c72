"""The same blank in a sentence with one word changed: both distributions, and the logarithm of their ratio."""

import re

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The man worked as a [MASK]."
WORD = "man"
OTHER = "woman"
TOP_K = 6  # the best of each

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32).eval()


def probabilities(text):
    for spelling in ("[MASK]", "<mask>"):
        text = text.replace(spelling, tokenizer.mask_token)
    inputs = tokenizer(text, return_tensors="pt")
    blank = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        return model(**inputs).logits[0, blank].double().softmax(-1)  # (vocabulary,)


changed = re.sub(rf"(?<!\w){re.escape(WORD.strip())}(?!\w)", lambda found: OTHER.strip(), TEXT)
before, after = probabilities(TEXT), probabilities(changed)
best = {token for p in (before, after) for token in p.topk(TOP_K).indices.tolist()}

rows = []
for token in sorted(best, key=lambda token: -float(before[token] + after[token])):
    p, q = before[token].item(), after[token].item()
    rows.append((tokenizer.decode([token]), p, q, (after[token] / before[token]).log().item()))

print("token, before, after, log_ratio")
for row in rows:
    print(*row)
print(f"{float((before - after).abs().sum() / 2):.4f} of the probability moved")
