"""Sentences scored by masking each token in turn (Salazar et al. 2020), or from the left by a model that writes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.masking.score import MOST_TOKENS, ScoredSentence, ScoredToken, ScoreParams, ScoreResult, Scores
from explorer.maths.pseudo_likelihood import log_probability_of
from explorer.models.batching import in_turn
from explorer.models.encoding import Encoded, encode
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel


def score_sentences(resources: Resources, params: ScoreParams) -> Iterator[ScoreResult | None]:
    """Score sentences by ln p of every token, masked in turn; others get a turn after each sentence.

    Raises BadInputError, MissingCapabilityError.
    """
    loaded = resources.model(params.model)
    own: list[ScoredSentence] = []
    for number, sentence in enumerate(params.sentences, start=1):
        own.append(scored(loaded, sentence, params.masking, number))
        yield None  # a turn for other questions
    scores = Scores(loaded.model_id, is_causal(loaded), tuple(own))
    if scores.causal or not params.beside:
        yield ScoreResult(scores)
        return
    other = resources.model(params.beside)
    other.require(Capability.CAUSAL)
    true = tuple(scored(other, sentence, params.masking, number) for number, sentence in enumerate(params.sentences, 1))
    yield ScoreResult(scores, Scores(other.model_id, True, true))


def is_causal(loaded: LoadedModel) -> bool:
    """Return whether a model reads from the left, so that its scores are true log-likelihoods."""
    return Capability.MLM not in loaded.capabilities and Capability.CAUSAL in loaded.capabilities


def scored(loaded: LoadedModel, sentence: str, masking: str, number: int = 1) -> ScoredSentence:
    """Score one sentence by the head that the model has. number: for what is said of one that cannot be scored."""
    encoded = encode(loaded, sentence)
    count = sum(token.word is not None for token in encoded.tokens)
    if count > MOST_TOKENS:
        raise BadInputError(f"Sentence {number} has {count} tokens, and at most {MOST_TOKENS} are masked in turn.")
    if not count:
        raise BadInputError(f"Sentence {number} is made of special tokens only, and those have no score.")
    if is_causal(loaded):
        found = _from_the_left(loaded, encoded)
    else:
        asked = in_turn(loaded, encoded, masking == "rest_of_word")
        found = {token.position: token.log_probability for token in asked}
    unknown = loaded.tokenizer.unk_token_id
    return ScoredSentence(
        sentence,
        tuple(
            ScoredToken(
                t.position, t.text, t.shown, t.joined, found[t.position], unknown is not None and t.token_id == unknown
            )
            for t in encoded.tokens
            if t.word is not None
        ),
    )


def _from_the_left(loaded: LoadedModel, encoded: Encoded) -> dict[int, float]:
    """Return ln p of each token after those before it, by position; the first comes after the token that begins a
    document.
    """
    tokenizer, ids = loaded.tokenizer, encoded.input_ids
    begin = tokenizer.cls_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    begun = int(ids[0]) == begin  # ModernBERT's tokenizer begins every text by itself
    if begin is None or len(ids) + (not begun) > loaded.longest:
        raise BadInputError(f"{loaded.model_id} cannot read this sentence after a token that begins a text.")
    inputs = (ids if begun else torch.cat([torch.tensor([begin]), ids]))[None].to(loaded.device)
    # What follows the last token is not asked.
    logits = loaded.logits(Capability.CAUSAL, loaded.model(input_ids=inputs))[0, :-1]
    return dict(enumerate(_chosen(logits, inputs[0, 1:].cpu()), start=int(begun)))


def _chosen(logits: Tensor, token_ids: Tensor) -> list[float]:
    """Return ln p of one token in each row, from (rows, vocabulary)."""
    found: list[float] = log_probability_of(logits.float().log_softmax(-1).cpu(), token_ids).tolist()
    return found
