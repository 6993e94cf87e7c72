"""Turns a task's examples into batches: tokenised once, rows of like length together, padded no further than the longest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example
from explorer.tuning.spec import LONGEST_ROW

_ENCODING_NAMES = {"input_ids": "ids", "token_type_ids": "type_ids"}
"""The tokenizers library's names for a model's inputs that it calls otherwise."""

BUCKET = 32
"""Batches that are sorted by length together: enough to waste little padding, few enough to stay random."""


@dataclass(frozen=True)
class Rows:
    """Tokenised examples. inputs: one dict of id lists a row. labels: (rows,) float64. pad: the padding of each input.
    cut: how many had to be shortened.

    examples: what the rows were read from, if their texts are needed to judge by.
    """

    inputs: tuple[dict[str, list[int]], ...]
    labels: Tensor
    pad: dict[str, int]
    cut: int
    examples: tuple[Example, ...] = ()

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each row, (rows,)."""
        return np.array([len(row["input_ids"]) for row in self.inputs])

    def batch(self, places: Sequence[int], device: torch.device) -> tuple[dict[str, Tensor], Tensor]:
        """Return the inputs (rows, longest) and labels (rows,) of some rows, padded on the right."""
        rows = [self.inputs[place] for place in places]
        longest = max(len(row["input_ids"]) for row in rows)
        inputs = {
            name: torch.tensor([row[name] + [pad] * (longest - len(row[name])) for row in rows], device=device)
            for name, pad in self.pad.items()
        }
        return inputs, self.labels[list(places)].float().to(device)


def tokenise(loaded: LoadedModel, examples: Sequence[Example], longest: int = LONGEST_ROW) -> Rows:
    """Tokenise every example, two texts with the model's own separators; a text that is too long loses its end."""
    longest = min(longest, loaded.longest)
    tokenizer = loaded.tokenizer
    firsts = [example.text for example in examples]
    seconds = [example.second for example in examples]
    texts = (firsts, seconds) if examples and examples[0].second is not None else (firsts,)
    # Truncating here would change the tokenizer that all threads share.
    batch = tokenizer(*texts, truncation=False, verbose=False)
    names = [name for name in tokenizer.model_input_names if name in batch]
    inputs = [{name: list(batch[name][row]) for name in names} for row in range(len(examples))]
    long = [row for row, one in enumerate(inputs) if len(one["input_ids"]) > longest]
    for row in long:
        fitting = _shortened(tokenizer, examples[row], longest)
        inputs[row] = {name: list(getattr(fitting, _ENCODING_NAMES.get(name, name))) for name in names}
    pad = dict.fromkeys(names, 0) | {"input_ids": int(tokenizer.pad_token_id or 0)}
    labels = torch.tensor([example.label for example in examples], dtype=torch.float64)
    return Rows(tuple(inputs), labels, pad, len(long))


def _shortened(tokenizer: PreTrainedTokenizerBase, example: Example, longest: int) -> Encoding:
    """Cut an example so that it fits, the longer text first; separators stay."""
    backend: Tokenizer = tokenizer.backend_tokenizer
    texts = [example.text] if example.second is None else [example.text, example.second]
    parts = [backend.encode(text, add_special_tokens=False) for text in texts]
    room = longest - tokenizer.num_special_tokens_to_add(pair=len(texts) == 2)
    # Token by token: the start of a word (or of a letter, if bytes are tokens) need not be the start of its tokens.
    for part, count in zip(parts, _shares([len(part) for part in parts], room), strict=True):
        part.truncate(count)
    return backend.post_process(parts[0], parts[1] if len(parts) == 2 else None)


def _shares(lengths: list[int], room: int) -> list[int]:
    """Return how many tokens each of one or two texts keeps: as many as fit, the longer one giving up its end first."""
    if sum(lengths) <= room:
        return lengths
    half = room // 2
    shares = [min(length, max(half, room - (sum(lengths) - length))) for length in lengths]
    return shares if sum(shares) == room else [shares[0] + room - sum(shares), *shares[1:]]


def epoch_batches(lengths: np.ndarray, batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """Return the batches of one epoch: shuffled, rows of like length together, and the batches shuffled again."""
    # The same seed and epoch give the same batches, so that a resumed run goes on where it was.
    draw = np.random.default_rng((seed, epoch))
    order = draw.permutation(len(lengths))
    batches: list[list[int]] = []
    for start in range(0, len(order), batch_size * BUCKET):
        chunk = order[start : start + batch_size * BUCKET]
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        batches += [chunk[place : place + batch_size].tolist() for place in range(0, len(chunk), batch_size)]
    return [batches[place] for place in draw.permutation(len(batches))]


def ordered_batches(lengths: np.ndarray, tokens: int = 4096) -> Iterator[list[int]]:
    """Yield all rows once, shortest first, each batch of at most `tokens` padded tokens: for evaluation."""
    batch: list[int] = []
    for place in np.argsort(lengths, kind="stable").tolist():
        if batch and (len(batch) + 1) * int(lengths[place]) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


class StoppedError(Exception):
    """Raised when Stop is pressed while rows are read that nobody waits for any more."""


def unless_stopped(batches: Iterable[list[int]], stopped: Callable[[], bool]) -> Iterator[list[int]]:
    """Yield the batches. Raises StoppedError before the next one once `stopped` returns True."""
    for batch in batches:
        if stopped():
            raise StoppedError
        yield batch


def never() -> bool:
    """Return False: the `stopped` of work that no Stop ends."""
    return False
