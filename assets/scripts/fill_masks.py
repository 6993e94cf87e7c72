"""Fill masks with a masked language model (Devlin et al. 2019, section 3.1, task 1)."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
TOP_K = 5
HIDE = ()  # positions of tokens to hide besides; 0 is the first special token
WORDS = ()  # words to rank besides the best; each a single token
IN_VIEW = False  # whether HIDE's tokens stay as they are, and the model says what it would put there

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32).eval()

# Each family spells its mask token in its own way: [MASK] in BERT, <mask> in RoBERTa.
for spelling in ("[MASK]", "<mask>"):
    TEXT = TEXT.replace(spelling, tokenizer.mask_token)
inputs = tokenizer(TEXT, return_tensors="pt")
masked = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
if not IN_VIEW:
    inputs["input_ids"][0, list(HIDE)] = tokenizer.mask_token_id
named = []
for word in WORDS:  # as it is written inside a sentence, or else alone
    spelled = [tokenizer.encode(text, add_special_tokens=False) for text in (f" {word}", word)]
    named.append(next(ids[0] for ids in spelled if len(ids) == 1))

# The body turns every token into a vector that knows its context; the head gives each vector a score (logit) for every
# token of the vocabulary. The softmax of a masked position's scores is the model's belief of what stands there.
with torch.no_grad():
    logits = model(**inputs).logits  # (1, tokens, vocabulary)

rows = []
for position in sorted({*masked, *HIDE}):
    p = logits[0, position].softmax(-1)
    ranks = {token: rank for rank, token in enumerate(p.topk(TOP_K).indices.tolist(), start=1)}
    others = {token: 1 + int((p > p[token]).sum()) for token in named if token not in ranks}
    for token, rank in [*ranks.items(), *sorted(others.items(), key=lambda pair: pair[1])]:
        rows.append((position, rank, tokenizer.decode([token]), p[token].item()))

print("position, rank, token, probability")
for row in rows:
    print(*row)
