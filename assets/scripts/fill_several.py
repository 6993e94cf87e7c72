"""Several blanks filled together: each alone, left to right, surest first, and in steps (Ghazvininejad et al. 2019)."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "She lives in [MASK] [MASK], a city in California."
STEPS = 2  # of the last way

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForMaskedLM.from_pretrained(MODEL, dtype=torch.float32).eval()
mask = tokenizer.mask_token_id
for spelling in ("[MASK]", "<mask>"):
    TEXT = TEXT.replace(spelling, tokenizer.mask_token)
inputs = tokenizer(TEXT, return_tensors="pt")
places = (inputs["input_ids"][0] == mask).nonzero().flatten().tolist()
blanks = range(len(places))


def look(held):
    """ln p over the vocabulary at every blank, where the blanks hold these tokens."""
    inputs["input_ids"][0, places] = torch.tensor(held)
    with torch.no_grad():
        return model(**inputs).logits[0, places].log_softmax(-1)  # (blanks, vocabulary)


def best(held):
    """The likeliest token for every blank that is no special one, and its ln p."""
    scores = look(held)
    scores[:, tokenizer.all_special_ids] = -torch.inf
    return scores.argmax(-1).tolist(), scores.max(-1).values.tolist()


def in_turn(choose):
    held, sure, states = [mask] * len(places), [None] * len(places), []
    while mask in held:
        tokens, found = best(held)
        blank = choose([one for one in blanks if held[one] == mask], found)
        held[blank], sure[blank] = tokens[blank], found[blank]
        states.append((list(held), list(sure)))
    return states


def in_steps(steps):
    states = [best([mask] * len(places))]
    for step in range(1, steps):
        held, sure = map(list, states[-1])
        again = sorted(blanks, key=sure.__getitem__)[: len(places) * (steps - step) // steps]
        if not again:
            break
        tokens, found = best([mask if blank in again else held[blank] for blank in blanks])
        for blank in again:  # the least sure are guessed again, with the others in view
            held[blank], sure[blank] = tokens[blank], found[blank]
        states.append((held, sure))
    return states


ways = {
    "each alone": in_steps(1),
    "left to right": in_turn(lambda empty, sure: empty[0]),
    "surest first": in_turn(lambda empty, sure: max(empty, key=sure.__getitem__)),
    "in steps": in_steps(STEPS),
}

rows = []
for way, states in ways.items():
    final = states[-1][0]
    # ln p of all together, by the chain rule: each blank with those to its left filled and the rest empty.
    terms = [look([*final[:blank], *[mask] * (len(places) - blank)])[blank, final[blank]] for blank in blanks]
    joint = sum(term.item() for term in terms)
    for number, (held, sure) in enumerate(states, start=1):
        for blank, place in enumerate(places):
            filled = sure[blank] is not None
            token = tokenizer.decode([held[blank]]).strip() if filled else None
            share = torch.tensor(sure[blank]).exp().item() if filled else None
            rows.append((way, number, place, token, share, joint))

print("order, step, position, token, probability, joint")
for row in rows:
    print(*row)
