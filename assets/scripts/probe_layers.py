"""Linear probes: scikit-learn's logistic regression on each layer's states, beside a control task's random labels."""

import json
from collections import Counter
from random import Random

import torch
from sklearn.linear_model import LogisticRegression
from transformers import AutoModel, AutoTokenizer

MODELS = {"bert-mini": "assets/models/bert-mini"}  # folders, or ids of the Hugging Face hub
TASK = "sense"
PENALTY = 0.1
SEED = 0

with open(f"assets/probes/{TASK}.jsonl", encoding="utf-8") as file:
    examples = [json.loads(line) for line in file]
words = [
    (example["held_out"], example["text"][start:stop].lower(), label, about)
    for example in examples
    for start, stop, label, about in example["words"]
]
held_out = torch.tensor([word[0] for word in words])
labels = [label for _, _, label, _ in words]

# The control task: a label for each word type, drawn once. Of a sense: for each word that tells it, of that word's senses.
of_senses = any(spelled != about for _, spelled, _, about in words)
counts, drawn, random, controls = {}, {}, Random(SEED), []
for _, spelled, label, _ in words:
    counts.setdefault(spelled if of_senses else "", Counter())[label] += 1
for _, spelled, _, about in words:
    key = (spelled if of_senses else "", about)
    if key not in drawn:
        drawn[key] = random.choices(list(counts[key[0]]), list(counts[key[0]].values()))[0]
    controls.append(drawn[key])

several = {spelled for _, spelled, *_ in words if len({other[2] for other in words if other[1] == spelled}) > 1}
ambiguous = torch.tensor([spelled in several for _, spelled, *_ in words])


def states_of(place):
    """(layers + 1, words, width): a word of several pieces has the mean of their states."""
    tokenizer = AutoTokenizer.from_pretrained(place)
    model = AutoModel.from_pretrained(place, dtype=torch.float32).eval()
    found = []
    for example in examples:
        inputs = tokenizer(example["text"], return_tensors="pt", return_offsets_mapping=True)
        offsets = inputs.pop("offset_mapping")[0].tolist()
        with torch.no_grad():
            states = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)[:, 0]
        for start, stop, *_ in example["words"]:
            pieces = [i for i, (first, last) in enumerate(offsets) if first < stop and last > start and last > first]
            found.append(states[:, pieces].mean(1))
    return torch.stack(found, dim=1)


def right(states, wanted):
    mean, deviation = states[~held_out].mean(0), states[~held_out].std(0, correction=0)
    states = ((states - mean) / deviation.where(deviation > 1e-6, 1)).double().numpy()
    wanted = torch.tensor([sorted(set(labels)).index(label) for label in wanted])
    strength = 1 / (PENALTY * int((~held_out).sum()))
    probe = LogisticRegression(C=strength, tol=1e-5, max_iter=1000).fit(states[~held_out], wanted[~held_out])
    return torch.tensor(probe.predict(states[held_out])) == wanted[held_out]


rows = []
for name, place in MODELS.items():
    for layer, states in enumerate(states_of(place)):
        told, control = right(states, labels), right(states, controls)
        accuracy, learnt = float(told.float().mean()), float(control.float().mean())
        rows.append((name, layer, accuracy, learnt, accuracy - learnt, float(told[ambiguous[held_out]].float().mean())))

print("model, layer, accuracy, control, selectivity, ambiguous")
for row in rows:
    print(*row)
