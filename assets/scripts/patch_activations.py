"""Activation patching: each state of one sentence carried over into another's pass, and the blank asked again."""

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
BASE = "The key to the cabinet [MASK] on the table."
SOURCE = "The keys to the cabinet [MASK] on the table."
PAIR = (1110, 1132)  # the ids of the two answers
MODULE = "bert.encoder.layer.*"
GIVEN = True  # what the module is given is carried over; otherwise what it gives
CAUSAL = False

tokenizer = AutoTokenizer.from_pretrained(MODEL)
kind = AutoModelForCausalLM if CAUSAL else AutoModelForMaskedLM
model = kind.from_pretrained(MODEL, dtype=torch.float32).eval()
names = [MODULE.replace("*", str(number)) for number in range(model.config.num_hidden_layers)]
modules = [module for name, module in model.named_modules() if name in names]


def encoded(text):
    for spelling in ("[MASK]", "<mask>"):
        text = text.partition(spelling)[0].rstrip() if CAUSAL else text.replace(spelling, tokenizer.mask_token)
    return tokenizer(text, return_tensors="pt")


def read(inputs, layer=None, position=None, state=None):
    """The difference of the two answers' logits and what passes each layer, (length, width), with one state replaced."""
    passed = []

    def carry(states):
        states = states.clone()
        if len(passed) == layer:  # a layer that all share is called at each depth
            states[0, position] = state
        passed.append(states[0])
        return states

    def given(module, values, named):
        if values:
            return (carry(values[0]), *values[1:]), named
        return values, {**named, "hidden_states": carry(named["hidden_states"])}

    hooks = [
        module.register_forward_pre_hook(given, with_kwargs=True)
        if GIVEN
        else module.register_forward_hook(lambda module, values, gave: carry(gave))
        for module in modules
    ]
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    for hook in hooks:
        hook.remove()
    place = -1 if CAUSAL else inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    return float(logits[place, PAIR[1]] - logits[place, PAIR[0]]), passed


base, source = encoded(BASE), encoded(SOURCE)
start, _ = read(base)
end, others = read(source)

rows = []
for layer, states in enumerate(others):
    for position, state in enumerate(states):
        ids = base["input_ids"][0, position], source["input_ids"][0, position]
        share = (read(base, layer, position, state)[0] - start) / (end - start)
        rows.append((layer, position, *map(tokenizer.decode, ids), share))

print("layer, position, token, source, share")
for row in rows:
    print(*row)
