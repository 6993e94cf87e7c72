"""One blank through all layers: the states, and the guess that the model's own head reads off each of them."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet are on the table."
HIDE = (6,)  # positions of tokens to hide; 0 is the first special token
POSITION = 6  # of the token that is followed

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()
for spelling in ("[MASK]", "<mask>"):
    TEXT = TEXT.replace(spelling, tokenizer.mask_token)
inputs = tokenizer(TEXT, return_tensors="pt")
truth = inputs["input_ids"][0, POSITION].item() if POSITION in HIDE else None
inputs["input_ids"][0, list(HIDE)] = tokenizer.mask_token_id
followed = {}


# All layers have the same width, so the head after the last one can read any of them. Let the body hand on the followed
# token's state after every layer, as if they were a text: the first is what the embeddings add up to.
def every_layer(body, given, output):
    followed["states"] = [*output.hidden_states[:-1], output.last_hidden_state]  # depth + 1 of (1, tokens, width)
    followed["attention_weights"] = output.attentions  # of every layer, (1, heads, tokens, tokens)
    output.last_hidden_state = torch.cat(followed["states"])[:, POSITION][None]
    return output


model.base_model.register_forward_hook(every_layer)
with torch.no_grad():
    logits = model(**inputs, output_hidden_states=True, output_attentions=True).logits[0]  # (depth + 1, vocabulary)

rows = []
for layer, p in enumerate(logits.softmax(-1)):
    best = p.argmax().item()
    rows.append((layer, tokenizer.decode([best]), p[best].item(), None if truth is None else p[truth].item()))

print("layer, guess, probability, hidden")
for row in rows:
    print(*row)
