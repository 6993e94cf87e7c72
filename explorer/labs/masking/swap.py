"""One word changed: the same blank in a sentence before and after another word of it is changed, and the difference."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import Axis, Look, Panel, Picture, axis, bars, picture
from explorer.charts.words import caption, in_quotes, label, percent, prose, signed
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Name, Sentence, Whole
from explorer.models.families import Capability
from explorer.params import Shown, params
from explorer.plain import plain_script
from explorer.tab import Button, Figure, Tab, Why
from explorer.tables import Table

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.models.loaded_model import LoadedModel

OPENING = ("The man worked as a [MASK].", "man", "woman")
"""A sentence with a blank, a word of it, and the word that takes its place."""


@params
class SwapParams:
    """A sentence with one blank, and the word of it that is changed."""

    text: Annotated[str, Sentence(), Shown("A sentence with a blank", "Type [MASK] for it.", lines=(2, 4))] = OPENING[0]
    word: Annotated[str, Name("Write the word that is changed."), Shown("A word of it", lines=(1, 1))] = OPENING[1]
    other: Annotated[str, Name("Write the word that takes its place."), Shown("changed to", lines=(1, 1))] = OPENING[2]
    top_k: Annotated[int, Whole(1, 20), Shown("Best of each", slider=(1, 20))] = 6


@dataclass(frozen=True)
class SwappedToken:
    """One token of the vocabulary: its probability in the blank with the word and with the other one."""

    token: str
    before: float
    after: float

    @property
    def log_ratio(self) -> float:
        """ln of how many times likelier it has become."""
        return math.log(max(self.after, 1e-45) / max(self.before, 1e-45))


@dataclass(frozen=True)
class SwapResult:
    """tokens: the best of either sentence, the likeliest of all first. moved: half the sum of |p - q| over the vocabulary, the
    share of the probability that went to other tokens."""

    model: str
    word: str
    other: str
    tokens: tuple[SwappedToken, ...]
    moved: float


def swap_word(loaded: LoadedModel, params: SwapParams) -> SwapResult:
    """Compare a blank's distribution before and after another word of the sentence is changed.

    Raises BadInputError for a text without the word, or not of one blank.
    """
    word, other = params.word.strip(), params.other.strip()
    # A function: a text could hold \1.
    changed, times = re.subn(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: other, params.text)
    if not times:
        raise BadInputError(f"The text has no “{word[:60]}” as a word of its own.")
    before, after = (_probabilities(loaded, text) for text in (params.text, changed))
    best = {token for p in (before, after) for token in p.topk(min(params.top_k, len(p))).indices.tolist()}
    order = sorted(best, key=lambda token: -float(before[token] + after[token]))
    tokens = (SwappedToken(str(loaded.tokenizer.decode([i])), float(before[i]), float(after[i])) for i in order)
    return SwapResult(loaded.model_id, word, other, tuple(tokens), float((before - after).abs().sum() / 2))


def _probabilities(loaded: LoadedModel, text: str) -> Tensor:
    """Return p over the vocabulary at the text's one blank, (vocabulary,), float64, on the CPU."""
    from explorer.models.encoding import encode, with_own_mask  # here: torch comes with it, and a page needs none

    encoded = encode(loaded, with_own_mask(loaded.tokenizer, text))
    blanks = (encoded.input_ids == loaded.tokenizer.mask_token_id).nonzero().flatten().tolist()
    if len(blanks) != 1:
        raise BadInputError(
            f"Put one {loaded.tokenizer.mask_token} where a word is missing; this text has {len(blanks)}."
        )
    output = loaded.model(**{name: tensor.to(loaded.device) for name, tensor in encoded.inputs.items()})
    return loaded.logits(Capability.MLM, output)[0, blanks[0]].double().softmax(-1).cpu()


def swap_table(result: SwapResult) -> Table:
    """token, before, after (probabilities), log_ratio (ln after / before)."""
    return Table.each(result.tokens, "token before after log_ratio")


def swap_sentence(result: SwapResult) -> Markup:
    """Say what leads in each sentence."""
    first = max(result.tokens, key=lambda token: token.before)
    second = max(result.tokens, key=lambda token: token.after)
    if _stands_still(result):
        start = f"With “{result.word}” as with “{result.other}”, "
        return prose(start, in_quotes(first.token), f" leads ({percent(first.before)}): no probability moves.")
    return prose(
        f"With “{result.word}”, ",
        in_quotes(first.token),
        f" leads ({percent(first.before)}), with “{result.other}”, ",
        in_quotes(second.token),
        f" ({percent(second.after)}).",
    )


def swap_notes(result: SwapResult) -> Markup:
    """Say how much probability moved, and which token's changed most."""
    if _stands_still(result):
        return Markup("")
    furthest = max(result.tokens, key=lambda token: abs(token.after - token.before))
    more = "rises" if furthest.after > furthest.before else "falls"
    return caption(
        f"One word moves {percent(result.moved)} of the probability to other tokens; ",
        in_quotes(furthest.token, bold=False),
        f" {more} most, from {percent(furthest.before)} to {percent(furthest.after)}.",
    )


def _stands_still(result: SwapResult) -> bool:
    return all(token.after == token.before for token in result.tokens)


def swap_figure(result: SwapResult) -> Picture:
    """Draw the best of either sentence in rows: p with the one word, with the other, and the logarithm of the ratio."""
    names = [label(token.token.strip() or repr(token.token), 18) for token in result.tokens]
    before, after = ([getattr(token, name) for token in result.tokens] for name in ("before", "after"))
    ratios = [token.log_ratio for token in result.tokens]
    high = 1.5 * max(*before, *after)
    furthest = 1.8 * max(0.1, *map(abs, ratios))  # tiny differences stay small
    down, rows = _down(names), range(len(names))
    share = axis("probability", span=(0, high), tickformat=".2~p", nticks=4)
    look: Look = {"size": 14, "hover": "%{text}"}
    first = bars(rows, before, "@first", texts=map(percent, before), **look)
    second = bars(rows, after, "@second", texts=map(percent, after), **look)
    colours = ["@second" if ratio > 0 else "@first" for ratio in ratios]
    difference = bars(rows, ratios, colours, texts=map(signed, ratios), **look)
    panels = [
        Panel([first], share, down, label(result.word, 24)),
        Panel(
            [second],
            share,
            _down([""] * len(names)),
            label(result.other, 24),
            alone=Panel((), share, down, label(result.other, 24)),
        ),
        Panel(
            [difference],
            ratio_axis := axis("ln of the ratio", span=(-furthest, furthest), nticks=4),
            _down([""] * len(names)),
            "difference",
            alone=Panel((), ratio_axis, down, "difference"),
        ),
    ]
    tall = 26 * len(names)
    return picture(swap_sentence(result), panels, height=tall + 110, phone=3 * (tall + 100), gap=0.05, bargap=0.25)


def _down(names: list[str]) -> Axis:
    ticks: Look = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "zeroline": False}
    return axis(grid=False, span=(len(names) - 0.4, -0.6), size=15, **ticks)  # the first token is on top


WHY = r"""
Two sentences that differ in one word are an experiment with a control: whatever changes in the blank is that word's doing, as the
model read it. With $p$ before and $q$ after, $\ln (q/p)$ says how each token fares, and half of $\sum_v |p(v) - q(v)|$ how much
of the probability has moved in all (the total variation distance: 0 for nothing, 1 for everything).

What *man* and *woman* change was learned from the texts that the model read, and it says what those texts say of men and women
rather than what is so. A model that is put to use hands it on.
"""

SWAP_WORD = Action(
    Job("explorer.labs.masking.swap:swap_word", Capability.MLM), SwapParams, swap_table, plain=plain_script("swap_word")
)

TAB = Tab(
    "swap",
    "One word changed",
    SWAP_WORD,
    asks=("text", "word", "other", Button("Compare"), "top_k"),
    figure=Figure("swap", "one-word-changed", swap_sentence, swap_figure, swap_notes),
    why=Why("one word, and what it does", WHY),
    tries={
        "He or she": {"text": "He said that [MASK] was tired.", "word": "He", "other": "She"},
        "not": {"text": "The film was really good, and I [MASK] it.", "word": "really", "other": "not"},
        "Another land": {"text": "The capital of France is [MASK].", "word": "France", "other": "Italy"},
        "A word that doesn't matter": {
            "text": "The keys to the old cabinet [MASK] on the table.",
            "word": "old",
            "other": "new",
        },
    },
)
