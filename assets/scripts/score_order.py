"""Do two texts stand in their order? ALBERT's sentence-order prediction (Lan et al. 2020, section 3.1)."""

import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

MODEL = "assets/models/albert-mini"  # a folder, or an id of the Hugging Face hub
FIRST = "She put the kettle on."
SECOND = "A few minutes later the tea was ready."

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForPreTraining.from_pretrained(MODEL, dtype=torch.float32).eval()

# Both classes hold two neighbours of one text, so the topic tells nothing: what is left is which came first.
inputs = tokenizer(FIRST, SECOND, return_tensors="pt")
with torch.no_grad():
    logits = model(**inputs).sop_logits[0]
probabilities = logits.softmax(-1)
losses = -logits.log_softmax(
    -1
)  # the term of the pretraining loss if that class is the true one; a coin has ln 2 = 0.693

rows = list(zip(("in_order", "swapped"), logits.tolist(), probabilities.tolist(), losses.tolist(), strict=True))
print("class, logit, probability, loss")
for row in rows:
    print(*row)
