"""One blank filled from the left, from the right and from both sides, by attention masks alone."""

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

ENCODER = "assets/models/bert-small"  # folders, or ids of the Hugging Face hub
DECODER = "assets/models/gpt2-mini"
TEXT = "The keys to the cabinet are on the table."
POSITION = 6  # a token of the encoder's; its whole word is hidden

tokenizer = AutoTokenizer.from_pretrained(ENCODER)
encoder = AutoModelForMaskedLM.from_pretrained(ENCODER, dtype=torch.float32).eval()
batch = tokenizer(TEXT, return_tensors="pt", return_offsets_mapping=True)
words = batch.word_ids(0)
pieces = [place for place, word in enumerate(words) if word is not None and word == words[POSITION]]
first = pieces[0]
start = int(batch["offset_mapping"][0, first, 0])
ids = batch["input_ids"].clone()
truth = int(ids[0, first])
ids[0, pieces] = tokenizer.mask_token_id

# A 4-D attention mask says which position (row) may look at which (column); it is added to the scores before the softmax,
# and the least number there is makes a weight exactly 0. Left: what comes before, and itself. Right: nothing before the
# blank but [CLS]. Both: everything, as BERT was trained.
at = torch.arange(ids.shape[1])
may_look = {
    "left": at[None, :] <= at[:, None],
    "right": ((at >= first) | (at == 0)).expand(len(at), -1),
    "both": torch.ones(len(at), len(at), dtype=torch.bool),
}


def row(context, model, scores, token):
    """Rank and probability of a token, and the entropy in nats, from one position's scores."""
    log_p = scores.double().log_softmax(-1)
    rank = 1 + int((log_p > log_p[token]).sum())
    return context, model, rank, float(log_p[token].exp()), float(torch.special.entr(log_p.exp()).sum())


rows = []
with torch.no_grad():
    # gpt2-mini looks back by itself: the word is told at the token before it. The token between texts comes first.
    spelled = AutoTokenizer.from_pretrained(DECODER)
    decoder = AutoModelForCausalLM.from_pretrained(DECODER, dtype=torch.float32).eval()
    read = spelled(TEXT, return_offsets_mapping=True)
    place = next(place for place, (_, stop) in enumerate(read["offset_mapping"]) if stop > start)
    before = torch.tensor([[spelled.bos_token_id, *read["input_ids"][:place]]])
    rows.append(row("left", "gpt2-mini", decoder(before).logits[0, -1], read["input_ids"][place]))
    for context, allowed in may_look.items():
        mask = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
        scores = encoder(input_ids=ids, attention_mask=mask[None, None]).logits[0, first]
        rows.append(row(context, "bert-small", scores, truth))

print("context, model, rank, probability, entropy")
for found in rows:
    print(*found)
