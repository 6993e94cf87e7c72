"""Who looks at whom in one layer under each mask: the mean over the heads (Vaswani et al. 2017, section 3.2.3)."""

import torch
from transformers import AutoModel, AutoTokenizer

ENCODER = "assets/models/bert-small"  # folders, or ids of the Hugging Face hub
DECODER = "assets/models/gpt2-mini"
TEXT = "The keys to the cabinet are on the table."
POSITION = 6  # a token of the encoder's; its whole word is hidden
LAYER = 0  # from 0; a model with fewer shows its last


def look(model, context, ids, allowed, names):
    """The rows of one model under one mask; what may not be looked at is left out."""
    mask = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
    with torch.no_grad():
        layers = model(input_ids=ids, attention_mask=mask[None, None], output_attentions=True).attentions
    layer = min(LAYER, len(layers) - 1)
    weights = layers[layer][0].mean(0)
    name = {"bert": "bert-small", "gpt2": "gpt2-mini"}[model.config.model_type]
    places = [(one, other) for one in range(len(names)) for other in range(len(names)) if allowed[one, other]]
    return [(context, name, layer, i, j, names[i], names[j], float(weights[i, j])) for i, j in places]


spelled = AutoTokenizer.from_pretrained(DECODER)
decoder = AutoModel.from_pretrained(DECODER, dtype=torch.float32, attn_implementation="eager").eval()
ids = torch.tensor([[spelled.bos_token_id, *spelled(TEXT)["input_ids"]]])
at = torch.arange(ids.shape[1])
rows = look(decoder, "left", ids, at[None, :] <= at[:, None], [spelled.decode([token]) for token in ids[0].tolist()])

tokenizer = AutoTokenizer.from_pretrained(ENCODER)
encoder = AutoModel.from_pretrained(ENCODER, dtype=torch.float32, attn_implementation="eager").eval()
batch = tokenizer(TEXT, return_tensors="pt")
words = batch.word_ids(0)
pieces = [place for place, word in enumerate(words) if word is not None and word == words[POSITION]]
ids = batch["input_ids"]
ids[0, pieces] = tokenizer.mask_token_id
at, first = torch.arange(ids.shape[1]), pieces[0]
names = [tokenizer.decode([token]) for token in ids[0].tolist()]
for context, allowed in (
    ("left", at[None, :] <= at[:, None]),  # itself and what comes before
    ("right", ((at >= first) | (at == 0)).expand(len(at), -1)),  # nothing before the blank but [CLS]
    ("both", torch.ones(len(at), len(at), dtype=torch.bool)),
):
    rows += look(encoder, context, ids, allowed, names)

print("context, model, layer, from, to, weight; the ten strongest")
for row in sorted(rows, key=lambda row: -row[-1])[:10]:
    print(*row)
