"""BERT's pretraining recipe on one text: choose 15% of the tokens, replace them 80/10/10, and pay for those alone.

Devlin et al. 2019, section 3.1 and appendix A.1; whole words as released in 2019; n-grams as in ALBERT (Lan et al. 2020).
"""

from itertools import groupby

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The quick brown fox jumps over the lazy dog."
RATE = 0.15  # of the tokens are chosen
MASK_SHARE = 0.8  # of the chosen become [MASK],
RANDOM_SHARE = 0.1  # these a random token; the rest stay as they are and must be predicted all the same
SCHEME = "token"  # or "whole_word", or "ngram"
SEED = 0

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32).eval()
inputs = tokenizer(TEXT, return_tensors="pt")
ids = inputs["input_ids"][0]
generator = torch.Generator().manual_seed(SEED)

# Special tokens are never chosen.
special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
word_of = [None if token in special else word for token, word in zip(ids.tolist(), inputs.word_ids(0), strict=True)]
candidates = [place for place, word in enumerate(word_of) if word is not None]
words = [
    list(places) for word, places in groupby(range(len(ids)), key=lambda place: word_of[place]) if word is not None
]
budget = max(1, round(RATE * len(candidates))) if RATE else 0

# Shuffle what can be chosen, and take it until the budget is full.
chosen = []
if not budget:
    pass
elif SCHEME == "token":
    order = torch.randperm(len(candidates), generator=generator)
    chosen = [candidates[place] for place in order[:budget]]
else:
    order = torch.randperm(len(words), generator=generator).tolist()
    lengths = [1] * len(words)
    if SCHEME == "ngram":  # runs of one to three words, p(n) proportional to 1/n
        odds = 1 / torch.arange(1, 4, dtype=torch.float64)
        lengths = (1 + torch.multinomial(odds / odds.sum(), len(words), replacement=True, generator=generator)).tolist()
    used = set()
    for first, longest in zip(order, lengths, strict=True):
        for length in range(longest, 0, -1):
            run = range(first, min(first + length, len(words)))
            places = [place for word in run for place in words[word]]
            if len(run) == length and used.isdisjoint(run) and len(chosen) + len(places) <= budget:
                chosen += places
                used.update(run)
                break
    chosen = chosen or words[order[0]]  # something is always predicted

# Each chosen token's fate is drawn on its own.
draw = torch.rand(len(ids), generator=generator)
fates = ["untouched"] * len(ids)
for place in sorted(chosen):
    is_random = MASK_SHARE <= draw[place] < MASK_SHARE + RANDOM_SHARE
    fates[place] = "mask" if draw[place] < MASK_SHARE else "random" if is_random else "kept"
ordinary = torch.tensor([token for token in range(len(tokenizer)) if token not in tokenizer.all_special_ids])
at_random = [place for place, fate in enumerate(fates) if fate == "random"]
corrupted = ids.clone()
corrupted[[place for place, fate in enumerate(fates) if fate == "mask"]] = tokenizer.mask_token_id
corrupted[at_random] = ordinary[torch.randint(len(ordinary), (len(at_random),), generator=generator)]

# The loss of a chosen token is -ln p of the original, in nats; all other positions carry none.
with torch.no_grad():
    logits = model(**{**inputs, "input_ids": corrupted[None]}).logits[0]
losses = -logits.log_softmax(-1)[range(len(ids)), ids]
if chosen:
    print(f"MLM loss: {losses[chosen].mean():.4f} nats, the mean over {len(chosen)} tokens")

names, shown = tokenizer.convert_ids_to_tokens(ids), tokenizer.convert_ids_to_tokens(corrupted)
rows = []
for place, fate in enumerate(fates):
    loss = losses[place].item() if fate != "untouched" else None
    rows.append((place, names[place], shown[place], fate, loss))

print("position, original, shown, fate, loss")
for row in rows:
    print(*row)
