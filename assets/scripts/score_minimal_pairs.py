"""Minimal pairs: which of two sentences a model finds likelier, by the sum of ln p of their tokens."""

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
PAIRS = (("agreement", "The keys are here.", "The keys is here."),)  # kind, the better sentence, the worse
CAUSAL = False  # whether the model reads from the left, as GPT-2 does
MASKING = "rest_of_word"  # hide a token and the pieces after it in its word (Kauf and Ivanova 2023); or "token"

tokenizer = AutoTokenizer.from_pretrained(MODEL)
kind = AutoModelForCausalLM if CAUSAL else AutoModelForMaskedLM
model = kind.from_pretrained(MODEL, dtype=torch.float32).eval()
special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}


def log_probabilities(sentence):
    """Position, token and ln p of every token that is no special one."""
    inputs = tokenizer(sentence, return_tensors="pt")
    ids, words = inputs["input_ids"][0], inputs.word_ids(0)
    places = [place for place, token in enumerate(ids.tolist()) if token not in special and words[place] is not None]
    if CAUSAL:  # one pass: the state before a token says what it expects there
        begun = torch.cat([torch.tensor([tokenizer.bos_token_id]), ids])
        with torch.no_grad():
            found = model(input_ids=begun[None]).logits[0, places].log_softmax(-1)
    else:  # a row for each token
        rows = ids.repeat(len(places), 1)
        for row, place in zip(rows, places, strict=True):
            hidden = [other for other in places if other > place and words[other] == words[place]]
            row[[place, *hidden] if MASKING == "rest_of_word" else [place]] = tokenizer.mask_token_id
        others = {name: value.expand(len(rows), -1) for name, value in inputs.items() if name != "input_ids"}
        with torch.no_grad():
            logits = model(input_ids=rows, **others).logits
        found = logits[torch.arange(len(rows)), places].log_softmax(-1)
    tokens = tokenizer.convert_ids_to_tokens(ids[places].tolist())
    return [(place, token, row[ids[place]].item()) for place, token, row in zip(places, tokens, found, strict=True)]


rows = []
for kind, *pair in PAIRS:
    tokens = [log_probabilities(sentence) for sentence in pair]
    better, worse = (sum(entry[-1] for entry in one) for one in tokens)
    right = "yes" if better > worse else "no"
    rows.append((kind, *pair, better, worse, *map(len, tokens), better - worse, right))

print("kind, better, worse, score of better, score of worse, tokens of better, tokens of worse, difference, right")
for row in rows:
    print(*row, sep=", ")
print(sum(row[-1] == "yes" for row in rows), "of", len(rows), "right")
