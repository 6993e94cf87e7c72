"""More and more typos in some sentences: how much harder the words without one become."""

import random
import re
from statistics import fmean, stdev

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODELS = {"bert-mini": "assets/models/bert-mini"}  # names, and folders or ids of the Hugging Face hub
SENTENCES = ("The captain looked at the dark clouds.", "The town was founded in 1846.")
SHARES = (0.0, 0.5)  # of the words of four or more letters
SEED = 0
KINDS = ("swap", "drop", "double", "near")
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def near(letter):
    """The keys around a letter's, on an American keyboard."""
    for row, keys in enumerate(KEYS):
        if letter.lower() in keys:
            at = keys.index(letter.lower())
            around = ((row - 1, at), (row - 1, at + 1), (row, at - 1), (row, at + 1), (row + 1, at - 1), (row + 1, at))
            found = "".join(KEYS[r][c] for r, c in around if 0 <= r < 3 and 0 <= c < len(KEYS[r]))
            return found.upper() if letter.isupper() else found
    return ""


def made(word, kind):
    """Every typo of a kind in a word whose first letter stays."""
    inside = range(1, len(word))
    return {
        "swap": [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in inside[:-1] if word[i] != word[i + 1]],
        "drop": [word[:i] + word[i + 1 :] for i in inside],
        "double": [word[: i + 1] + word[i:] for i in inside],
        "near": [word[:i] + key + word[i + 1 :] for i in inside for key in near(word[i])],
    }[kind]


def misspelt(text, share):
    """The text with one typo in a share of its longer words."""
    words = [found for found in re.finditer(r"[^\W\d_]+", text) if len(found.group()) >= 4]
    words = [found for found in words if any(made(found.group(), kind) for kind in KINDS)]
    order = list(range(len(words)))
    random.Random(SEED).shuffle(order)
    for place in sorted(order[: int(share * len(words) + 0.5)], reverse=True):
        draw, word = random.Random(f"{SEED}, word {place}"), words[place].group()
        options = {kind: made(word, kind) for kind in KINDS if made(word, kind)}
        typo = draw.choice(options[draw.choice(sorted(options))])
        text = text[: words[place].start()] + typo + text[words[place].end() :]
    return text


def words_of(text):
    return [(found.group(), *found.span()) for found in re.finditer(r"\w+(?:['’]\w+)*|[^\w\s]+", text)]


def tokens_of(tokenizer, text):
    """The model's inputs, and for each word the positions of its tokens."""
    inputs = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    spans = inputs.pop("offset_mapping")[0].tolist()
    words = [[at for at, (_, end) in enumerate(spans) if start < end <= stop] for _, start, stop in words_of(text)]
    return inputs, words


def loss(model, tokenizer, text, asked):
    """The mean -ln p of some words, each piece masked with those that follow in its word."""
    inputs, words = tokens_of(tokenizer, text)
    ids = inputs["input_ids"][0]
    rows, where = [], []
    for word in asked:
        for number, position in enumerate(words[word]):
            rows.append(ids.clone())
            rows[-1][words[word][number:]] = tokenizer.mask_token_id
            where.append(position)
    others = {name: value.expand(len(rows), -1) for name, value in inputs.items() if name != "input_ids"}
    with torch.no_grad():
        log_p = model(input_ids=torch.stack(rows), **others).logits[range(len(rows)), where].log_softmax(-1)
    return -float(log_p[range(len(rows)), ids[where]].sum()) / len(asked)


loaded = {
    name: (
        AutoModelForMaskedLM.from_pretrained(place, dtype=torch.float32).eval(),
        AutoTokenizer.from_pretrained(place),
    )
    for name, place in MODELS.items()
}


def asked_of(sentence):
    """The words without a typo at the largest share, and of the same known pieces for every model."""
    worst, kept = misspelt(sentence, SHARES[-1]), []
    for place, (one, other) in enumerate(zip(words_of(sentence), words_of(worst), strict=True)):
        fine = one[0] == other[0] and any(map(str.isalnum, one[0]))
        for _, tokenizer in loaded.values():
            (clean, at), (typed, there) = (tokens_of(tokenizer, text) for text in (sentence, worst))
            ids = clean["input_ids"][0, at[place]].tolist()
            fine = fine and bool(ids) and ids == typed["input_ids"][0, there[place]].tolist()
            fine = fine and tokenizer.unk_token_id not in ids
        if fine:
            kept.append(place)
    return kept


asked = [asked_of(sentence) for sentence in SENTENCES]
first, rows = {}, []
for share in SHARES:
    for name, pair in loaded.items():
        losses = [loss(*pair, misspelt(text, share), words) for text, words in zip(SENTENCES, asked, strict=True)]
        added = [now - before for now, before in zip(losses, first.setdefault(name, losses), strict=True)]
        rows.append((name, share, fmean(losses), fmean(added), stdev(added) / len(added) ** 0.5))

print("model, share, loss, added, error (nats a word)")
for row in rows:
    print(*row)
