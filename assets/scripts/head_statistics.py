"""Every attention head by a few numbers: where it looks, and how widely (Clark et al. 2019, sections 3.1 to 3.3)."""

import torch
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "The cat sat on the mat because it was tired."
SENTENCE_B = ""  # a second text, or nothing

tokenizer = AutoTokenizer.from_pretrained(MODEL)
# Only the "eager" implementation gives the weights; the faster ones never write them down.
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()

texts = [SENTENCE_A, SENTENCE_B] if SENTENCE_B else [SENTENCE_A]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
with torch.no_grad():
    attentions = model(**inputs, output_attentions=True).attentions
weights = torch.stack(attentions)[:, 0]  # (layers, heads, tokens, tokens); every row sums to 1

# All of them are means over the rows, that is over the tokens that look.
places = torch.arange(weights.shape[-1])
separators = (inputs["input_ids"][0] == tokenizer.sep_token_id).nonzero().flatten() if tokenizer.sep_token else []
statistics = {
    "entropy": torch.special.entr(weights).sum(-1).mean(-1) / torch.log(torch.tensor(2.0)),  # in bits
    "distance": (weights * (places[:, None] - places).abs()).sum(-1).mean(-1),  # in tokens
    "to_first": weights[..., 0].mean(-1),
    "to_separator": weights[..., separators].sum(-1).mean(-1) if len(separators) else None,
    "to_previous": weights.diagonal(-1, -2, -1).mean(-1),
    "to_next": weights.diagonal(1, -2, -1).mean(-1),
    "to_itself": weights.diagonal(0, -2, -1).mean(-1),
}

rows = []
for name, grid in statistics.items():
    if grid is not None:
        for layer, heads in enumerate(grid.nan_to_num().tolist()):  # 0 where one token has no neighbour
            rows += [(layer, head, name, value) for head, value in enumerate(heads)]

print("layer, head, statistic, value")
for row in rows:
    print(*row)
