"""How likely is a sentence? Each token masked in turn (Salazar et al. 2020), or from the left by a model that writes."""

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCES = ("The keys to the cabinet are on the table.", "The keys to the cabinet is on the table.")
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


rows, sums = [], []
for number, sentence in enumerate(SENTENCES, start=1):
    scored = log_probabilities(sentence)
    rows += [(number, *entry) for entry in scored]
    sums.append(sum(entry[-1] for entry in scored))

print("sentence, position, token, log_probability")
for row in rows:
    print(*row)
for sentence, total in zip(SENTENCES, sums, strict=True):
    print(f"{total:.3f} nats: {sentence}")
