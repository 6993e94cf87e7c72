"""BERT's 15% and 80/10/10, drawn many times: how the shares settle (Devlin et al. 2019, appendix A.1). No model is asked."""

from itertools import groupby

import torch
from transformers import AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub; its tokenizer alone is used
TEXT = "The quick brown fox jumps over the lazy dog."
RATE = 0.15  # of the tokens are chosen
MASK_SHARE = 0.8  # of the chosen become [MASK],
RANDOM_SHARE = 0.1  # these a random token; the rest stay as they are
SCHEME = "token"  # or "whole_word", or "ngram"
SEED = 0
DRAWS = 1000

tokenizer = AutoTokenizer.from_pretrained(MODEL)
batch = tokenizer(TEXT)
special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
word_of = [
    None if token in special else word for token, word in zip(batch["input_ids"], batch.word_ids(0), strict=True)
]
candidates = [place for place, word in enumerate(word_of) if word is not None]
words = [
    list(places) for word, places in groupby(range(len(word_of)), key=lambda place: word_of[place]) if word is not None
]
budget = max(1, round(RATE * len(candidates))) if RATE else 0
generator = torch.Generator().manual_seed(SEED)


def choose():
    """The positions of one draw: what can be chosen is shuffled and taken until the budget is full."""
    if not budget:
        return []
    if SCHEME == "token":
        return [candidates[place] for place in torch.randperm(len(candidates), generator=generator)[:budget]]
    order = torch.randperm(len(words), generator=generator).tolist()
    lengths = [1] * len(words)
    if SCHEME == "ngram":  # runs of one to three words, p(n) proportional to 1/n (ALBERT)
        odds = 1 / torch.arange(1, 4, dtype=torch.float64)
        lengths = (1 + torch.multinomial(odds / odds.sum(), len(words), replacement=True, generator=generator)).tolist()
    chosen, used = [], set()
    for first, longest in zip(order, lengths, strict=True):
        for length in range(longest, 0, -1):
            run = range(first, min(first + length, len(words)))
            places = [place for word in run for place in words[word]]
            if len(run) == length and used.isdisjoint(run) and len(chosen) + len(places) <= budget:
                chosen += places
                used.update(run)
                break
    return chosen or words[order[0]]


counts = torch.zeros(DRAWS, 3, dtype=torch.float64)  # [MASK], random, kept
for number in range(DRAWS):
    chosen = choose()
    draw = torch.rand(len(word_of), generator=generator)[chosen]
    is_mask, is_replaced = draw < MASK_SHARE, draw < MASK_SHARE + RANDOM_SHARE
    counts[number] = torch.stack([is_mask.sum(), (is_replaced & ~is_mask).sum(), (~is_replaced & ~is_mask).sum()])

# The running shares, at some sixty numbers of draws evenly on a logarithmic scale.
running = counts.cumsum(0)
steps = torch.logspace(0, torch.log10(torch.tensor(float(DRAWS))), 60)
rows = []
for draws in sorted({min(DRAWS, max(1, round(step))) for step in steps.tolist()}):
    total = running[draws - 1].sum()
    of_chosen = (running[draws - 1] / total.clamp(min=1)).tolist()
    rows.append((draws, total.item() / (draws * len(candidates)), *of_chosen))

print("draws, chosen, [MASK] of the chosen, random, kept")
for row in rows:
    print(*row)
