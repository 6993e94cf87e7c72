"""One token's embeddings against their sum: which part makes up most of it (Devlin et al. 2019, section 3, figure 2)."""

import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat."
SENTENCE_B = ""  # a second text, or nothing
POSITION = 1  # of the token; 0 is the first special token
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
segments = inputs.get("token_type_ids", torch.zeros_like(ids)[None])[0]
wanted = {"token": ids[POSITION], "segment": segments[POSITION], "position": FIRST_POSITION + POSITION}

rows = []
with torch.no_grad():
    added = {kind: model.get_submodule(path).weight[wanted[kind]] for kind, path in TABLES.items()}
    state = sum(added.values())
    # part . sum / |sum|^2: the parts' shares make 1, and a negative one points against the sum.
    for kind, part in added.items():
        share = part @ state / (state @ state)
        rows.append((kind, part.norm().item(), cosine_similarity(part, state, dim=0).item(), share.item()))
    rows.append(("sum", state.norm().item(), None, None))
    for stage, path in STAGES.items():
        state = model.get_submodule(path)(state)
        rows.append((stage, state.norm().item(), None, None))

print("part, norm, cosine with the sum, share of it")
for row in rows:
    print(*row)
