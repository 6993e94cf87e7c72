"""One attention head: how much each token looks at each other (Vaswani et al. 2017, section 3.2.1)."""

import torch
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat because it was tired."
SENTENCE_B = ""  # a second text, or nothing
LAYER = 0  # from 0, as heads are
HEAD = 0
MASKED = ()  # positions of tokens to hide

tokenizer = AutoTokenizer.from_pretrained(MODEL)
# Only the "eager" implementation gives the weights; the faster ones never write them down.
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()

texts = [SENTENCE_A, SENTENCE_B] if SENTENCE_B else [SENTENCE_A]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
if MASKED:
    inputs["input_ids"][0, list(MASKED)] = tokenizer.mask_token_id

# A tuple with a tensor for each layer, (1, heads, tokens, tokens): row i is softmax(q_i . k_j / sqrt(d)) over all j.
with torch.no_grad():
    attentions = model(**inputs, output_attentions=True).attentions
weights = attentions[LAYER][0, HEAD]

tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
rows = []
for i, here in enumerate(tokens):
    for j, there in enumerate(tokens):
        rows.append((f"{i} {here}", f"{j} {there}", weights[i, j].item()))

print("from, to, weight; the ten strongest")
for row in sorted(rows, key=lambda row: -row[-1])[:10]:
    print(*row)
