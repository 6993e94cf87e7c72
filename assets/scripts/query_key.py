"""Queries and keys: how one token's attention comes about, softmax(q . k / sqrt(d)) (Vaswani et al. 2017, section 3.2.1)."""

import torch
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat because it was tired."
SENTENCE_B = ""  # a second text, or nothing
LAYER = 0  # from 0, as heads are
HEAD = 0
POSITION = 1  # of the token that looks
# Where this layer's queries and keys come from.
QUERY = "encoder.layer.0.attention.self.query"
KEY = "encoder.layer.0.attention.self.key"

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32).eval()
texts = [SENTENCE_A, SENTENCE_B] if SENTENCE_B else [SENTENCE_A]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")

# Keep what the two linear maps give on the way through the model; a head has its own slice of it.
kept = {}
for name in (QUERY, KEY):
    model.get_submodule(name).register_forward_hook(
        lambda module, given, output, name=name: kept.update({name: output[0]})
    )
with torch.no_grad():
    model(**inputs)
heads = model.config.num_attention_heads
query = kept[QUERY].unflatten(-1, (heads, -1))[POSITION, HEAD]  # (d,)
keys = kept[KEY].unflatten(-1, (heads, -1))[:, HEAD]  # (tokens, d)

scores = keys @ query / len(query) ** 0.5
weights = scores.softmax(-1)

tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
rows = list(zip(range(len(tokens)), tokens, scores.tolist(), weights.tolist(), strict=True))
print("to, token, score, weight")
for row in rows:
    print(*row)
