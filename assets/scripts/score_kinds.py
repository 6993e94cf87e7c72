"""True neighbours, the same swapped, and random pairs by a [CLS] head: NSP (BERT) or sentence order (ALBERT)."""

from itertools import pairwise

import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

MODEL = "assets/models/albert-mini"  # a folder, or an id of the Hugging Face hub
HEAD = "SOP"  # or "NSP"
SENTENCES = ("She put the kettle on.", "The tea was ready.", "She drank it.")
OTHERS = ("Rome is old.", "The train was late.")  # of another text, for the random pairs

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForPreTraining.from_pretrained(MODEL, dtype=torch.float32).eval()

pairs = [("true", *pair) for pair in pairwise(SENTENCES)]
pairs += [("swapped", second, first) for _, first, second in list(pairs)]
pairs += [("random", first, OTHERS[place % len(OTHERS)]) for place, first in enumerate(SENTENCES[:-1])]

# NSP is easy from the topic alone, and takes swapped neighbours for true ones; sentence order has to tell them apart.
inputs = tokenizer(
    [first for _, first, _ in pairs], [second for *_, second in pairs], padding=True, return_tensors="pt"
)
with torch.no_grad():
    output = model(**inputs)
logits = output.sop_logits if HEAD == "SOP" else output.seq_relationship_logits
probabilities = logits.softmax(-1)[:, 0].tolist()  # class 0: in order, or is next

rows = [(MODEL, HEAD, *pair, probability) for pair, probability in zip(pairs, probabilities, strict=True)]
print("model, head, kind, first, second, probability")
for row in rows:
    print(*row)
