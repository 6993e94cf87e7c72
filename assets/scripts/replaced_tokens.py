"""ELECTRA's loop (Clark et al. 2020, section 2): mask some tokens, let a generator write there, ask a discriminator about all."""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import AutoTokenizer, ElectraForMaskedLM, ElectraForPreTraining

MODEL = "assets/models/electra-mini-discriminator"  # a folder, or an id of the Hugging Face hub
GENERATOR = "assets/models/electra-mini-generator"
TEXT = "The quick brown fox jumps over the lazy dog."
TEMPERATURE = 1.0  # of the generator; near 0 it writes its likeliest token
SEED = 0
RATE = 0.15  # of the tokens are masked

tokenizer = AutoTokenizer.from_pretrained(MODEL)
discriminator = ElectraForPreTraining.from_pretrained(MODEL, dtype=torch.float32).eval()
generator = ElectraForMaskedLM.from_pretrained(GENERATOR, dtype=torch.float32).eval()
inputs = tokenizer(TEXT, return_tensors="pt")
ids = inputs["input_ids"][0]

# Choose: the text's own tokens are shuffled, and some of them taken.
special = set(tokenizer.all_special_ids)
own = [place for place, token in enumerate(ids.tolist()) if token not in special or token == tokenizer.unk_token_id]
dice = torch.Generator().manual_seed(SEED)
count = max(1, round(RATE * len(own))) if RATE else 0
order = torch.randperm(len(own), generator=dice).tolist() if count else []
chosen = sorted(own[place] for place in order[:count])

# Write: the generator sees [MASK] there, and one token is drawn from what it holds likely.
shown = ids.clone()
if chosen:
    masked = ids.clone()
    masked[chosen] = tokenizer.mask_token_id
    with torch.no_grad():
        logits = generator(**{**inputs, "input_ids": masked[None]}).logits[0, chosen]
    ordinary = torch.tensor([token for token in range(len(tokenizer)) if token not in special])
    scores = logits[:, ordinary] - logits[:, ordinary].amax(-1, keepdim=True)
    cumulative = (scores / max(TEMPERATURE, 1e-6)).softmax(-1).cumsum(-1)
    draw = torch.rand(len(chosen), 1, generator=dice) * cumulative[:, -1:]
    drawn = torch.searchsorted(cumulative, draw, right=True).squeeze(1).clamp(max=len(ordinary) - 1)
    shown[chosen] = ordinary[drawn]
    masked_loss = -logits.log_softmax(-1)[range(len(chosen)), ids[chosen]].mean()
    print(f"generator: {masked_loss:.4f} nats, the mean over {len(chosen)} masked tokens")

# Judge: one logit for every token; what the generator happened to get right counts as original.
with torch.no_grad():
    logits = discriminator(**{**inputs, "input_ids": shown[None]}).logits[0]
replaced = shown != ids
loss = binary_cross_entropy_with_logits(logits[own], replaced[own].float())
print(f"discriminator: {loss:.4f} nats, the mean over all {len(own)} tokens")

names, written = tokenizer.convert_ids_to_tokens(ids), tokenizer.convert_ids_to_tokens(shown)
judged = logits.sigmoid().tolist()
rows = [(place, names[place], place in chosen, written[place], bool(replaced[place]), judged[place]) for place in own]
print("position, original, masked, shown, is_replaced, probability")
for row in rows:
    print(*row)
