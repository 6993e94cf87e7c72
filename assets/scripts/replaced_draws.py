"""How well ELECTRA's discriminator tells replaced tokens from original ones, over many draws of one text: the ROC curve."""

import torch
from transformers import AutoTokenizer, ElectraForMaskedLM, ElectraForPreTraining

MODEL = "assets/models/electra-mini-discriminator"  # a folder, or an id of the Hugging Face hub
GENERATOR = "assets/models/electra-mini-generator"
TEXT = "The quick brown fox jumps over the lazy dog."
TEMPERATURE = 1.0  # of the generator
SEED = 0  # of the first draw; each has the next one
RATE = 0.15  # of the tokens are masked
DRAWS = 20

tokenizer = AutoTokenizer.from_pretrained(MODEL)
discriminator = ElectraForPreTraining.from_pretrained(MODEL, dtype=torch.float32).eval()
generator = ElectraForMaskedLM.from_pretrained(GENERATOR, dtype=torch.float32).eval()
inputs = tokenizer(TEXT, return_tensors="pt")
ids = inputs["input_ids"][0]
special = set(tokenizer.all_special_ids)
own = [place for place, token in enumerate(ids.tolist()) if token not in special or token == tokenizer.unk_token_id]
ordinary = torch.tensor([token for token in range(len(tokenizer)) if token not in special])
count = max(1, round(RATE * len(own))) if RATE else 0


def draw(seed):
    """The logits of the text's own tokens in one draw, and which of them were replaced."""
    dice, shown = torch.Generator().manual_seed(seed), ids.clone()
    if count:
        order = torch.randperm(len(own), generator=dice).tolist()
        chosen = sorted(own[place] for place in order[:count])
        masked = ids.clone()
        masked[chosen] = tokenizer.mask_token_id
        scores = generator(**{**inputs, "input_ids": masked[None]}).logits[0, chosen][:, ordinary]
        scores = scores - scores.amax(-1, keepdim=True)
        cumulative = (scores / max(TEMPERATURE, 1e-6)).softmax(-1).cumsum(-1)
        at = torch.rand(count, 1, generator=dice) * cumulative[:, -1:]
        drawn = torch.searchsorted(cumulative, at, right=True).squeeze(1).clamp(max=len(ordinary) - 1)
        shown[chosen] = ordinary[drawn]
    logits = discriminator(**{**inputs, "input_ids": shown[None]}).logits[0]
    return logits[own], (shown != ids)[own]


with torch.no_grad():
    drawn = [draw(SEED + number) for number in range(DRAWS)]
logits, replaced = (torch.cat(column) for column in zip(*drawn, strict=True))
found, kept = logits[replaced], logits[~replaced]
if len(found) and len(kept):
    higher = (found[:, None] > kept).float() + 0.5 * (found[:, None] == kept)
    print(f"AUC: {higher.mean():.4f}, the chance that a replaced token scores above an original one")

# The share of each kind that scores as much as a threshold or more; 200 thresholds at most.
thresholds = logits.double().unique().flip(0)
steps = torch.linspace(0, len(thresholds) - 1, min(len(thresholds), 200)).round().long()
rows = []
for threshold in thresholds[steps]:
    hits, alarms = ((kind >= threshold).sum().item() / max(1, len(kind)) for kind in (found, kept))
    rows.append((threshold.sigmoid().item(), hits, alarms))

print("threshold, hits, false_alarms")
for row in rows:
    print(*row)
