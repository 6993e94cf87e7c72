"""DeBERTa's attention scores in three terms, by hand (He et al. 2021, equation 4)."""

import torch
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/deberta-mini"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat because it was tired."
SENTENCE_B = ""  # a second text, or nothing
LAYER = 0  # from 0, as heads are
HEAD = 0

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32).eval()
texts = [SENTENCE_A, SENTENCE_B] if SENTENCE_B else [SENTENCE_A]
texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
with torch.no_grad():
    output = model(**inputs, output_hidden_states=True, output_attentions=True)
states = output.hidden_states[LAYER][0]  # what this layer is given, (tokens, width)

# One matrix maps to query, key and value, which stand side by side in each head; the query has a bias, the key has none.
attention = model.encoder.layer[LAYER].attention.self
heads = model.config.num_attention_heads
with torch.no_grad():
    query, key, _ = attention.in_proj(states).unflatten(-1, (heads, 3, -1))[:, HEAD].unbind(1)  # (tokens, d) each
    query = query + attention.q_bias.unflatten(-1, (heads, -1))[HEAD]
    # A vector for each distance from -k to k - 1, as a key and as a query.
    relative = model.encoder.rel_embeddings.weight  # (2k, width)
    key_of_distance = attention.pos_proj(relative).unflatten(-1, (heads, -1))[:, HEAD]
    query_of_distance = attention.pos_q_proj(relative).unflatten(-1, (heads, -1))[:, HEAD]

places = torch.arange(len(states))
k = len(relative) // 2
delta = (places[:, None] - places + k).clamp(0, 2 * k - 1)  # delta(i, j): the row for the way from i to j
scale = (3 * query.shape[-1]) ** 0.5
content = query @ key.T / scale
to_position = (query @ key_of_distance.T).gather(1, delta) / scale
from_position = torch.einsum("jd,ijd->ij", key, query_of_distance[delta]) / scale
scores = content + to_position + from_position
weights = scores.softmax(-1)
print(
    "differs from the model's own attention by at most",
    (weights - output.attentions[LAYER][0, HEAD]).abs().max().item(),
)

tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
rows = []
for i, here in enumerate(tokens):
    for j, there in enumerate(tokens):
        parts = [matrix[i, j].item() for matrix in (content, to_position, from_position, scores, weights)]
        rows.append((f"{i} {here}", f"{j} {there}", *parts))

print("from, to, content_content, content_position, position_content, score, weight; the ten strongest")
for row in sorted(rows, key=lambda row: -row[-1])[:10]:
    print(*row)
