"""How much of a word reaches the position before it, which would have to predict it, without and with a causal mask."""

import torch
from transformers import AutoModel, AutoTokenizer

ENCODER = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet are on the table."
POSITION = 6  # of the word's first token; the position before it would have to say it

tokenizer = AutoTokenizer.from_pretrained(ENCODER)
model = AutoModel.from_pretrained(ENCODER, dtype=torch.float32, attn_implementation="eager").eval()
ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
changed = ids.clone()
changed[0, POSITION] = tokenizer.mask_token_id
here, length = POSITION - 1, ids.shape[1]

rows = []
for name, allowed in (("none", torch.ones(length, length)), ("causal", torch.ones(length, length).tril())):
    mask = torch.zeros(length, length).masked_fill(allowed == 0, torch.finfo(torch.float32).min)[None, None]
    with torch.no_grad():
        output = model(input_ids=ids, attention_mask=mask, output_attentions=True, output_hidden_states=True)
        other = model(input_ids=changed, attention_mask=mask, output_hidden_states=True)
    # Attention rollout (Abnar and Zuidema 2020): half of each layer is the residual connection, and layers are multiplied.
    flow = torch.eye(length)
    for layer, weights in enumerate(output.attentions):
        mean = weights[0].mean(0)
        flow = (mean + torch.eye(length)) / 2 @ flow
        state, moved = (found.hidden_states[layer + 1][0, here] for found in (output, other))
        distance = float((moved - state).norm() / state.norm())
        rows.append((name, layer, float(mean[here, POSITION]), float(flow[here, POSITION]), distance))

print("mask, layer, direct, reach, moved")
for row in rows:
    print(*row)
