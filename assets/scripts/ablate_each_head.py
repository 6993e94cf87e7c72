"""Every attention head switched off alone: which of them an answer leans on (Michel et al. 2019, section 3.2)."""

from itertools import count

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
SENTENCE_B = ""  # a second text, or nothing
QUESTION = "mask"  # what stands at the first mask; or "next": does B follow; or "continue": what comes next
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
place = ids.index(tokenizer.mask_token_id) if QUESTION == "mask" else len(ids) - 1


def probabilities():
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    return (logits if QUESTION == "next" else logits[place]).softmax(-1)  # (classes,)


before = probabilities()
best = int(before.argmax())
answer = CLASSES[best] if CLASSES else tokenizer.decode([best])

# What a layer's heads have gathered stands side by side in the input of its output map: multiply each head's part by 1, or
# by 0 to switch it off.
depth, width = model.config.num_hidden_layers, model.config.num_attention_heads
gates = torch.ones(depth, width)
calls = count()  # the k-th call is that of layer k


def switch(module, given):
    by_head = given[0].unflatten(-1, (width, -1)) * gates[next(calls) % depth][:, None]
    return (by_head.flatten(-2), *given[1:])


for name in OUTPUTS:
    model.get_submodule(name).register_forward_pre_hook(switch)

rows = []
for layer in range(depth):
    for head in range(width):
        gates[layer, head] = 0
        rows.append((layer, head, answer, before[best].item(), probabilities()[best].item()))
        gates[layer, head] = 1

print("layer, head, token, probability before, probability after")
for row in rows:
    print(*row)
