"""Accuracy and loss at the chosen tokens against the masking rate."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.masking.rate import RATES, Measured, RatesParams, RatesResult, texts_of
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.encoding import encode
from explorer.models.families import Capability
from explorer.models.heads import head_at
from explorer.models.hiding import Masker
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel

ENOUGH_TOKENS = 1200
"""A shorter text is drawn again and again until about so many tokens were read at each rate."""

MOST_DRAWS = 40
CHUNK_TOKENS = 640
"""Tokens in one forward pass: at a rate of 80% their scores over the vocabulary take about 60 MB."""


def masking_rates(resources: Resources, params: RatesParams) -> Iterator[RatesResult | None]:
    """Measure accuracy and loss of hidden tokens against the masking rate: a result after each rate; others get a turn
    after each model.

    Every chosen token is shown as [MASK], and none as a random token or as it is: with those of 80/10/10 the curve
    would mix three questions. Raises BadInputError, MissingCapabilityError.
    """
    texts = texts_of(params.text)
    readers = [_Reader(resources.model(name), texts) for name in params.models]
    measured: list[Measured] = []
    for rate in RATES:
        for reader in readers:
            measured.append(reader.at(rate, params.seed))
            if reader is not readers[-1]:
                yield None
        names = tuple(reader.loaded.model_id for reader in readers)
        yield RatesResult(names, bool(params.text), tuple(measured))


class _Reader:
    """One model with its rows of tokens."""

    def __init__(self, loaded: LoadedModel, texts: tuple[str, ...]) -> None:
        loaded.require(Capability.MLM)
        self.loaded, self.masker = loaded, Masker(loaded.tokenizer)
        rows = [encode(loaded, text) for text in texts]
        self.tokens = sum(word is not None for row in rows for word in row.word_ids)
        if not self.tokens:
            raise BadInputError(
                "This text is made of special tokens only, and those are never masked. Type some words."
            )
        draws = max(1, min(MOST_DRAWS, ENOUGH_TOKENS // self.tokens))
        self.rows, self.tokens = rows * draws, self.tokens * draws  # the same text, drawn differently each time
        self.tree = private_tree(loaded.model)

    def at(self, rate: float, seed: int) -> Measured:
        """Choose anew, and ask for what was chosen."""
        recipe, generator = CorruptionRecipe(rate, 1.0, 0.0), torch.Generator().manual_seed(seed)
        drawn = [self.masker.corrupt(row.input_ids, recipe, generator, row.word_ids) for row in self.rows]
        losses, right = list[Tensor](), list[Tensor]()
        step = max(1, CHUNK_TOKENS // max(len(row.tokens) for row in self.rows))  # rows in one pass
        for start in range(0, len(drawn), step):
            part = slice(start, start + step)
            # (rows, T): IGNORED_LABEL pads, as it marks what was not chosen.
            labels = pad_sequence([one.labels for one in drawn[part]], True, IGNORED_LABEL)
            logits = self._logits(part, [one.input_ids for one in drawn[part]], labels != IGNORED_LABEL)
            truth = labels[labels != IGNORED_LABEL]
            losses.append(cross_entropy(logits, truth, reduction="none"))
            right.append(logits.argmax(-1) == truth)
        loss, hits = torch.cat(losses).double(), torch.cat(right)
        off = float(loss.std() / len(loss) ** 0.5) if len(loss) > 1 else 0.0  # one value has no deviation
        accuracy = float(hits.double().mean())
        return Measured(self.loaded.model_id, rate, len(loss), accuracy, float(loss.mean()), self.tokens, off)

    def _logits(self, part: slice, shown: list[Tensor], chosen: Tensor) -> Tensor:
        """Return scores of rows that are shown so, at the chosen positions, row after row: (chosen, vocabulary), on the
        CPU.
        """
        fill = {"input_ids": int(self.loaded.tokenizer.pad_token_id or 0)}
        given = {name: [row.inputs[name][0] for row in self.rows[part]] for name in self.rows[0].inputs}
        inputs = {
            name: pad_sequence(column, True, fill.get(name, 0)).to(self.loaded.device)
            for name, column in {**given, "input_ids": shown}.items()
        }
        with head_at(self.tree, chosen.to(self.loaded.device)):
            output = self.tree(**inputs)
        return self.loaded.logits(Capability.MLM, output)[0].float().cpu()  # (1, chosen, vocabulary)
