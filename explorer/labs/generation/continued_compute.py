"""A causal model reads a text once and goes on token by token; keys and values of what it has read are kept (the KV cache)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.generation.continued import TOP, Candidate, ContinueParams, NextParams, NextResult, Row, Written
from explorer.maths.decoding import beam_candidates, drawn, in_top_k, in_top_p, tempered
from explorer.models.encoding import encode
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel

if TYPE_CHECKING:  # as DynamicCache below
    from transformers import DynamicCache, PreTrainedTokenizerBase

CONTEXT = 8
"""Tokens before a place that are quoted."""

CURVE = 60
"""Ranks of a distribution that its curve goes through, evenly on a logarithmic axis."""

NEW_WORD = ("Ġ", "▁")
"""How vocabularies write the space before a word."""


@dataclass(frozen=True)
class Beginning:
    """What is continued: the ids of the text, and of the branch after it. text: as it was read."""

    text: str
    prompt: tuple[int, ...]
    branch: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the text and the branch together."""
        return self.prompt + self.branch


class Reader:
    """A model that continues a text, with what it has read so far of several rows: `scores` are those of their next token.

    before: keys and values of virtual tokens that stand before every text, and how many these are.
    Raises MissingCapabilityError.
    """

    def __init__(self, loaded: LoadedModel, before: tuple[DynamicCache, int] | None = None) -> None:
        from transformers import DynamicCache  # once a model is loaded: two threads at its first import get half of it

        loaded.require(Capability.CAUSAL)
        self.loaded = loaded
        self.cache, self.virtual = before or (DynamicCache(), 0)
        self.end = loaded.tokenizer.eos_token_id
        # It may write its end, and no other special token.
        self.never = sorted({*loaded.tokenizer.all_special_ids} - {self.end})

    def begin(self, text: str, branch: Sequence[int]) -> Beginning:
        """Return the ids of a text and a branch; spaces at the end are left out, since a word brings the space before
        it along.

        Raises BadInputError for a branch of ids that no row could hold, and if no room is left.
        """
        encoded = encode(self.loaded, text.rstrip())
        known, special = len(self.loaded.tokenizer), self.loaded.tokenizer.all_special_ids
        for one in branch:
            if one >= known or one in special:
                raise BadInputError(
                    f"{one} is no token that {self.loaded.model_id} writes: its ids are 0 to {known - 1:,}, without "
                    "the special ones. Clear the branch and press a token anew."
                )
        beginning = Beginning(text.rstrip(), tuple(encoded.input_ids.tolist()), tuple(branch))
        if self.room(beginning) < 1:
            raise BadInputError(
                f"This is {len(beginning.ids):,} tokens long, and {self.loaded.model_id} reads {self.loaded.longest} at once: "
                "no room is left for another. Shorten the text, or go back before the branch."
            )
        return beginning

    def room(self, beginning: Beginning) -> int:
        """Return how many tokens may follow."""
        return self.loaded.longest - self.virtual - len(beginning.ids)

    def read(self, rows: Sequence[Sequence[int]], parents: Sequence[int] = (), keep: int = 1) -> Tensor:
        """Read on: rows of ids, each after what the row `parents` names has read before.

        Returns ln p, (rows, keep, vocabulary), of the tokens after the last `keep` of each row.
        """
        if parents:
            # Keys and values in the rows' new order.
            self.cache.batch_select_indices(torch.tensor(parents, device=self.loaded.device))
        ids = torch.tensor(rows, device=self.loaded.device)  # (rows, new tokens)
        # The vocabulary's scores at these places alone.
        output = self.loaded.model(input_ids=ids, past_key_values=self.cache, use_cache=True, logits_to_keep=keep)
        return self.loaded.logits(Capability.CAUSAL, output).float().cpu().log_softmax(-1)

    def may_write(self, scores: Tensor) -> Tensor:
        """Return the scores without the special tokens, but for the end of the text."""
        return scores.index_fill(-1, torch.tensor(self.never, dtype=torch.long), -torch.inf)

    def written(self, scores: Tensor, token: int, by_hand: bool = False) -> Written:
        """Return a token with its ln p and rank; scores: (vocabulary,)."""
        text, joined = piece(self.loaded.tokenizer, token)
        own = scores[token]
        return Written(token, text, joined, float(own), 1 + int((scores > own).sum()), by_hand)


def piece(tokenizer: PreTrainedTokenizerBase, token: int) -> tuple[str, bool]:
    """Return how a token looks in a sentence, and whether it goes on with the word before.

    Part of a character is shown as it is spelled.
    """
    name, text = str(tokenizer.convert_ids_to_tokens(token)), str(tokenizer.decode([token]))
    if not text.strip():
        return {"\n": "↵", "\t": "⇥"}.get(text, "␣"), False
    return (name if "\ufffd" in text else text.strip()), not name.startswith(NEW_WORD)


@dataclass(frozen=True)
class Step:
    """What is read next in one row of the batch: after which of a decoding's rows, and which token."""

    parent: int
    token: int


class Sampled:
    """One row: greedy, or drawn from what its decoding allows. Its own tokens are kept in `row`."""

    def __init__(self, decoding: str, params: ContinueParams, reader: Reader, branch: tuple[Written, ...]) -> None:
        self.decoding, self.params, self.reader = decoding, params, reader
        self.row = Row(decoding, branch)
        self.seen = 0

    def step(self, scores: Tensor, at: float) -> list[Step]:
        """Choose the next token, and return what is to be read: nothing at the end.

        scores: ln p, (1, vocabulary). at: the random number, from 0 to 1.
        """
        token = self._choose(self.reader.may_write(scores[0]), at)
        written = self.reader.written(scores[0], token)
        if token == self.reader.end:
            self.row = replace(self.row, ended=written.log_probability)
            return []
        self.row = replace(self.row, tokens=(*self.row.tokens, written))
        return [Step(0, token)]

    def _choose(self, scores: Tensor, at: float) -> int:
        if self.decoding == "greedy":
            return int(scores.argmax())
        return drawn(shares_of(self.decoding, scores, self.params), at)


class Beams:
    """Beam search: so many beginnings side by side, ranked by the sum of ln p without a penalty for length.

    `row` is the best of those that have ended and those that go on.
    """

    decoding = "beam"

    def __init__(self, params: ContinueParams, reader: Reader, branch: tuple[Written, ...]) -> None:
        self.beams, self.reader = params.beams, reader
        self.live, self.over = [Row(self.decoding, branch)], list[Row]()
        self.row = self.live[0]
        self.seen = 0

    def step(self, scores: Tensor, at: float) -> list[Step]:
        """Go on with the best ways to go on, and return what is to be read: nothing once no beam can win.

        scores: ln p, (beams, vocabulary).
        """
        sums = torch.tensor([row.score for row in self.live], dtype=torch.float64)  # sums of close values decide
        # Twice as many: some may end.
        candidates = beam_candidates(self.reader.may_write(scores).double(), sums, 2 * self.beams)
        live, steps = list[Row](), list[Step]()
        for place, (_, parent, token) in enumerate(candidates):
            row, written = self.live[parent], self.reader.written(scores[parent], token)
            if token != self.reader.end and len(live) < self.beams:
                live.append(replace(row, tokens=(*row.tokens, written)))
                steps.append(Step(parent, token))
            elif token == self.reader.end and place < self.beams:  # a worse end than `beams` others is no rival
                self.over.append(replace(row, ended=written.log_probability))
        self.live = live
        self.row = max([*live, *self.over], key=lambda row: row.score)
        # Whose scores the winner came from.
        self.seen = next((step.parent for row, step in zip(live, steps, strict=True) if row is self.row), 0)
        return [] if self.row.ended is not None else steps  # ln p only falls, so none that goes on can pass it


def shares_of(decoding: str, scores: Tensor, params: ContinueParams | NextParams) -> Tensor:
    """Return the distribution that a decoding draws from, 0 for what it leaves out: (vocabulary,), double precision."""
    if decoding == "top_k":
        return tempered(scores.masked_fill(~in_top_k(scores, params.k), -torch.inf), 1.0)
    if decoding == "top_p":
        return tempered(scores.masked_fill(~in_top_p(scores, params.p), -torch.inf), 1.0)
    return tempered(scores, params.temperature if decoding == "temperature" else 1.0)


@dataclass(frozen=True)
class Place:
    """A place in a text, ids before it included, with the scores of its next token: ln p, (vocabulary,)."""

    beginning: Beginning
    decoding: str
    scores: Tensor
    chosen: int | None


def next_result(reader: Reader, place: Place, params: ContinueParams | NextParams) -> NextResult:
    """Return the candidates at a place, which of them top-k and top-p keep, and their probabilities at the temperature."""
    loaded, scores = reader.loaded, reader.may_write(place.scores)
    shares, hot = scores.double().exp(), tempered(scores, params.temperature)
    kept = {"top_k": in_top_k(scores, params.k), "top_p": in_top_p(scores, params.p)}
    order = scores.argsort(descending=True, stable=True)  # stable: equal scores have one order everywhere
    rank_of = {token: rank for rank, token in enumerate(order[:TOP].tolist(), start=1)}

    def candidate(token: int) -> Candidate:
        rank = rank_of.get(token) or 1 + int((scores > scores[token]).sum())
        inside = {name: bool(mask[token]) for name, mask in kept.items()}
        allowed = inside.get(place.decoding, place.decoding != "greedy" or rank == 1)
        look = piece(loaded.tokenizer, token) if token != reader.end else ("end of text", False)
        own = float(shares[token]), float(hot[token])
        return Candidate(rank, token, *look, *own, inside["top_k"], inside["top_p"], allowed)

    # Low ranks would come several times.
    ranks = torch.logspace(0, torch.tensor(len(order)).log10().item(), CURVE).round().long().unique()
    mass, warm = (part[order].cumsum(-1)[ranks - 1].tolist() for part in (shares, hot))
    tail = list(place.beginning.ids)[-CONTEXT:]
    before = "…" if len(place.beginning.ids) > CONTEXT else ""
    return NextResult(
        model=loaded.model_id,
        text=place.beginning.text,
        context=before + str(loaded.tokenizer.decode(tail)).strip(),
        branch=place.beginning.branch,
        decoding=place.decoding,
        k=params.k,
        p=params.p,
        temperature=params.temperature,
        vocabulary=len(order),
        entropy=float(torch.special.entr(shares).sum()),
        top=tuple(map(candidate, rank_of)),
        top_k=(int(kept["top_k"].sum()), float(shares[kept["top_k"]].sum())),
        top_p=(int(kept["top_p"].sum()), float(shares[kept["top_p"]].sum())),
        ranks=tuple(ranks.tolist()),
        mass=tuple(mass),
        tempered_mass=tuple(warm),
        written=None if place.chosen is None else candidate(place.chosen),
    )
