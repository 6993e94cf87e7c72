"""Next tokens: perplexity, bits a byte, and how the model goes on with twenty beginnings."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import cross_entropy

from explorer.models.records import Measure
from pretraining.measures.measure import Subject

WINDOW = 256
"""Tokens that are read at once, or fewer where the model reads fewer; half of them are new, the others what stands before."""

BEGINNINGS = (
    "The capital of the country is",
    "She opened the door and",
    "In the summer of 1916, the",
    "The film was released in",
    "I have never seen a",
    "The river flows through",
    "He was born in London and",
    "My fellow citizens, we must",
    "The old man walked slowly",
    "This movie is one of the",
    "The ship left the harbour",
    "Scientists believe that",
    "When the war was over,",
    "The song was written by",
    "It was raining, so",
    "The team won the game",
    "After dinner the children",
    "The storm moved north and",
    "There was a small house",
    "The government should",
)
LONGEST = 24
"""New tokens of a continuation."""


def measure_causal(subject: Subject) -> list[Measure]:
    """The mean cost of the text's tokens, read from the left."""
    loss, tokens = next_token_loss(subject)
    size = subject.text.stat().st_size
    over = f"{tokens:,} tokens, windows of {_window(subject)}"
    return [
        Measure("perplexity", "Perplexity, exp(mean loss of a token)", math.exp(loss), "plain", over),
        Measure("next_loss", "Loss of a token", loss, "nats", over),
        Measure("bits_per_byte", "Loss of a byte", loss * tokens / size / math.log(2), "bits", f"{size:,} bytes"),
    ]


def _window(subject: Subject) -> int:
    return min(WINDOW, int(subject.model.config.max_position_embeddings))


@torch.inference_mode()
def next_token_loss(subject: Subject) -> tuple[float, int]:
    """The mean of -ln p(token | what stands before it in its document) in nats, and how many tokens; each counts once."""
    total, count, store, window = 0.0, 0, subject.store, _window(subject)
    sentence, end_of_text = 0, int(subject.tokenizer.eos_token_id)
    while sentence < store.sentences:
        stop = store.document_end(sentence)
        ids = torch.tensor([end_of_text, *store.between(sentence, stop)], device=subject.model.device)
        done = 1
        while done < len(ids):
            upto = min(len(ids), window if done == 1 else done + window // 2)
            first = max(0, upto - window)
            logits = subject.model(ids[None, first:upto]).logits[0, done - first - 1 : -1]
            total += float(cross_entropy(logits.float(), ids[done:upto], reduction="sum"))
            count, done = count + upto - done, upto
        sentence = stop
    return total / max(1, count), count


@torch.inference_mode()
def continuations(subject: Subject) -> list[tuple[str, str]]:
    """Each beginning and what the model adds: sampled at temperature 0.7 from its 40 best tokens, seed 0."""
    pairs = []
    for number, beginning in enumerate(BEGINNINGS):
        torch.manual_seed(number)
        given = subject.tokenizer(beginning, return_tensors="pt").to(subject.model.device)
        made = subject.model.generate(
            **given,
            do_sample=True,
            temperature=0.7,
            top_k=40,
            max_new_tokens=LONGEST,
            pad_token_id=subject.tokenizer.pad_token_id,
        )
        added = subject.tokenizer.decode(made[0, given["input_ids"].shape[1] :], skip_special_tokens=True)
        pairs.append((beginning, " ".join(added.split())))
    return pairs
