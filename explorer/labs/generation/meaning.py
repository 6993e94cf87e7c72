"""A meaning put into words: what is asked, at first and to try, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from explorer.action import LiveAction
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Name, Read
from explorer.labs.generation.continued import (
    MOST_TOKENS,
    WRITER,
    Beams,
    ContinueParams,
    Decodings,
    K,
    P,
    Row,
    Temperature,
    Tokens,
    Writer,
)
from explorer.labs.generation.plain import generate
from explorer.params import Seed, Shown, params
from explorer.runs.examples import WRITTEN as EXAMPLE
from explorer.tables import Table
from explorer.tasks.formats.e2e import parse_meaning, spelled
from explorer.tasks.slots import Said
from explorer.worked import Opening

MEANING = spelled(
    (
        ("name", "Copper Kettle"),
        ("Type", "pub"),
        ("food", "Italian"),
        ("price", "cheap"),
        ("area", "riverside"),
        ("family friendly", "yes"),
    )
)
"""A name that the training meanings have, in a combination that they don't."""

TRY = {
    "all eight slots": spelled(
        (
            ("name", "Brass Lantern"),
            ("Type", "restaurant"),
            ("food", "Japanese"),
            ("price", "more than £30"),
            ("customer rating", "5 out of 5"),
            ("area", "city centre"),
            ("family friendly", "no"),
            ("near", "Crane Bridge"),
        )
    ),
    "two slots": spelled((("name", "Acorn House"), ("Type", "coffee shop"))),
    "a name it never saw": spelled(
        (("name", "The Blue Spice"), ("Type", "pub"), ("food", "Thai"), ("area", "riverside"))
    ),
}

VALUES: dict[str, tuple[str, ...]] = {
    "name": ("Acorn House", "Brass Lantern", "Copper Kettle", "Ivy Gate", "The Vagabond"),
    "Type": ("restaurant", "pub", "coffee shop"),
    "food": ("English", "Italian", "French", "Indian", "Chinese", "Japanese", "Fast food"),
    "price": ("cheap", "moderate", "high", "less than £20", "£20-25", "more than £30"),
    "customer rating": ("low", "average", "high", "1 out of 5", "3 out of 5", "5 out of 5"),
    "area": ("riverside", "city centre"),
    "family friendly": ("yes", "no"),
    "near": ("Crane Bridge", "Harbour Clock", "Kestrel Tower", "Old Granary", "Swan Fountain"),
}
"""What the lists offer; any other value may be typed."""


LONGEST_MEANING = 600
"""Characters; the longest bundled one has 170."""

SHORT = ("greedy", "beam", "top_p")
"""The decodings that are ticked at first."""


def _meaning(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_MEANING:
        raise BadInputError(
            f"meaning takes slots with their values, in at most {LONGEST_MEANING} characters, such as: {MEANING}."
        )
    return spelled(parse_meaning(value))


@params
class GenerateParams:
    """A meaning, and the run that puts it into words. run: a fine-tuned writer; empty for `model` as it is."""

    model: Writer = WRITER
    run: Annotated[str, Name(), Shown("Run")] = EXAMPLE
    meaning: Annotated[str, Read(_meaning), Shown("Meaning", lines=(2, 4))] = MEANING
    decoding: Decodings = SHORT
    seed: Seed = 0
    tokens: Tokens = MOST_TOKENS
    k: K = 40
    p: P = 0.9
    temperature: Temperature = 0.7
    beams: Beams = 4

    def of_text(self, model: str, text: str) -> ContinueParams:
        """Return the same decodings on the text that a model reads."""
        own = {field.name: getattr(self, field.name) for field in fields(ContinueParams) if hasattr(self, field.name)}
        return ContinueParams(**{**own, "model": model, "text": text})


@dataclass(frozen=True)
class Phrase:
    """What one decoding has written so far. writer: the run's name, or the untouched model's.

    slots: what it says of the meaning, and what besides; only of a text that is done.
    """

    writer: str
    row: Row
    text: str
    slots: tuple[Said, ...] = ()

    @property
    def missed(self) -> tuple[str, ...]:
        """Slots that were asked for and not said."""
        return tuple(f"{one.slot}: {one.value}" for one in self.slots if one.state == "missed")

    @property
    def invented(self) -> tuple[str, ...]:
        """What was said without being asked for."""
        return tuple(f"{one.slot}: {one.value}" for one in self.slots if one.state == "invented")


@dataclass(frozen=True)
class SlotAttention:
    """Where each written token's place looked, mean over layers and heads. tokens: as they are written.

    columns: the slots' values, then the rest. shares: (tokens, columns), rows sum to 1.
    """

    tokens: tuple[str, ...]
    columns: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class GenerateResult:
    """The texts so far. untouched: what the model before any training writes, greedily; None if it is asked itself.

    attention: of the first row, once all is written.
    """

    run: str
    writer: str
    meaning: tuple[tuple[str, str], ...]
    asked: GenerateParams
    phrases: tuple[Phrase, ...]
    untouched: Phrase | None
    steps: int
    of: int
    done: bool
    attention: SlotAttention | None = None


def generate_table(result: GenerateResult) -> Table:
    """writer, decoding, text, mean −ln p a token, slots missed and invented."""
    phrases = [*result.phrases, *([result.untouched] if result.untouched is not None else [])]
    return Table.each(
        phrases,
        "writer",
        decoding="row.decoding",
        text="text",
        surprisal="row.surprisal",
        missed=lambda one: "; ".join(one.missed),
        invented=lambda one: "; ".join(one.invented),
    )


GENERATE = LiveAction(
    Job("explorer.labs.generation.meaning_jobs:generate", on="resources"),
    GenerateParams,
    generate_table,
    plain=generate,
    openings=(Opening(GenerateParams(), GenerateResult),),
)
