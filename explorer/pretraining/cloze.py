"""Fifty everyday sentences with a blank, to look at what a model has learned and what its text lacks."""

from __future__ import annotations

from pathlib import Path

import torch

from explorer.pretraining.evaluate import load

SENTENCES = (
    ("The capital of France is [MASK].", "Paris"),
    ("Einstein was a German [MASK].", "physicist scientist"),
    ("The farmer milked the [MASK].", "cow cows goat"),
    ("She opened the door with a [MASK].", "key"),
    ("The cat chased the [MASK] around the house.", "mouse dog rat"),
    ("He put on his coat because it was [MASK] outside.", "cold raining freezing snowing"),
    ("The sun rises in the [MASK].", "east morning"),
    ("Water freezes at zero [MASK].", "degrees"),
    ("The doctor told the patient to take the [MASK].", "medicine pills medication"),
    ("They drank a cup of [MASK] after dinner.", "tea coffee"),
    ("The teacher wrote the answer on the [MASK].", "board blackboard wall paper"),
    ("My brother plays the [MASK] in a band.", "guitar drums piano bass"),
    ("The ship sailed across the [MASK].", "ocean sea Atlantic river water"),
    ("We bought fresh bread from the [MASK].", "bakery store market baker shop"),
    ("The judge sentenced him to ten years in [MASK].", "prison jail"),
    ("A week has seven [MASK].", "days"),
    ("The opposite of hot is [MASK].", "cold"),
    ("Rome is the capital of [MASK].", "Italy"),
    ("Berlin is a city in [MASK].", "Germany"),
    ("Shakespeare wrote many [MASK].", "plays poems books"),
    ("The president lives in the White [MASK].", "House"),
    ("She was born in 1985 in New [MASK].", "York Zealand Jersey Orleans"),
    ("The bird built a [MASK] in the tree.", "nest"),
    ("He was so tired that he fell [MASK].", "asleep"),
    ("The students went to the library to read [MASK].", "books"),
    ("I forgot to lock the [MASK].", "door doors car"),
    ("The plane landed at the [MASK].", "airport"),
    ("Please turn off the [MASK] before you leave.", "lights light TV"),
    ("The king and the [MASK] lived in a castle.", "queen"),
    ("Bees make [MASK].", "honey"),
    ("The soldier fought in the Second World [MASK].", "War"),
    ("He paid for the meal with his credit [MASK].", "card cards"),
    ("It was raining, so she took her [MASK].", "umbrella coat"),
    ("The river flows into the [MASK].", "sea ocean lake river"),
    ("The child was afraid of the [MASK].", "dark dog"),
    ("The theory of evolution is due to Charles [MASK].", "Darwin"),
    ("The Beatles were a British rock [MASK].", "band group"),
    ("An apple is a kind of [MASK].", "fruit food"),
    ("She has two brothers and one [MASK].", "sister"),
    ("He broke his [MASK] while playing football.", "leg arm neck nose ankle"),
    ("The train arrived at the [MASK] ten minutes late.", "station"),
    ("The grass is [MASK].", "green"),
    ("Snow is [MASK].", "white cold"),
    ("The earth revolves around the [MASK].", "sun Sun"),
    ("The waiter brought us the [MASK].", "menu food bill drinks"),
    ("I would like a glass of [MASK], please.", "water wine milk beer"),
    ("The dog was barking at the [MASK].", "cat dog man door moon"),
    ("Chess is a [MASK] for two players.", "game"),
    ("Paris is in France and Madrid is in [MASK].", "Spain"),
    ("The movie was terrible; I [MASK] it.", "hated hate"),
)
"""Each with the answers that a reader would accept, separated by spaces."""


@torch.inference_mode()
def report(folder: Path) -> None:
    """Print the top five of every sentence, and how often an accepted answer leads and is among the five."""
    model, tokenizer = load(folder)
    first = among = 0
    for sentence, accepted in SENTENCES:
        batch = tokenizer(sentence, return_tensors="pt")
        place = int((batch["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
        probabilities = model(**batch).prediction_logits[0, place].softmax(-1)
        best = probabilities.topk(5)
        words = [tokenizer.decode([token]) for token in best.indices.tolist()]
        first += words[0] in accepted.split()
        among += any(word in accepted.split() for word in words)
        shares = "  ".join(f"{w} {p:.1%}" for w, p in zip(words, best.values.tolist(), strict=True))
        print(f"{'*' if words[0] in accepted.split() else ' '} {sentence:58} {shares}")
    print(f"an accepted answer leads in {first} of {len(SENTENCES)}, is among five in {among}")
