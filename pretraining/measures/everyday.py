"""NSP on two hundred pairs of everyday sentences, as visitors type them: written for this, never trained on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import torch

from explorer.maths.corruption import CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.models.loaded_model import LoadedModel
from explorer.models.records import Measure
from explorer.objectives.batches import collate
from explorer.objectives.losses import encode, pair_logits
from explorer.objectives.rows import IS_NEXT, NOT_NEXT, row_maker
from pretraining.measures.masks import ROWS_PER_BATCH

TEXTS = Path(__file__).parents[1] / "everyday_pairs.tsv"


def everyday_pairs() -> list[tuple[str, str, int]]:
    """First sentence, second sentence, class: the hundred texts, then each first one with the second half a list away.

    So every sentence stands once in each class, and nothing but the pair tells which it is.
    """
    texts = [line.split("\t") for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    true = [(first, second, IS_NEXT) for first, second in texts]
    half = len(texts) // 2
    others = (second for _, second in texts[half:] + texts[:half])
    return true + [(first, second, NOT_NEXT) for (first, _), second in zip(texts, others, strict=True)]


def near_copies(held: Iterable[str], trained: Iterable[str]) -> list[tuple[str, str]]:
    """(held-out, trained) sentences that share three long words or more, and most of those of the one that has fewer."""

    def long_words(sentence: str) -> set[str]:
        return set(re.findall(r"[a-z]{4,}", sentence.lower()))

    words = [(sentence, long_words(sentence)) for sentence in trained]
    return [
        (one, other)
        for one, own in [(one, long_words(one)) for one in held]
        for other, theirs in words
        if len(own & theirs) >= max(3, 0.6 * min(len(own), len(theirs)))
    ]


@torch.inference_mode()
def measure_everyday(loaded: LoadedModel) -> list[Measure]:
    """The accuracy on them, and how many of the unrelated ones are accepted."""
    pairs, maker, tokenizer = everyday_pairs(), row_maker(loaded.tokenizer), loaded.tokenizer
    rows = []
    for first, second, label in pairs:
        a, b = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (first, second))
        rows.append(maker.joined(a, b, label))
    guesses: list[int] = []
    for start in range(0, len(rows), ROWS_PER_BATCH):
        part = rows[start : start + ROWS_PER_BATCH]
        batch = collate(part, CorruptionRecipe(rate=0.0), Masker(tokenizer), torch.Generator())
        logits = pair_logits(loaded.model, encode(loaded.model, batch).pooler_output)
        guesses += logits.argmax(-1).tolist()
    unrelated = [guess for guess, (*_, label) in zip(guesses, pairs, strict=True) if label == NOT_NEXT]
    right = sum(guess == label for guess, (*_, label) in zip(guesses, pairs, strict=True))
    return [
        Measure(
            "nsp_everyday",
            "NSP, true against unrelated, everyday sentences written for this",
            right / len(pairs),
            "share",
            f"{len(pairs)} pairs, half of each class",
        ),
        Measure(
            "nsp_everyday_accepted",
            "Unrelated everyday pairs that are taken for true ones",
            unrelated.count(IS_NEXT) / len(unrelated),
            "share",
            f"{len(unrelated)} pairs",
        ),
    ]
