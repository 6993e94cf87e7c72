"""The logit lens: the model's own head on every layer (nostalgebraist 2020, "interpreting GPT: the logit lens")."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = "assets/models/gpt2-mini"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet"  # the next token is asked for
TOP_K = 5

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
inputs = tokenizer(TEXT, return_tensors="pt")
position = inputs["input_ids"].shape[1] - 1

# All layers have the same width, so what follows the last one (a LayerNorm and the scores) can follow any of them.
# The last entry of hidden_states has passed the LayerNorm already.
with torch.no_grad():
    hidden = model(**inputs, output_hidden_states=True).hidden_states
    states = [model.transformer.ln_f(layer[0, -1]) for layer in hidden[:-1]]
    logits = model.lm_head(torch.stack([*states, hidden[-1][0, -1]]))  # (depth + 1, vocabulary)

rows = []
for layer, scores in enumerate(logits):
    best = scores.softmax(-1).topk(TOP_K)
    for rank, (token, probability) in enumerate(zip(best.indices, best.values, strict=True), start=1):
        rows.append((layer, position, rank, tokenizer.decode([token]), probability.item()))

print("layer, position, rank, token, probability")
for row in rows:
    print(*row)
