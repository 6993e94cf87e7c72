"""One word in several sentences: how alike its vectors are, layer by layer (Ethayarajh 2019, sections 3.3 and 4.1)."""

import re
from itertools import combinations

import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoModel, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCES = ("She sat on the bank of the river.", "He took the money to the bank.")
WORD = "bank"
OTHERS = ("The train leaves at half past seven.", "Bread is baked in the morning.")  # for the baseline alone
SEED = 0
PAIRS = 1000

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModel.from_pretrained(MODEL, dtype=torch.float32).eval()
table = model.get_input_embeddings().weight.detach()
special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}

words, pool, pool_ids, owners = [], [], [], []
for number, text in enumerate([*SENTENCES, *OTHERS]):
    inputs = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    spans = inputs.pop("offset_mapping")[0].tolist()
    ids = inputs["input_ids"][0]
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    # What the vocabulary holds, what the first layer reads, and what each layer hands on: (depth + 2, tokens, width).
    states = torch.stack([table[ids], *(layer[0] for layer in hidden)])
    inside = []
    if number < len(SENTENCES):
        found = re.search(rf"(?<!\w){re.escape(WORD)}(?!\w)", text, re.IGNORECASE) or re.search(re.escape(WORD), text)
        inside = [place for place, (start, stop) in enumerate(spans) if start < found.end() and stop > found.start()]
        words.append(states[:, inside].mean(1))  # the mean of a word's pieces
    others = [place for place in range(len(ids)) if place not in inside and ids[place].item() not in special]
    pool.append(states[:, others])
    pool_ids.append(ids[others])
    owners += [number] * len(others)

# In some layers any two tokens point in nearly the same direction. So compare with random tokens of different sentences and
# of different spelling.
pool, pool_ids, owners = torch.cat(pool, 1), torch.cat(pool_ids), torch.tensor(owners)
drawn = torch.randint(len(owners), (2, 20 * PAIRS), generator=torch.Generator().manual_seed(SEED))
apart = owners[drawn[0]] != owners[drawn[1]]
unlike = apart & (pool_ids[drawn[0]] != pool_ids[drawn[1]])
one, other = drawn[:, unlike if unlike.any() else apart][:, :PAIRS]

rows = []
for place in range(len(pool)):
    baseline = cosine_similarity(pool[place, one].double(), pool[place, other].double(), dim=-1).mean().item()
    for first, second in combinations(range(len(words)), 2):
        cosine = cosine_similarity(words[first][place].double(), words[second][place].double(), dim=0).item()
        rows.append((place - 1, first + 1, second + 1, cosine, baseline))

print("layer (-1: the token embedding alone), first, second, cosine, baseline")
for row in rows:
    print(*row)
