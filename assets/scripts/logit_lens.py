"""The logit lens: the model's own head on every layer (nostalgebraist 2020, "interpreting GPT: the logit lens")."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
TOP_K = 5

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32).eval()
for spelling in ("[MASK]", "<mask>"):
    TEXT = TEXT.replace(spelling, tokenizer.mask_token)
inputs = tokenizer(TEXT, return_tensors="pt")
masked = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten().tolist()


# All layers have the same width, so the head after the last one can read any of them. Let the body hand on the states of
# every layer at the masks, as if they were a batch of texts: row 0 is what the embeddings give.
def every_layer(body, given, output):
    states = [*output.hidden_states[:-1], output.last_hidden_state]
    output.last_hidden_state = torch.cat(states)[:, masked]
    return output


model.base_model.register_forward_hook(every_layer)
with torch.no_grad():
    logits = model(**inputs, output_hidden_states=True).logits  # (depth + 1, masks, vocabulary)

rows = []
for number, position in enumerate(masked):
    for layer, scores in enumerate(logits[:, number]):
        best = scores.softmax(-1).topk(TOP_K)
        for rank, (token, probability) in enumerate(zip(best.indices, best.values, strict=True), start=1):
            rows.append((layer, position, rank, tokenizer.decode([token]), probability.item()))

print("layer, position, rank, token, probability")
for row in rows:
    print(*row)
