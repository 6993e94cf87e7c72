"""A text continued by a causal model: greedy, beam search, top-k, top-p and temperature, with the probability of every token."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = "assets/models/gpt2-mini"  # a folder, or an id of the Hugging Face hub
TEXT = "In 1994 the band released its first album,"
DECODING = ("greedy", "beam", "top_k", "top_p", "temperature")
TOKENS = 24  # new ones
SEED = 0
K = 40
P = 0.9
TEMPERATURE = 0.7
BEAMS = 4
BRANCH = ()  # ids of tokens after the text

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
end = tokenizer.eos_token_id
never = [token for token in tokenizer.all_special_ids if token != end]
start = torch.tensor([[*tokenizer(TEXT.rstrip())["input_ids"], *BRANCH]])
longest = min(tokenizer.model_max_length, model.config.max_position_embeddings)
count = min(TOKENS, longest - start.shape[1])


def weights(decoding, scores):
    """The distribution that a decoding draws from, likeliest token first, and the tokens in that order."""
    scores = scores.double() / (max(TEMPERATURE, 1e-6) if decoding == "temperature" else 1.0)
    shares, order = scores.softmax(-1).sort(descending=True, stable=True)
    if decoding == "top_k":
        shares[K:] = 0
    if decoding == "top_p":
        before = shares.cumsum(-1) - shares
        before[0] = 0
        shares[before >= P] = 0
    return shares / shares.sum(), order


def step_by_step(decoding):
    """One row of new tokens; keys and values of what was read are kept, so each step reads one token."""
    dice = torch.Generator().manual_seed(SEED)
    new, read, cache = [], start, None
    for _ in range(count):
        output = model(read, past_key_values=cache, use_cache=True)
        cache, scores = output.past_key_values, output.logits[0, -1].clone()
        scores[never] = -torch.inf
        at = torch.rand(1, generator=dice, dtype=torch.float64)
        if decoding == "greedy":
            token = int(scores.argmax())
        else:
            shares, order = weights(decoding, scores)
            place = int(torch.searchsorted(shares.cumsum(-1), at, right=True))
            token = int(order[min(place, int((shares > 0).sum()) - 1)])
        if token == end:
            break
        new.append(token)
        read = torch.tensor([[token]])
    return new


def by_beams():
    """The row that transformers' own beam search finds by the sum of ln p alone."""
    options = {"num_beams": BEAMS, "do_sample": False, "length_penalty": 0.0, "suppress_tokens": never or None}
    mask = torch.ones_like(start)
    found = model.generate(start, attention_mask=mask, max_new_tokens=count, pad_token_id=end, **options)
    new = found[0, start.shape[1] :].tolist()
    return new[: new.index(end)] if end in new else new


rows = []
with torch.no_grad():
    for decoding in DECODING:
        own = by_beams() if decoding == "beam" else step_by_step(decoding)
        row = torch.tensor([[*start[0].tolist(), *own]])
        shares = model(row).logits[0].softmax(-1)
        first = start.shape[1] - len(BRANCH)
        for position, token in enumerate(row[0, first:].tolist(), start=1):
            told = shares[first + position - 2]
            rank = 1 + int((told > told[token]).sum())
            shown, name = tokenizer.decode([token]), tokenizer.convert_ids_to_tokens(token)
            shown = {"\n": "↵", "\t": "⇥"}.get(shown, "␣") if not shown.strip() else shown.strip()
            shown = name if "\ufffd" in shown else shown
            rows.append((decoding, position, shown, told[token].item(), rank, token))

print("decoding, position, token, probability, rank, token_id")
for row in rows:
    print(*row)
