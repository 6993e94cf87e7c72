"""Results as the jobs return them, made by hand: figures need no model to be tested."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from explorer.labs.masking.minimal import MinimalPairsResult, ScoredPair
from explorer.labs.masking.schema import (
    CorruptedToken,
    CorruptResult,
    FilledMask,
    FillResult,
    PatternsResult,
    Prediction,
    SharesResult,
    TokenView,
)
from explorer.labs.masking.score import ScoredSentence, ScoredToken, ScoreResult, Scores


def token_view(position: int, text: str, state: str = "plain", unknown: bool = False) -> TokenView:
    return TokenView(position, text, text, False, state, unknown, 0, len(text))


def filled_mask(position: int = 1, guesses: tuple[str, ...] = ("a", "b"), hidden: str | None = None) -> FilledMask:
    """Guess number n gets half of what the one before got; a hidden token is the last of them."""
    predictions = tuple(Prediction(n, 100 + n, guess, 0.5**n) for n, guess in enumerate(guesses, start=1))
    if hidden is None:
        return FilledMask(position, predictions, 3.25)
    return FilledMask(position, predictions, 3.25, hidden, len(guesses), 0.5 ** len(guesses), len(guesses) * 0.6931)


def fill_result(*masks: FilledMask, unknown: int = 0, model: str = "bert-small", vocabulary: int = 28996) -> FillResult:
    tokens = [token_view(0, "[CLS]", "special")]
    tokens += [
        token_view(mask.position, mask.hidden or "[MASK]", "masked" if mask.hidden else "blank") for mask in masks
    ]
    tokens += [token_view(90 + number, "[UNK]", "plain", unknown=True) for number in range(unknown)]
    text = " ".join(token.text for token in tokens[1:])
    return FillResult(model, text, "[MASK]", vocabulary, tuple(tokens), masks)


def corrupted_token(position: int, text: str, fate: str = "untouched", loss: float | None = None) -> CorruptedToken:
    shown = {"mask": "[MASK]", "random": "##ing"}.get(fate, text)
    return CorruptedToken(position, text, text, shown, False, fate, text in ("[CLS]", "[SEP]"), loss)


def corrupt_result(*tokens: CorruptedToken) -> CorruptResult:
    terms = [token.loss for token in tokens if token.loss is not None]
    mean = sum(terms) / len(terms) if terms else None
    return CorruptResult("bert-small", tokens, mean, mean)


def typical_corruption(name: str = "Paris") -> CorruptResult:
    return corrupt_result(
        corrupted_token(0, "[CLS]"),
        corrupted_token(1, name, "mask", 2.0),
        corrupted_token(2, "is"),
        corrupted_token(3, name, "random", 6.5),
        corrupted_token(4, name, "kept", 0.5),
        corrupted_token(5, "[SEP]"),
    )


def shares_result() -> SharesResult:
    return SharesResult(
        draws=(1, 10, 100),
        chosen=(0.2, 0.14, 0.151),
        mask=(1.0, 0.7, 0.79),
        random=(0.0, 0.2, 0.11),
        kept=(0.0, 0.1, 0.1),
        expected=(0.15, 0.8, 0.1, 0.1),
        candidates=10,
        chosen_tokens=151,
    )


def patterns_result(name: str = "Paris", epochs: int = 4) -> PatternsResult:
    static = tuple((0, 1 + epoch % 2, 0) for epoch in range(epochs))
    dynamic = tuple((0, epoch % 4, 3 - epoch % 4) for epoch in range(epochs))
    return PatternsResult(("[CLS]", name, "is"), static, dynamic, len(set(static)), len(set(dynamic)))


def scored_sentence(text: str, *scores: float, unknown: bool = False) -> ScoredSentence:
    """A sentence whose words are its tokens."""
    tokens = (
        ScoredToken(place, word, word, False, score, unknown)
        for place, (word, score) in enumerate(zip(text.split(" "), scores, strict=True), start=1)
    )
    return ScoredSentence(text, tuple(tokens))


def score_result(*sentences: ScoredSentence, beside: bool = True, model: str = "bert-small") -> ScoreResult:
    """The model that stands beside gives every token a nat less."""
    less = [replace(token, log_probability=token.log_probability - 1) for one in sentences for token in one.tokens]
    taken = iter(less)
    others = tuple(ScoredSentence(one.sentence, tuple(islice(taken, len(one.tokens)))) for one in sentences)
    return ScoreResult(Scores(model, False, sentences), Scores("gpt2-mini", True, others) if beside else None)


def minimal_pairs_result(*differences: float) -> MinimalPairsResult:
    """The first pairs, each better by so many nats."""
    pairs = tuple(
        ScoredPair(number, scored_sentence("<b>better</b>", difference - 5), scored_sentence("worse", -5.0))
        for number, difference in enumerate(differences)
    )
    return MinimalPairsResult("bert-small", False, pairs)
