"""A text and the same with typos: its pieces, and how likely the untouched words are in the one context and in the other."""

import re
from difflib import SequenceMatcher

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODELS = {"bert-mini": "assets/models/bert-mini"}  # names, and folders or ids of the Hugging Face hub
TEXT = "The captain looked at the dark clouds."
TYPED = "The captian looked at the dark clouds."


def words_of(text):
    """Words and the punctuation between them, with their characters' places."""
    return [(found.group(), *found.span()) for found in re.finditer(r"\w+(?:['’]\w+)*|[^\w\s]+", text)]


def tokens_of(tokenizer, text):
    """The model's inputs, and for each word the positions of its tokens."""
    inputs = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    spans, runs = inputs.pop("offset_mapping")[0].tolist(), inputs.word_ids(0)
    places = [
        [at for at, (_, end) in enumerate(spans) if runs[at] is not None and start < end <= stop]
        for _, start, stop in words_of(text)
    ]
    return inputs, places


def answers(model, tokenizer, inputs, word):
    """For each token of a word, masked with those that follow in it: ln p, and the likeliest token."""
    found = {}
    for number, position in enumerate(word):
        ids = inputs["input_ids"].clone()
        ids[0, word[number:]] = tokenizer.mask_token_id
        with torch.no_grad():
            log_p = model(**{**inputs, "input_ids": ids}).logits[0, position].log_softmax(-1)
        likeliest = tokenizer.convert_ids_to_tokens(int(log_p.argmax()))
        found[position] = log_p[inputs["input_ids"][0, position]].item(), likeliest
    return found


texts = {"clean": TEXT, "typos": TYPED}
loaded = {}
for name, place in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(place)
    model = AutoModelForMaskedLM.from_pretrained(place, dtype=torch.float32).eval()
    loaded[name] = model, tokenizer, {side: tokens_of(tokenizer, text) for side, text in texts.items()}

before, after = ([word for word, _, _ in words_of(text)] for text in texts.values())
same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
pairs = [(block.a + step, block.b + step) for block in same for step in range(block.size)]
pairs = [(left, right) for left, right in pairs if any(map(str.isalnum, before[left]))]
for _, tokenizer, read in loaded.values():  # the same known pieces in both texts, for every model
    kept = []
    for pair in pairs:
        ids = [
            inputs["input_ids"][0, places[word]].tolist()
            for (inputs, places), word in zip(read.values(), pair, strict=True)
        ]
        if ids[0] and ids[0] == ids[1] and tokenizer.unk_token_id not in ids[0]:
            kept.append(pair)
    pairs = kept

rows, means = [], []
for name, (model, tokenizer, read) in loaded.items():
    for number, (side, (inputs, places)) in enumerate(read.items()):
        found = {}
        for pair in pairs:
            found |= answers(model, tokenizer, inputs, places[pair[number]])
        ids = inputs["input_ids"][0].tolist()
        special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
        for position, token in enumerate(tokenizer.convert_ids_to_tokens(ids)):
            if ids[position] not in special:
                rows.append((name, side, position, token, *found.get(position, (None, ""))))
        total = -sum(log_p for log_p, _ in found.values())
        means.append(f"{name}, {side}: {total / max(1, len(pairs)):.3f} nats a word, {len(pairs)} untouched words")

print("model, side, position, token, log_probability, likeliest")
for row in rows:
    print(*row)
print(*means, sep="\n")
