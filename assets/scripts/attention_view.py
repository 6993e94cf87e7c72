"""What bertviz draws (Vig 2019): of each head the weights from a threshold on, and each token's largest."""

import torch
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat because it was tired."
SENTENCE_B = ""  # a second text, or nothing
LAYERS = (0,)  # from 0
LEAST = 1  # in ten-thousandths, to which the weights are rounded; higher for a long text, which has too many to draw

tokenizer = AutoTokenizer.from_pretrained(MODEL)
# Only the "eager" implementation gives the weights; the faster ones never write them down.
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()

texts = [SENTENCE_A, SENTENCE_B] if SENTENCE_B else [SENTENCE_A]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
with torch.no_grad():
    attentions = model(**inputs, output_attentions=True).attentions  # for each layer (1, heads, tokens, tokens)

rows = []
for layer in LAYERS:
    for head, weights in enumerate(attentions[layer][0]):
        rounded = (10_000 * weights).round()
        drawn = rounded >= LEAST
        drawn.scatter_(1, rounded.argmax(1, keepdim=True), True)  # every token shows where it looks
        drawn &= rounded > 0
        rows.append((layer, head, int(drawn.sum()), (weights[drawn].sum() / weights.sum()).item()))

print("layer, head, lines drawn, their share of the head's attention")
for row in rows:
    print(*row)
