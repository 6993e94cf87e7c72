"""Does ELECTRA's discriminator (Clark et al. 2020) notice words that were replaced by hand?"""

from difflib import SequenceMatcher

import torch
from transformers import AutoTokenizer, ElectraForPreTraining

MODEL = "assets/models/electra-mini-discriminator"  # a folder, or an id of the Hugging Face hub
TEXT = "The farmer milked the cow."
SHOWN = "The farmer milked the piano."

tokenizer = AutoTokenizer.from_pretrained(MODEL)
discriminator = ElectraForPreTraining.from_pretrained(MODEL, dtype=torch.float32).eval()


def own_tokens(text):
    """Positions and ids of a text's own tokens, without the special ones."""
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    return [(place, token) for place, token in enumerate(tokenizer(text)["input_ids"]) if token not in special]


# The model reads what is shown, and nothing else: no [MASK], and not the text as it was.
with torch.no_grad():
    probabilities = discriminator(**tokenizer(SHOWN, return_tensors="pt")).logits[0].sigmoid()

# A token counts as replaced where the two texts differ.
before, after = own_tokens(TEXT), own_tokens(SHOWN)
same = SequenceMatcher(None, [token for _, token in before], [token for _, token in after], autojunk=False)
rows = []
for kind, start, stop, first, last in same.get_opcodes():
    for number in range(first, last):
        place, token = after[number]
        source = start + number - first
        original = tokenizer.convert_ids_to_tokens(before[source][1]) if source < stop else ""
        shown = tokenizer.convert_ids_to_tokens(token)
        rows.append((place, original, shown, kind != "equal", probabilities[place].item()))

print("position, original, shown, is_replaced, probability")
for row in rows:
    print(*row)
