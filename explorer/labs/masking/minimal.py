"""Minimal pairs: thirty times two sentences, of which a model ought to find one likelier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, level, picture, rows
from explorer.charts.words import caption, fixed, label, progress_bar, prose, signed, strong
from explorer.kinds import Name
from explorer.labs.masking.score import Masking, ScoredSentence
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import params
from explorer.tables import Table

if TYPE_CHECKING:
    from explorer.engine.resources import Resources

KINDS = ("agreement", "word order", "sense")


class MinimalPair(NamedTuple):
    """kind; what is changed, for a chart's label; the better sentence and the worse."""

    kind: str
    label: str
    better: str
    worse: str


def _pairs(kind: str, *pairs: tuple[str, str, str]) -> tuple[MinimalPair, ...]:
    return tuple(MinimalPair(kind, *pair) for pair in pairs)


PAIRS = (
    *_pairs(
        "agreement",
        ("are / is", "The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."),
        ("lives / live", "The author of the books lives in Paris.", "The author of the books live in Paris."),
        ("were / was", "The children who saw the film were happy.", "The children who saw the film was happy."),
        ("has / have", "No student has finished the exam.", "No student have finished the exam."),
        ("themselves", "The boys hurt themselves in the game.", "The boys hurt himself in the game."),
        ("these roads", "These roads lead to the river.", "This roads lead to the river."),
        ("that … is", "The pilot that the guards know is old.", "The pilot that the guards know are old."),
        ("was / were", "The box of old letters was in the attic.", "The box of old letters were in the attic."),
        ("has written", "She has written three books about the war.", "She has wrote three books about the war."),
        ("one … has", "Every one of the houses has a garden.", "Every one of the houses have a garden."),
    ),
    *_pairs(
        "word order",
        ("the boy", "The boy ate the apple.", "The apple ate the boy."),
        ("the police", "The police arrested the thief.", "The thief arrested the police."),
        ("the cat", "The cat slept under the table.", "The table slept under the cat."),
        ("red rose", "He gave his mother a red rose.", "He gave his mother a rose red."),
        ("he wants", "I don't know what he wants.", "I don't know what wants he."),
        ("already", "They have already sold the house.", "They have sold already the house."),
        ("slowly", "The old man slowly opened the door.", "The old man opened slowly the door."),
        ("did you", "Where did you put the keys?", "Where you did put the keys?"),
        ("what a", "What a beautiful day it is!", "What beautiful a day it is!"),
        ("turned off", "He turned off the light and went to bed.", "He turned the light and went off to bed."),
    ),
    *_pairs(
        "sense",
        ("Paris", "The capital of France is Paris.", "The capital of France is London."),
        ("east", "The sun rises in the east.", "The sun rises in the west."),
        ("water", "He drank a glass of water.", "He drank a glass of sand."),
        ("barked", "The dog barked at the stranger.", "The dog sang at the stranger."),
        ("envelope", "She put the letter in an envelope.", "She put the letter in an elephant."),
        ("composer", "Mozart was a famous composer.", "Mozart was a famous footballer."),
        ("seven", "A week has seven days.", "A week has nine days."),
        ("landed", "The pilot landed the plane safely.", "The pilot ate the plane safely."),
        ("winter", "In winter it is cold and it snows.", "In summer it is cold and it snows."),
        ("Africa", "The Nile is a river in Africa.", "The Nile is a river in Europe."),
    ),
)


@params
class MinimalPairsParams:
    """The bundled minimal pairs. masking: what is hidden with a token, as in ScoreParams."""

    model: Annotated[str, Name()] = DEFAULT_MODEL
    masking: Masking = "rest_of_word"


@dataclass(frozen=True)
class ScoredPair:
    """One minimal pair: number is its place in PAIRS."""

    number: int
    better: ScoredSentence
    worse: ScoredSentence

    @property
    def kind(self) -> str:
        """agreement, word order or sense."""
        return PAIRS[self.number].kind

    @property
    def label(self) -> str:
        """What is changed, in a word or two."""
        return PAIRS[self.number].label

    @property
    def difference(self) -> float:
        """The better sentence's score minus the other's: above 0 where the model ranks the two right."""
        return self.better.total - self.worse.total


@dataclass(frozen=True)
class MinimalPairsResult:
    """The pairs that are scored so far."""

    model: str
    causal: bool
    pairs: tuple[ScoredPair, ...]

    def of(self, kind: str) -> tuple[ScoredPair, ...]:
        """Return the pairs of one kind."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)

    def right(self, kind: str = "") -> int:
        """Count the pairs that are ranked right, of one kind or of all."""
        kinds = (kind,) if kind else KINDS
        return sum(pair.difference > 0 for pair in self.pairs if pair.kind in kinds)

    @property
    def is_done(self) -> bool:
        """Whether all are scored."""
        return len(self.pairs) == len(PAIRS)


STOPPED = Markup("Stopped. The pairs that were scored stay.")


def score_minimal_pairs(resources: Resources, params: MinimalPairsParams) -> Iterator[MinimalPairsResult]:
    """Score the bundled minimal pairs; each result holds the pairs so far. Raises MissingCapabilityError."""
    from explorer.labs.masking.score_jobs import is_causal, scored

    loaded = resources.model(params.model)
    done: list[ScoredPair] = []
    for number, pair in enumerate(PAIRS):
        both = (scored(loaded, sentence, params.masking) for sentence in (pair.better, pair.worse))
        done.append(ScoredPair(number, *both))
        yield MinimalPairsResult(loaded.model_id, is_causal(loaded), tuple(done))


def minimal_pairs_table(result: MinimalPairsResult) -> Table:
    """kind, better, worse, score_of_better, score_of_worse (nats), tokens_of_better, tokens_of_worse, difference, right."""
    return Table.each(
        result.pairs,
        "kind",
        better="better.sentence",
        worse="worse.sentence",
        score_of_better="better.total",
        score_of_worse="worse.total",
        tokens_of_better=lambda pair: len(pair.better.tokens),
        tokens_of_worse=lambda pair: len(pair.worse.tokens),
        difference="difference",
        right=lambda pair: "yes" if pair.difference > 0 else "no",
    )


def minimal_pairs_sentence(result: MinimalPairsResult) -> Markup:
    """Say how many are ranked right."""
    right = strong(f"{result.right()} of {len(result.pairs)}")
    return prose(label(result.model), " ranks ", right, " pairs right.")


def minimal_pairs_notes(result: MinimalPairsResult) -> Markup:
    """Say how many of each kind are ranked right, and which isn't."""
    kinds = [f"{result.right(kind)} of {len(result.of(kind))} on {kind}" for kind in KINDS if result.of(kind)]
    parts = [f"{', '.join(kinds)}."]
    per_token = sum(pair.better.per_token > pair.worse.per_token for pair in result.pairs)
    if per_token != result.right():
        parts.append(f" By the mean over the tokens they are {per_token}.")
    if wrong := [pair for pair in result.pairs if pair.difference <= 0]:
        furthest = min(wrong, key=lambda pair: pair.difference)
        if not furthest.difference:
            return caption(*parts, f" It finds “{furthest.worse.sentence}” as likely as “{furthest.better.sentence}”.")
        parts.append(f" Furthest off: it finds “{furthest.worse.sentence}” likelier than “{furthest.better.sentence}”")
        parts.append(f", by {fixed(-furthest.difference)} nats.")
    return caption(*parts)


def minimal_pairs_progress(result: MinimalPairsResult) -> Markup:
    """Return a bar while pairs are being scored."""
    if result.is_done:
        return Markup("")
    share = len(result.pairs) / len(PAIRS)
    return progress_bar(share, "pairs scored") + Markup(" {} of {} pairs").format(len(result.pairs), len(PAIRS))


def minimal_pairs_figure(result: MinimalPairsResult) -> Picture:
    """Draw for each kind its pairs as bars: how far the better sentence is ahead, in nats."""
    furthest = max(1.0, *(abs(pair.difference) for pair in result.pairs))  # tiny differences stay small
    least = min(0.0, *(pair.difference for pair in result.pairs))
    span = (1.1 * least - 0.04 * furthest, 1.5 * furthest)
    panels = []
    for kind in KINDS:
        pairs, found = [pair for pair in PAIRS if pair.kind == kind], result.of(kind)
        title = f"{kind}: {result.right(kind)} of {len(pairs)}"
        down = rows([label(pair.label) for pair in pairs], size=14) | {
            "autorange": False,
            "range": [len(pairs) - 0.4, -0.6],
            "zeroline": False,
        }
        across = axis("ahead by (nats)", span=span, nticks=4)
        panels.append(Panel([_bars(found)], across, down, title, [level(0, "@muted", dash="solid", upright=True)]))
    return picture(minimal_pairs_sentence(result), panels, height=360, phone=1120, gap=0.15, bargap=0.25)


def _bars(pairs: tuple[ScoredPair, ...]) -> Trace:
    differences = [pair.difference for pair in pairs]
    colours = ["@kept" if difference > 0 else "@random" for difference in differences]
    read = [[label(pair.better.sentence, 70), label(pair.worse.sentence, 70)] for pair in pairs]
    look: Look = {
        "texts": [signed(value, 1) if value > 0 else "" for value in differences],
        "size": 14,
        "customdata": read,
    }
    hover = "%{customdata[0]}<br>%{customdata[1]}<br>%{x:.2f} nats"
    return bars(range(len(pairs)), differences, colours, hover=hover, **look)
