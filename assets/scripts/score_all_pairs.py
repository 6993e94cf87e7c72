"""Next-sentence prediction for every two sentences of a text (Devlin et al. 2019, section 3.1, task 2)."""

from itertools import permutations

import torch
from transformers import AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCES = ("She put the kettle on.", "The tea was ready.", "Rome is old.")

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForNextSentencePrediction.from_pretrained(MODEL, dtype=torch.float32).eval()

# All pairs in one batch: shorter ones are padded, and attention_mask hides the padding.
pairs = list(permutations(range(len(SENTENCES)), 2))
firsts = [SENTENCES[first] for first, _ in pairs]
seconds = [SENTENCES[second] for _, second in pairs]
inputs = tokenizer(firsts, seconds, padding=True, return_tensors="pt")
with torch.no_grad():
    probabilities = model(**inputs).logits.softmax(-1)[:, 0]  # class 0: the second follows the first

rows = [(first + 1, second + 1, p) for (first, second), p in zip(pairs, probabilities.tolist(), strict=True)]
print("first, second, probability that the second follows")
for row in rows:
    print(*row)
