"""Fill masks with a masked language model (Devlin et al. 2019, section 3.1, task 1)."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
TOP_K = 5
HIDE = ()  # positions of tokens to hide besides; 0 is the first special token

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32).eval()

# Each family spells its mask token in its own way: [MASK] in BERT, <mask> in RoBERTa.
for spelling in ("[MASK]", "<mask>"):
    TEXT = TEXT.replace(spelling, tokenizer.mask_token)
inputs = tokenizer(TEXT, return_tensors="pt")
inputs["input_ids"][0, list(HIDE)] = tokenizer.mask_token_id

# The body turns every token into a vector that knows its context; the head gives each vector a score (logit) for every
# token of the vocabulary. The softmax of a masked position's scores is the model's belief of what stands there.
with torch.no_grad():
    logits = model(**inputs).logits  # (1, tokens, vocabulary)
masked = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten().tolist()

rows = []
for position in masked:
    best = logits[0, position].softmax(-1).topk(TOP_K)
    for rank, (token, probability) in enumerate(zip(best.indices, best.values, strict=True), start=1):
        rows.append((position, rank, tokenizer.decode([token]), probability.item()))

print("position, rank, token, probability")
for row in rows:
    print(*row)
