"""Fifty everyday sentences with a blank, to look at what a model has learned and what its text lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.models.families import Capability
from explorer.models.loaded_model import load_model
from explorer.objectives.losses import mlm_logits
from explorer.settings import Settings

BLANK = "[MASK]"

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


@dataclass(frozen=True)
class Answer:
    """A model's five best words for a sentence's blank with their probabilities, and the answers a reader accepts."""

    sentence: str
    words: tuple[str, ...]
    probabilities: tuple[float, ...]
    accepted: tuple[str, ...]

    @property
    def leads(self) -> bool:
        """Whether an accepted answer is the first."""
        return self.words[0] in self.accepted

    @property
    def among(self) -> bool:
        """Whether an accepted answer is among the five."""
        return not set(self.words).isdisjoint(self.accepted)


@torch.inference_mode()
def answers_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[Answer]:
    """The model's answers to all sentences, with its own mask token in the blank."""
    found = []
    uncased = tokenizer.tokenize("Paris") == tokenizer.tokenize("paris")
    for sentence, answers in SENTENCES:
        accepted = (answers.lower() if uncased else answers).split()
        batch = tokenizer(sentence.replace(BLANK, tokenizer.mask_token), return_tensors="pt").to(model.device)
        chosen = batch["input_ids"] == tokenizer.mask_token_id
        logits = mlm_logits(model, model.base_model(**batch).last_hidden_state, chosen)[0]
        best = logits.float().softmax(-1).topk(5)
        words = tuple(str(tokenizer.decode([token])).strip() for token in best.indices.tolist())
        found.append(Answer(sentence, words, tuple(best.values.tolist()), tuple(accepted)))
    return found


def report(folder: Path) -> None:
    """Print the top five of every sentence, and how often an accepted answer leads and is among the five."""
    loaded = load_model(str(folder), Settings(device="cpu"))
    loaded.require(Capability.MLM)
    given = answers_of(loaded.model, loaded.tokenizer)
    for answer in given:
        shares = zip(answer.words, answer.probabilities, strict=True)
        shown = "  ".join(f"{word} {probability:.1%}" for word, probability in shares)
        print(f"{'*' if answer.leads else ' '} {answer.sentence:58} {shown}")
    print(summary(given))


def summary(given: list[Answer]) -> str:
    """One line: how often an accepted answer leads, and is among five."""
    leads, among = sum(answer.leads for answer in given), sum(answer.among for answer in given)
    return f"an accepted answer leads in {leads} of {len(given)}, is among five in {among}"
