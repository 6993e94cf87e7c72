"""What comes next, through all layers: the guess that the model's own head reads off one token's state after each."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = "assets/models/gpt2-mini"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet"
POSITION = 4  # of the token that is followed: the guess is what comes after it

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
inputs = tokenizer(TEXT, return_tensors="pt")

# All layers have the same width, so what follows the last one (a LayerNorm and the scores) can follow any of them.
# The last entry of hidden_states has passed the LayerNorm already.
with torch.no_grad():
    hidden = model(**inputs, output_hidden_states=True).hidden_states  # depth + 1 of (1, tokens, width)
    states = [*(model.transformer.ln_f(layer[0, POSITION]) for layer in hidden[:-1]), hidden[-1][0, POSITION]]
    logits = model.lm_head(torch.stack(states))  # (depth + 1, vocabulary)

rows = []
for layer, p in enumerate(logits.softmax(-1)):
    best = p.argmax().item()
    rows.append((layer, tokenizer.decode([best]), p[best].item()))

print("layer, guess, probability")
for row in rows:
    print(*row)
