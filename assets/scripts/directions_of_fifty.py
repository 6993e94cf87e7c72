"""Many blanks filled from the left, from the right and from both sides, and how often both sides win."""

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

ENCODER = "assets/models/bert-small"  # folders, or ids of the Hugging Face hub
DECODER = "assets/models/gpt2-mini"
SENTENCES = (("both", "The keys to the cabinet are on the table.", "are", 24),)  # kind, text, word, its first character

tokenizer, spelled = AutoTokenizer.from_pretrained(ENCODER), AutoTokenizer.from_pretrained(DECODER)
encoder = AutoModelForMaskedLM.from_pretrained(ENCODER, dtype=torch.float32).eval()
decoder = AutoModelForCausalLM.from_pretrained(DECODER, dtype=torch.float32).eval()


def row(context, model, scores, token):
    """Rank and probability of a token, and the entropy in nats, from one position's scores."""
    log_p = scores.double().log_softmax(-1)
    rank = 1 + int((log_p > log_p[token]).sum())
    return context, model, rank, float(log_p[token].exp()), float(torch.special.entr(log_p.exp()).sum())


rows, won = [], 0
for number, (kind, text, word, start) in enumerate(SENTENCES, start=1):
    batch = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    ids = batch["input_ids"]
    spans = batch["offset_mapping"][0].tolist()
    hidden = [place for place, (begin, stop) in enumerate(spans) if begin < start + len(word) and stop > start]
    first, truth = hidden[0], int(ids[0, hidden[0]])
    ids[0, hidden] = tokenizer.mask_token_id
    at = torch.arange(ids.shape[1])
    may_look = {
        "left": at[None, :] <= at[:, None],
        "right": ((at >= first) | (at == 0)).expand(len(at), -1),  # nothing before the blank but [CLS]
        "both": torch.ones(len(at), len(at), dtype=torch.bool),
    }
    with torch.no_grad():
        read = spelled(text, return_offsets_mapping=True)
        place = next(place for place, (_, stop) in enumerate(read["offset_mapping"]) if stop > start)
        before = torch.tensor([[spelled.bos_token_id, *read["input_ids"][:place]]])
        found = [row("left", "gpt2-mini", decoder(before).logits[0, -1], read["input_ids"][place])]
        masks = torch.zeros(len(may_look), 1, *ids.shape[1:] * 2)
        masks[~torch.stack(list(may_look.values()))[:, None]] = torch.finfo(torch.float32).min
        scores = encoder(input_ids=ids.expand(len(may_look), -1), attention_mask=masks).logits[:, first]
        found += [row(context, "bert-small", one, truth) for context, one in zip(may_look, scores, strict=True)]
    rows += [(number, kind, text, word, *said) for said in found]
    _, left, right, both = (said[3] for said in found)
    won += both > max(left, right)

print(f"both sides beat left and right in {won} of {len(SENTENCES)}")
