"""What is asked of a text, and which answer: the model's own, or one that the visitor names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from explorer.errors import BadInputError
from explorer.models.encoding import Encoded
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import Question, class_name, fitting_question, question


def question_of(loaded: LoadedModel, encoded: Encoded, classes: tuple[str, ...], is_pair: bool) -> Question:
    """Return the question that the text puts to the model, or its class for a fine-tuned one. Raises BadInputError."""
    return replace(question("class"), classes=classes) if classes else fitting_question(loaded, encoded, is_pair)


def place_of(
    loaded: LoadedModel, encoded: Encoded, asked: Question, wanted: int | None, everywhere: Callable[[], Tensor]
) -> int:
    """Return the position to ask at: the one that is wanted, else the first mask, or the token that was most probably
    replaced.

    everywhere: a function that returns the logits of all positions, (T, classes).
    """
    places = asked.places(loaded, encoded)
    if not places:
        raise BadInputError(f"There is no token in this text of which {loaded.model_id} could be asked. Type a word.")
    if wanted is None:
        if asked.slug != "replaced":
            return places[0]
        logits = everywhere()
        return max(places, key=lambda place: float(logits[place, 1] - logits[place, 0]))  # the log-odds of "replaced"
    if wanted not in places:
        # A dozen are enough to see the pattern.
        could = ", ".join(str(place) for place in places[:12]) + (", …" if len(places) > 12 else "")
        raise BadInputError(f"Nothing is asked at position {wanted} of this text. It can be asked at {could}.")
    return wanted


def target_of(loaded: LoadedModel, asked: Question, wanted: str, logits: Tensor) -> int:
    """Return the class to explain, from one place's logits (classes,): the best one, or the one that is named.

    Raises BadInputError for a word that is no token of the vocabulary, and for a class that does not exist.
    """
    if len(logits) < 2:
        raise BadInputError(f"{loaded.model_id} predicts a score and no class. Choose a run of a classification task.")
    if not wanted:
        return int(logits.argmax())
    if asked.slug in ("mask", "continue"):
        return _token(loaded, wanted, logits)
    names = [class_name(asked, loaded, number) for number in range(len(logits))]
    # By name or number, however it is capitalised.
    fitting = [number for number, name in enumerate(names) if wanted.casefold() in (name.casefold(), str(number))]
    if not fitting:
        raise BadInputError(f"There is no class {wanted!r}. Name one of {', '.join(names)}, or leave the target empty.")
    return fitting[0]


def _token(loaded: LoadedModel, wanted: str, logits: Tensor) -> int:
    """Return a word's token. A vocabulary that counts the space before a word has two for it: the likelier is taken."""
    tokenizer = loaded.tokenizer
    spellings = [tokenizer(spelling, add_special_tokens=False)["input_ids"] for spelling in (wanted, f" {wanted}")]
    whole = [ids[0] for ids in spellings if len(ids) == 1]
    found = {token for token in (tokenizer.convert_tokens_to_ids(wanted), *whole) if token is not None}
    found -= {tokenizer.unk_token_id} if wanted != tokenizer.unk_token else set()  # unknown words would all be this one
    if found:
        return int(max(found, key=lambda token: float(logits[token])))
    pieces = tokenizer.convert_ids_to_tokens(spellings[0])
    if len(pieces) > 1 and tokenizer.unk_token not in pieces:
        cut = ", ".join(pieces[:8]) + (", …" if len(pieces) > 8 else "")
        raise BadInputError(
            f"{wanted!r} is {len(pieces)} tokens for {loaded.model_id} ({cut}), and one place holds one. "
            "Name one of these pieces, or another word."
        )
    raise BadInputError(f"{wanted!r} is not in the vocabulary of {loaded.model_id}. Name another word.")


def target_name(loaded: LoadedModel, asked: Question, target: int) -> str:
    """Return the answer as a sentence names it."""
    name = class_name(asked, loaded, target)
    return name.strip() or name
