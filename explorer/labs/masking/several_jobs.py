"""Several blanks filled together: a masked language model gives each blank a distribution of its own, and none for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.masking.several import FEWEST, MOST, ORDERS, Filling, FillingStep, SeveralParams, SeveralResult
from explorer.models.encoding import Encoded, encode, with_own_mask
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel

EMPTY = -1
"""Stands for a blank that holds nothing yet, among token ids."""


def fill_several(loaded: LoadedModel, params: SeveralParams) -> SeveralResult:
    """Fill a text's blanks in four ways (ORDERS). Raises BadInputError for too few or too many blanks."""
    encoded = encode(loaded, with_own_mask(loaded.tokenizer, params.text))
    blanks = _Blanks(loaded, encoded)
    count = len(blanks.places)
    if not FEWEST <= count <= MOST:
        said = f"write {FEWEST} to {MOST}, each as {loaded.tokenizer.mask_token}"
        raise BadInputError(f"This text has {count} blank{'' if count == 1 else 's'}: {said}.")
    found = (
        [blanks.at_once()],
        blanks.in_turn(lambda empty, sure: empty[0]),
        blanks.in_turn(lambda empty, sure: max(empty, key=lambda blank: sure[blank])),
        blanks.in_steps(params.steps),
    )
    joints = blanks.joint([steps[-1].ids for steps in found])
    fillings = tuple(
        Filling(order, tuple(map(blanks.shown, steps)), joint)
        for order, steps, joint in zip(ORDERS, found, joints, strict=True)
    )
    return SeveralResult(loaded.model_id, tuple(blanks.places), fillings)


class _State:
    """What stands in the blanks: token ids (EMPTY for none), ln p when each was put in, and which are new."""

    def __init__(self, ids: Sequence[int], sure: Sequence[float], fresh: Sequence[int]) -> None:
        self.ids, self.sure, self.fresh = list(ids), list(sure), set(fresh)

    def put(self, blanks: Sequence[int], ids: Sequence[int], sure: Sequence[float]) -> _State:
        """Return a state with other tokens in some blanks."""
        new = _State(self.ids, self.sure, blanks)
        for blank in blanks:
            new.ids[blank], new.sure[blank] = ids[blank], sure[blank]
        return new


class _Blanks:
    """The blanks of one text, and what the model expects in them."""

    def __init__(self, loaded: LoadedModel, encoded: Encoded) -> None:
        self.loaded, self.encoded = loaded, encoded
        self.mask_id = int(loaded.tokenizer.mask_token_id)
        self.places = [token.position for token in encoded.tokens if token.token_id == self.mask_id]
        self.empty = _State([EMPTY] * len(self.places), [0.0] * len(self.places), ())

    def at_once(self) -> _State:
        """Fill every blank by itself, from one look at the text."""
        ids, sure = self._best(self.empty.ids)
        return self.empty.put(range(len(self.places)), ids, sure)

    def in_turn(self, choose: Callable[[list[int], list[float]], int]) -> list[_State]:
        """Fill one blank a look. choose: the next of those that are empty, given ln p of the best token for each blank."""
        states = [self.empty]
        while empty := [blank for blank, held in enumerate(states[-1].ids) if held == EMPTY]:
            ids, sure = self._best(states[-1].ids)
            states.append(states[-1].put([choose(empty, sure)], ids, sure))
        return states[1:]

    def in_steps(self, steps: int) -> list[_State]:
        """Fill by mask-predict: all at once, then again those that are least sure, fewer each time: n (T - t) / T of n
        blanks at step t of T (Ghazvininejad et al. 2019, section 3).
        """
        states, count = [self.at_once()], len(self.places)
        for step in range(1, steps):
            again = sorted(range(count), key=lambda blank: states[-1].sure[blank])[: count * (steps - step) // steps]
            if not again:
                break
            ids, sure = self._best([EMPTY if blank in again else held for blank, held in enumerate(states[-1].ids)])
            states.append(states[-1].put(again, ids, sure))
        return states

    def joint(self, fillings: Sequence[Sequence[int]]) -> list[float]:
        """Return ln p of all tokens of each filling: the sum over its blanks of ln p given those to the left, the rest
        empty.
        """
        # A row for each blank of each filling.
        rows = [[*ids[:blank], *[EMPTY] * (len(ids) - blank)] for ids in fillings for blank in range(len(ids))]
        # (fillings, the blank that is asked, blanks, vocabulary)
        scores = self._scores(rows).view(len(fillings), len(self.places), len(self.places), -1)
        return [
            math.fsum(float(scores[row, blank, blank, token]) for blank, token in enumerate(ids))
            for row, ids in enumerate(fillings)
        ]

    def shown(self, state: _State) -> FillingStep:
        """Return a state as plain values."""
        decode = self.loaded.tokenizer.decode
        return FillingStep(
            tuple(None if held == EMPTY else str(decode([held])).strip() for held in state.ids),
            tuple(None if held == EMPTY else math.exp(sure) for held, sure in zip(state.ids, state.sure, strict=True)),
            tuple(blank in state.fresh for blank in range(len(state.ids))),
        )

    def _best(self, held: Sequence[int]) -> tuple[list[int], list[float]]:
        """Return for each blank the likeliest token that is no special one, and its ln p, while the others hold these."""
        scores = self._scores([held])[0]  # (blanks, vocabulary)
        scores[:, list(self.loaded.tokenizer.all_special_ids)] = -math.inf
        best = scores.max(-1)
        return best.indices.tolist(), best.values.tolist()

    def _scores(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Return ln p over the vocabulary at every blank, for blanks that hold these: (rows, blanks, vocabulary), on
        the CPU.
        """
        held = torch.tensor([[self.mask_id if one == EMPTY else one for one in row] for row in rows])
        found = []
        for part in held.split(MOST):
            inputs = {name: tensor.repeat(len(part), 1) for name, tensor in self.encoded.inputs.items()}
            inputs["input_ids"][:, self.places] = part
            output = self.loaded.model(**{name: tensor.to(self.loaded.device) for name, tensor in inputs.items()})
            found.append(self.loaded.logits(Capability.MLM, output)[:, self.places].float().log_softmax(-1).cpu())
        return torch.cat(found)
