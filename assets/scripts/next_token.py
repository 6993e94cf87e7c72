"""The likeliest next tokens of a text, which of them top-k and top-p keep, and what a temperature makes of them."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = "assets/models/gpt2-mini"  # a folder, or an id of the Hugging Face hub
TEXT = "In 1994 the band released its first album,"
BRANCH = ()  # ids of tokens after the text
K = 40
P = 0.9
TEMPERATURE = 0.7
TOP = 15

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
ids = [*tokenizer(TEXT.rstrip())["input_ids"], *BRANCH]
with torch.no_grad():
    scores = model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
end = tokenizer.eos_token_id
scores[[token for token in tokenizer.all_special_ids if token != end]] = -torch.inf

shares = scores.exp()
heated = (scores.double() / max(TEMPERATURE, 1e-6)).softmax(-1)
best, order = scores.double().softmax(-1).sort(descending=True, stable=True)
before = best.cumsum(-1) - best  # what the likelier ones hold; the nucleus ends where that reaches P

rows = []
for place, token in enumerate(order[:TOP].tolist()):
    shown, name = tokenizer.decode([token]), tokenizer.convert_ids_to_tokens(token)
    shown = {"\n": "↵", "\t": "⇥"}.get(shown, "␣") if not shown.strip() else shown.strip()
    shown = "end of text" if token == end else name if "\ufffd" in shown else shown
    inside = int(place < K), int(place == 0 or before[place].item() < P)
    rows.append((place + 1, shown, shares[token].item(), *inside, heated[token].item(), token))

print("rank, token, probability, in_top_k, in_top_p, at_temperature, token_id")
for row in rows:
    print(*row)
