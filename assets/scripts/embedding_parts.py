"""What BERT reads: token + segment + position embeddings, then LayerNorm (Devlin et al. 2019, section 3, figure 2)."""

import torch
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat."
SENTENCE_B = ""  # a second text, or nothing
# Where this family keeps its tables, and what follows their sum.
TABLES = {
    "token": "embeddings.word_embeddings",
    "segment": "embeddings.token_type_embeddings",
    "position": "embeddings.position_embeddings",
}
STAGES = {"layer_norm": "embeddings.LayerNorm"}
FIRST_POSITION = 0  # RoBERTa counts from 2: the rows before belong to padding

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32).eval()
inputs = tokenizer(*[text for text in (SENTENCE_A, SENTENCE_B) if text], return_tensors="pt")
ids = inputs["input_ids"][0]

# Which row of each table a token takes.
wanted = {
    "token": ids,
    "segment": inputs.get("token_type_ids", torch.zeros_like(ids)[None])[0],
    "position": FIRST_POSITION + torch.arange(len(ids)),
}
with torch.no_grad():
    parts = {kind: model.get_submodule(path).weight[wanted[kind]] for kind, path in TABLES.items()}
    states = sum(parts.values())
    parts["sum"] = states
    for stage, path in STAGES.items():
        states = model.get_submodule(path)(states)
        parts[stage] = states
    own = model(**inputs, output_hidden_states=True).hidden_states[0][0]
print(f"largest difference from what the model gives to its first layer: {(states - own).abs().max():.1e}")

rows = []
for position, token in enumerate(tokenizer.convert_ids_to_tokens(ids)):
    for kind, vectors in parts.items():
        rows.append((position, token, kind, vectors[position].norm().item()))

print("position, token, part, norm")
for row in rows:
    print(*row)
