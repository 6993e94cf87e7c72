"""One word in pieces, step by step, from a tokenizer's own vocabulary: WordPiece, byte-pair encoding and unigram."""

import json
from itertools import pairwise

from transformers import AutoTokenizer

MODELS = {
    "bert-small": "assets/models/bert-small",
    "unigram": "assets/tokenizers/unigram",
}  # folders, or ids of the hub
WORD = "tokenization"
AFTER_SPACE = True  # as in the middle of a text, which some methods see
ALTERNATIVES = 5  # of a unigram model's cuts

# Each method gives the steps (the pieces so far, what was tried in vain, a merge's place in the list, a log probability),
# the cut, and the best cuts with their log probabilities where there are several.


def word_piece(model, word):
    """From the left, always the longest piece of the vocabulary that fits (Wu et al. 2016; Devlin et al. 2019)."""
    pieces, steps, start = [], [], 0
    while start < len(word):
        prefix = model["continuing_subword_prefix"] if start else ""
        candidates = [prefix + word[start:stop] for stop in range(len(word), start, -1)]
        found = next((place for place, piece in enumerate(candidates) if piece in model["vocab"]), None)
        tried = f"tried {' '.join(candidates[:found])}" if found != 0 else ""
        if found is None:  # nothing fits the rest, so the whole word is unknown
            return [*steps, ([model["unk_token"]], tried, None, None)], [model["unk_token"]], []
        pieces = [*pieces, candidates[found]]
        steps.append((pieces, tried, None, None))
        start = len(word) - found
    return steps, pieces, []


def byte_pair(model, word):
    """Merge the neighbours that stand first in the list of merges, until none is in it (Sennrich et al. 2016)."""
    ranks = {tuple(pair): rank for rank, pair in enumerate(model["merges"], start=1)}
    pieces = list(word)
    steps = [(pieces, "", None, None)]
    while ranked := [(ranks[pair], place) for place, pair in enumerate(pairwise(pieces)) if pair in ranks]:
        rank, place = min(ranked)
        pieces = [*pieces[:place], pieces[place] + pieces[place + 1], *pieces[place + 2 :]]
        steps.append((pieces, "", rank, None))
    return steps, pieces, []


def unigram(model, word):
    """The cut whose product of probabilities is largest (Kudo 2018, section 3.2): Viterbi, with the few best kept."""
    scores = dict(model["vocab"])  # piece: ln p
    cuts = [[(0.0, [])], *([] for _ in word)]  # of each beginning of the word
    for start in range(len(word)):
        cuts[start] = sorted(cuts[start], key=lambda cut: -cut[0])[: 2 * ALTERNATIVES]
        for stop in range(start + 1, len(word) + 1):
            piece = word[start:stop]
            if piece in scores:
                cuts[stop] += [(before + scores[piece], [*pieces, piece]) for before, pieces in cuts[start]]
    cuts[-1].sort(key=lambda cut: -cut[0])
    steps = [(pieces, "", None, score) for (score, pieces), *_ in cuts[1:]]
    return steps, cuts[-1][0][1], cuts[-1][:ALTERNATIVES]


METHODS = {"WordPiece": word_piece, "BPE": byte_pair, "Unigram": unigram}

rows = []
for name, place in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(place).backend_tokenizer
    model = json.loads(tokenizer.to_str())["model"]
    text = f" {WORD}" if AFTER_SPACE else WORD
    text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    # Split at spaces and punctuation first; a byte-level tokenizer spells bytes as characters here.
    split = tokenizer.pre_tokenizer.pre_tokenize_str(text) if tokenizer.pre_tokenizer else [(text, None)]
    cut = []
    for part, (word, _) in enumerate(split, start=1):
        steps, pieces, alternatives = METHODS[model["type"]](model, word)
        for number, (so_far, tried, rank, score) in enumerate(steps, start=1):
            rows.append((name, part, "step", number, " ".join(so_far), tried, rank, score))
        for number, (score, other) in enumerate(alternatives, start=1):
            rows.append((name, part, "alternative", number, " ".join(other), "", None, score))
        cut += pieces
    ids = [tokenizer.token_to_id(piece) for piece in cut]
    rows.append((name, None, "cut", None, " ".join(cut), f"ids {' '.join(map(str, ids))}", None, None))

print("model, part, stage, number, pieces, detail, rank, log_probability")
for row in rows:
    print(*row)
