"""The questions that models answer about a text, whatever their head: each answer is a softmax over some classes at
some position.

A lab that shows how predictions change (heads switched off) or where they come from (attribution) asks here, so that it
serves masks, sentence pairs, replaced tokens, the next word and a fine-tuned classifier alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.models.encoding import Encoded
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class Question:
    """One kind of question.

    needs: the head that answers it; None if a fine-tuned classifier does. classes: their names, unless they are the
    vocabulary. places: returns the positions at which the question is answered; [0] if the text is judged as a whole.
    """

    slug: str
    title: str
    needs: Capability | None
    classes: tuple[str, ...]
    places: Callable[[LoadedModel, Encoded], list[int]]


def _masks(loaded: LoadedModel, encoded: Encoded) -> list[int]:
    return [token.position for token in encoded.tokens if token.token_id == loaded.tokenizer.mask_token_id]


def _whole(loaded: LoadedModel, encoded: Encoded) -> list[int]:
    return [0]


def _words(loaded: LoadedModel, encoded: Encoded) -> list[int]:
    return [token.position for token in encoded.tokens if token.word is not None]


def _last(loaded: LoadedModel, encoded: Encoded) -> list[int]:
    return [len(encoded.tokens) - 1]


QUESTIONS = (
    Question("mask", "what stands at each mask", Capability.MLM, (), _masks),
    Question("next", "does the second text follow", Capability.NSP, ("is_next", "not_next"), _whole),
    Question("order", "are the two texts in order", Capability.SOP, ("in_order", "swapped"), _whole),
    Question("replaced", "which tokens were replaced", Capability.RTD, ("original", "replaced"), _words),
    Question("continue", "what comes next", Capability.CAUSAL, (), _last),
    Question("class", "which class", None, (), _whole),
)


def question(slug: str) -> Question:
    """Return a question by its name. Raises BadInputError for another name."""
    known = {entry.slug: entry for entry in QUESTIONS}
    if slug not in known:
        raise BadInputError(f"There is no question {slug[:40]!r}. Choose one of {', '.join(known)}.")
    return known[slug]


def question_of_tokens(loaded: LoadedModel) -> Question | None:
    """Return the question that a model's head answers at each token: what is masked, what was replaced, what comes next; None
    for a model without such a head.
    """
    return next(
        (asked for asked in map(question, ("mask", "replaced", "continue")) if asked.needs in loaded.capabilities), None
    )


def fitting_question(loaded: LoadedModel, encoded: Encoded, is_pair: bool) -> Question:
    """Return the question that a text itself puts: a mask to fill, else a pair to judge, else what the model's head is
    for.

    Raises BadInputError if the model needs a mask or a second text to be asked anything, MissingCapabilityError if it
    has no head at all.
    """
    can = loaded.capabilities
    if Capability.MLM in can and _masks(loaded, encoded):
        return question("mask")
    if is_pair:
        for slug in ("next", "order"):
            if question(slug).needs in can:
                return question(slug)
    for slug in ("replaced", "continue"):
        if question(slug).needs in can:
            return question(slug)
    if Capability.MLM in can:
        raise BadInputError(f"Nothing is asked of {loaded.model_id} yet: write [MASK] where it should guess a word.")
    if can:
        raise BadInputError(f"Nothing is asked of {loaded.model_id} yet: give it a second text.")
    raise MissingCapabilityError(f"{loaded.model_id} has no pretrained head, so there is nothing that it predicts.")


def scores(asked: Question, loaded: LoadedModel, output: Any) -> Tensor:
    """Return the head's logits, (rows, places, classes), whose softmax over the last dimension is the answer.

    places is the length of the text, or 1 if the text is judged as a whole.
    """
    logits: Tensor = output.logits if asked.needs is None else loaded.logits(asked.needs, output)
    if asked.needs is Capability.RTD:
        # ELECTRA's single logit x becomes (0, x), whose softmax is (1 − σ(x), σ(x)).
        return torch.stack([torch.zeros_like(logits), logits], dim=-1)
    return logits if asked.needs in (Capability.MLM, Capability.CAUSAL) else logits[:, None, :]


def class_name(asked: Question, loaded: LoadedModel, number: int) -> str:
    """Return a class as a visitor reads it: a token of the vocabulary, or a name."""
    if asked.classes:
        return asked.classes[number]
    if asked.needs is None:
        names: Any = loaded.model.config.id2label
        return str(names[number])
    return str(loaded.tokenizer.decode([number]))
