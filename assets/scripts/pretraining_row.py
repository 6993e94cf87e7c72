"""One row of BERT's pretraining: a pair of segments, 15% of it hidden, and the sum of two losses.

Devlin et al. 2019, section 3.1, appendix A.1 and A.2; whole words as released in 2019; n-grams as in ALBERT (Lan et al. 2020).
"""

import numpy as np
import torch
from transformers import AutoTokenizer, BertForPreTraining

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCES_A = ("The keys are on the table.", "Nobody has seen them.", "They were there.")  # one document
SENTENCES_B = ("Bread is made of flour.", "It is baked for an hour.")  # another one
NEXT = "drawn"  # whether B follows A; or "next", or "elsewhere"
SEED = 0
RATE = 0.15  # of the tokens are chosen; of those 80% become [MASK], 10% a random token, and 10% stay
SCHEME = "token"  # or "whole_word", or "ngram"
ROOM = 128  # tokens of a row at most

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = BertForPreTraining.from_pretrained(MODEL, dtype=torch.float32).eval()
ROOM = min(ROOM, model.config.max_position_embeddings, tokenizer.model_max_length) - 3  # without [CLS] and two [SEP]

# 1. Both documents as one array of tokens, with the place where each sentence begins.
tokens, starts = [], []
for sentence in SENTENCES_A + SENTENCES_B:
    starts.append(len(tokens))
    tokens += tokenizer(sentence, add_special_tokens=False)["input_ids"]
starts.append(len(tokens))
in_a = len(SENTENCES_A)

# 2. The pair. A begins at a sentence that another one follows, the longer the likelier, and takes whole sentences.
dice = np.random.default_rng(SEED)


def sentence_at_random():
    return int(np.searchsorted(starts, dice.integers(len(tokens)), side="right")) - 1


first = sentence_at_random()
while first + 1 >= in_a:
    first = sentence_at_random()
dice.random()  # whether the pair is of single sentences, which it is not here
target, stop = int(dice.integers(4, max(5, ROOM - 3))), first + 1
while stop + 1 < in_a and starts[stop] - starts[first] < target:
    stop += 1
coin = dice.random() < 0.5
if (not coin) if NEXT == "drawn" else NEXT == "next":
    truth, second, end = 0, stop, in_a  # BertForPreTraining's class 0: B is next
else:
    truth, second, end = 1, sentence_at_random(), in_a + len(SENTENCES_B)
    while second < in_a:
        second = sentence_at_random()
a, b = tokens[starts[first] : starts[stop]], tokens[starts[second] : starts[end]][:ROOM]
while len(a) + len(b) > ROOM:  # the longer one loses tokens
    if len(a) <= len(b):
        b.pop()
    else:
        a.pop(0 if dice.random() < 0.5 else -1)

# 3. The row: [CLS] A [SEP] B [SEP], with a segment for each position.
ids = torch.tensor([tokenizer.cls_token_id, *a, tokenizer.sep_token_id, *b, tokenizer.sep_token_id])
segments = torch.tensor([0] * (len(a) + 2) + [1] * (len(b) + 1))

# 4. Some tokens are chosen; special ones never are. A word is a piece with the ## pieces after it.
names, special = tokenizer.convert_ids_to_tokens(ids), set(tokenizer.all_special_ids)
words, before = [], False
for place, (token, name) in enumerate(zip(ids.tolist(), names, strict=True)):
    if token not in special and name.startswith("##") and before:
        words[-1].append(place)
    elif token not in special:
        words.append([place])
    before = token not in special
candidates = [place for word in words for place in word]
generator = torch.Generator().manual_seed(SEED)
budget = max(1, round(RATE * len(candidates))) if RATE else 0
chosen = []
if budget and SCHEME == "token":
    order = torch.randperm(len(candidates), generator=generator)
    chosen = [candidates[place] for place in order[:budget]]
elif budget:
    order = torch.randperm(len(words), generator=generator).tolist()
    lengths = [1] * len(words)
    if SCHEME == "ngram":  # runs of one to three words, p(n) proportional to 1/n
        odds = 1 / torch.arange(1, 4, dtype=torch.float64)
        lengths = (1 + torch.multinomial(odds / odds.sum(), len(words), replacement=True, generator=generator)).tolist()
    used = set()
    for begin, longest in zip(order, lengths, strict=True):
        for length in range(longest, 0, -1):
            run = range(begin, min(begin + length, len(words)))
            places = [place for word in run for place in words[word]]
            if len(run) == length and used.isdisjoint(run) and len(chosen) + len(places) <= budget:
                chosen += places
                used.update(run)
                break
    chosen = chosen or words[order[0]]  # something is always predicted
draw = torch.rand(len(ids), generator=generator) if budget else torch.ones(len(ids))
ordinary = torch.tensor([token for token in range(len(tokenizer)) if token not in special])
masked = [place for place in sorted(chosen) if draw[place] < 0.8]
replaced = [place for place in sorted(chosen) if 0.8 <= draw[place] < 0.9]
shown, labels = ids.clone(), torch.full_like(ids, -100)
labels[chosen] = ids[chosen]
shown[masked] = tokenizer.mask_token_id
if replaced:
    shown[replaced] = ordinary[torch.randint(len(ordinary), (len(replaced),), generator=generator)]

# 5. and 6. One pass gives both heads' scores; transformers adds the two losses where it is given both labels.
row = {"input_ids": shown[None], "token_type_ids": segments[None]}
with torch.no_grad():
    output = model(**row, labels=labels[None], next_sentence_label=torch.tensor([truth]))
losses = -output.prediction_logits[0].log_softmax(-1)[range(len(ids)), ids]
pair_loss = -output.seq_relationship_logits[0].log_softmax(-1)[truth]
print(f"L_NSP: {pair_loss:.4f} nats")
if chosen:
    print(f"L_MLM: {losses[chosen].mean():.4f} nats; the sum, as transformers has it: {output.loss:.4f}")

seen, rows = tokenizer.convert_ids_to_tokens(shown), []
for place in range(len(ids)):
    fate, loss = "untouched", None
    if place in chosen:
        fate = "mask" if shown[place] == tokenizer.mask_token_id else "kept" if shown[place] == ids[place] else "random"
        loss = losses[place]
    if place == 0:  # [CLS] answers for the pair
        fate, loss = ("is_next", "not_next")[truth], pair_loss
    asked = (None, None) if loss is None else ((-loss).exp().item(), loss.item())
    rows.append((place, names[place], segments[place].item(), seen[place], fate, *asked))

print("position, token, segment, shown, fate, probability, loss")
for row in rows:
    print(*row)
