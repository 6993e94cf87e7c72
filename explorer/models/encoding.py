"""Turns a visitor's text into a model's input, with every token's place in that text."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import BatchEncoding, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel
from explorer.text import MASK_SPELLINGS, checked_text, up_to_blank


@dataclass(frozen=True)
class Token:
    """One position of the model's input.

    text: the token as the vocabulary spells it. shown: how it looks in the sentence. joined: whether it continues the
    word before.

    word: the number of its word; None for special tokens. segment: 0 or 1, as the model is told; 0 in families without
    segments. start, stop: its characters in the text. sentence: the number of its text, 0 or 1; None for special
    tokens.
    """

    position: int
    token_id: int
    text: str
    shown: str
    joined: bool
    word: int | None
    segment: int
    start: int
    stop: int
    sentence: int | None = None


@dataclass(frozen=True)
class Encoded:
    """A tokenised input: `inputs` holds the model's keyword tensors, each (1, length)."""

    inputs: dict[str, Tensor]
    tokens: tuple[Token, ...]

    @property
    def input_ids(self) -> Tensor:
        """The ids, (length,)."""
        return self.inputs["input_ids"][0]

    @property
    def word_ids(self) -> tuple[int | None, ...]:
        """The word of each position; None for special tokens."""
        return tuple(token.word for token in self.tokens)


def encode(loaded: LoadedModel, text: object, second: object = None) -> Encoded:
    """Tokenise one text, or a pair.

    A text that a model is to continue gets no end token (`ends_texts`).

    Raises BadInputError for a text that is empty, too large to tokenise or longer than the model can read.
    """
    texts = [checked_text(text)] if second is None else [checked_text(text), checked_text(second)]
    tokenizer = loaded.tokenizer
    # Longer texts are refused below, not cut.
    batch = tokenizer(*texts, return_tensors="pt", return_offsets_mapping=True, truncation=False, verbose=False)
    if _ends(loaded, batch):
        for name, tensor in batch.items():
            batch[name] = tensor[:, :-1]
    length = int(batch["input_ids"].shape[1])
    if length > loaded.longest:
        raise BadInputError(
            f"This is {length:,} tokens long, and {loaded.model_id} reads at most {loaded.longest}. "
            "Shorten it, or take one paragraph at a time."
        )
    offsets = batch.pop("offset_mapping")[0].tolist()
    special = set(tokenizer.all_special_ids)
    ids = batch["input_ids"][0].tolist()
    names = tokenizer.convert_ids_to_tokens(ids)
    # The second text's words are counted from 0 again, so a word's key has its segment too.
    segments, words = batch.sequence_ids(0), batch.word_ids(0)[:length]
    tokens = []
    previous: tuple[int | None, int | None] = (None, None)
    for position, (token_id, name, word, span) in enumerate(zip(ids, names, words, offsets, strict=True)):
        unknown = token_id == tokenizer.unk_token_id
        # An unknown token is special to the tokenizer, and a word of the text all the same.
        word = None if token_id in special and not unknown else word
        source = texts[segments[position] or 0]
        shown = source[span[0] : span[1]].strip() if word is not None and not unknown else name
        joined = word is not None and (word, segments[position]) == previous
        segment = int(batch["token_type_ids"][0, position]) if "token_type_ids" in batch else 0
        tokens.append(
            Token(position, token_id, name, shown or name, joined, word, segment, span[0], span[1], segments[position])
        )
        previous = (word, segments[position])
    inputs = {name: batch[name] for name in tokenizer.model_input_names if name in batch}
    return Encoded(inputs, tuple(tokens))


def _ends(loaded: LoadedModel, batch: BatchEncoding) -> bool:
    """Return whether the tokenizer has put an end token behind a text that is to be continued."""
    if not loaded.architecture.ends_texts:
        return False
    ends = (loaded.tokenizer.sep_token_id, loaded.tokenizer.eos_token_id)
    last, own = int(batch["input_ids"][0, -1]), batch.word_ids(0)[-1]
    return own is None and last in ends and batch["input_ids"].shape[1] > 1


def with_own_mask(tokenizer: PreTrainedTokenizerBase, text: object) -> object:
    """Return the text with any family's mask token spelled as this tokenizer spells it; unchanged if the model has none."""
    if not isinstance(text, str) or tokenizer.mask_token is None:
        return text
    # A function, since a mask token may hold a backslash.
    return MASK_SPELLINGS.sub(lambda _: str(tokenizer.mask_token), text)


def single_token(tokenizer: PreTrainedTokenizerBase, word: str) -> tuple[int | None, str]:
    """Return the token that a word is, or None and the beginning of a sentence that says why it is none."""
    spelled = [tokenizer.encode(text, add_special_tokens=False) for text in (f" {word}", word)]
    for ids in spelled:  # within a sentence most vocabularies write a word with the space before it
        if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
            return int(ids[0]), ""
    pieces = tokenizer.convert_ids_to_tokens(spelled[-1])
    if tokenizer.unk_token in pieces or not pieces:
        return None, f"“{word}” is unknown to this vocabulary"
    return None, f"“{word}” is {len(pieces)} tokens here ({', '.join(pieces)}), and a place holds one"


def asked_texts(loaded: LoadedModel, text: object, second: object = "") -> tuple[object, object, bool]:
    """Return a text, or a pair, as a model can be asked about its blank, and whether it was cut there.

    A model that fills masks gets its own mask token. One that only continues a text reads what stands before the blank,
    since "[MASK]" would be letters to it. Raises BadInputError if nothing stands there.
    """
    if Capability.MLM in loaded.capabilities or Capability.CAUSAL not in loaded.capabilities:
        return with_own_mask(loaded.tokenizer, text), with_own_mask(loaded.tokenizer, second), False
    if not isinstance(text, str) or not isinstance(second, str):
        return text, second, False
    before, after = up_to_blank(text, second)
    if not before.strip() and text.strip():
        raise BadInputError(f"{loaded.model_id} reads only what stands before the blank. Write some words there.")
    return before, after, (before, after) != (text, second)


def replacement_ids(tokenizer: PreTrainedTokenizerBase) -> Tensor:
    """Return the ids that a random replacement is drawn from: the vocabulary without its special tokens."""
    keep = torch.ones(len(tokenizer), dtype=torch.bool)
    keep[list(tokenizer.all_special_ids)] = False
    return keep.nonzero().flatten()
