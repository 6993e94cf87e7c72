"""Attention heads switched off: what a model says with and without them (Michel et al. 2019, section 2)."""

from itertools import count

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
SENTENCE_B = ""  # a second text, or nothing
HEADS = ((0, 1), (5, 2))  # (layer, head), both from 0
TOP_K = 5
QUESTION = "mask"  # what stands at each mask; or "next": does B follow; or "continue": what comes next
CLASSES = ()  # of "next"
# The linear map behind each layer's heads; ALBERT has one for all of its layers.
OUTPUTS = ("bert.encoder.layer.0.attention.output.dense", "bert.encoder.layer.1.attention.output.dense")

kinds = {"mask": AutoModelForMaskedLM, "next": AutoModelForNextSentencePrediction, "continue": AutoModelForCausalLM}
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = kinds[QUESTION].from_pretrained(MODEL, dtype=torch.float32).eval()
texts = [text for text in (TEXT, SENTENCE_B) if text]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
ids = inputs["input_ids"][0].tolist()
masks = [place for place, token in enumerate(ids) if token == tokenizer.mask_token_id]
places = {"mask": masks, "next": [0], "continue": [len(ids) - 1]}[QUESTION]


def probabilities():
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    return (logits[None] if QUESTION == "next" else logits).softmax(-1)  # (places, classes)


# What a layer's heads have gathered stands side by side in the input of its output map: multiply each head's part by 1, or
# by 0 to switch it off.
depth, width = model.config.num_hidden_layers, model.config.num_attention_heads
gates = torch.ones(depth, width)
for layer, head in HEADS:
    gates[layer, head] = 0
calls = count()  # the k-th call is that of layer k


def switch(module, given):
    by_head = given[0].unflatten(-1, (width, -1)) * gates[next(calls) % depth][:, None]
    return (by_head.flatten(-2), *given[1:])


before = probabilities()
for name in OUTPUTS:
    model.get_submodule(name).register_forward_pre_hook(switch)
after = probabilities()

rows = []
for place in places:
    best = [
        *before[place].topk(min(TOP_K, before.shape[-1])).indices,
        *after[place].topk(min(TOP_K, before.shape[-1])).indices,
    ]
    for number in dict.fromkeys(int(number) for number in best):
        answer = CLASSES[number] if CLASSES else tokenizer.decode([number])
        rows.append((place, answer, before[place, number].item(), after[place, number].item()))

print("position, token, probability before, probability after")
for row in rows:
    print(*row)
