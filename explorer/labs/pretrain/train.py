"""Training from nothing: what can be asked, the runs as they go, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Annotated, Any

from explorer.engine.protocol import Engine
from explorer.errors import BadInputError
from explorer.kinds import Name
from explorer.params import Shown, params
from explorer.runs.comparing import Compared, follow_all
from explorer.runs.examples import FROM_NOTHING, SEEDS_FROM_NOTHING, with_seed
from explorer.scratch.spec import (
    NOTHING,
    PROBES,
    SETTINGS,
    STORIES,
    Copies,
    FormatName,
    Heads,
    Hidden,
    KeepBest,
    Layers,
    Length,
    Masking,
    MaskShare,
    ObjectiveName,
    PeakRate,
    Probes,
    RandomShare,
    Rate,
    RowsABatch,
    Schedule,
    SchemeName,
    ScratchSpec,
    Steps,
    Vocabulary,
    WarmUp,
)
from explorer.settings import settings
from explorer.tasks.sources import keep_text
from explorer.tuning.spec import RunSeed

RACES = (
    ("nothing: one run", ""),
    ("static masks, one a row", "masking=static, copies=1"),
    ("40% masked", "rate=0.4"),
    ("100% [MASK]", "mask_share=1, random_share=0"),
    ("whole words masked", "scheme=whole_word"),
    ("MLM alone, full sentences (RoBERTa)", "objective=mlm, row_format=full_sentences"),
    ("sentence order (ALBERT)", "objective=mlm_sop"),
    ("replaced tokens (ELECTRA)", "objective=rtd"),
    ("next token (GPT)", "objective=causal"),
    ("next token without a causal mask", "objective=no_causal_mask"),
    ("short rows first (BERT)", "schedule=short"),
    ("no warm-up", "warmup=0"),
    ("a quarter of the batch", "batch_size=8"),
    ("ten times the rate", "learning_rate=0.04"),
    ("twice as many layers", "layers=4"),
)
"""What a second run may have otherwise, as title and `against`."""


@params
class PretrainParams:
    """A model to train, and what another one that is raced against it has otherwise, as "name=value, name=value"."""

    objective: ObjectiveName = "mlm_nsp"
    start: Annotated[
        str, Name(), Shown("Starts from", choices=(("nothing", NOTHING), ("bert-mini", "bert-mini")), dropdown=True)
    ] = NOTHING
    text: Annotated[
        str,
        Name(optional=True),
        Shown("Text of your own", "Empty: the bundled stories. An empty line ends a document.", lines=(2, 5)),
    ] = ""
    row_format: FormatName = "segment_pair"
    masking: Masking = "dynamic"
    copies: Copies = 10
    scheme: SchemeName = "token"
    rate: Rate = 0.15
    layers: Layers = 2
    hidden: Hidden = 128
    heads: Heads = 4
    vocabulary: Vocabulary = 3000
    steps: Steps = 1500
    batch_size: RowsABatch = 32
    length: Length = 48
    schedule: Schedule = "long"
    warmup: WarmUp = 0.1
    learning_rate: PeakRate = None
    keep_best: KeepBest = True
    seed: RunSeed = 0
    probes: Probes = PROBES
    against: Annotated[
        str,
        Name(optional=True),
        Shown("Race it against the same with", "With one seed and one text.", choices=RACES, dropdown=True),
    ] = ""
    mask_share: MaskShare = 0.8
    random_share: RandomShare = 0.1

    def specs(self, task: str) -> tuple[ScratchSpec, ...]:
        """Return one run, or two with one seed. Raises BadInputError for a race that names no setting."""
        own = {field.name: getattr(self, field.name) for field in fields(ScratchSpec) if hasattr(self, field.name)}
        given = {**own, "start": "random", "model": self.start, "task": task}
        other = changes(self.against)
        return (ScratchSpec(**given), *((ScratchSpec(**{**given, **other}),) if other else ()))


def changes(text: str) -> dict[str, Any]:
    """Read "masking=static, copies=1" as the settings by name. Raises BadInputError."""
    found: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in SETTINGS:
            raise BadInputError(
                f"A race differs by settings such as masking=static, rate=0.4; {part[:40]!r} is none. Settings are "
                f"{', '.join(SETTINGS)}."
            )
        found[name] = value
    return found


@params
class FollowPretrainingParams:
    """Runs that were started before. run: one, or two with a comma between them; the worked example where none is named."""

    run: Annotated[str, Name()] = next(iter(FROM_NOTHING))


@params
class TakeHomeParams:
    """A finished run from nothing."""

    run: Annotated[str, Name()] = next(iter(FROM_NOTHING))


def pretrain(engine: Engine, params: PretrainParams, owner: str) -> Iterator[Compared | None]:
    """Train one model, or two that are raced, and follow them to the end."""
    task = keep_text(params.text, settings()).name if params.text.strip() else STORIES
    specs = params.specs(task)
    yield from follow_all(engine.runs, tuple(engine.runs.start(spec, owner) for spec in specs))


def follow_pretraining(engine: Engine, params: FollowPretrainingParams, owner: str) -> Iterator[Compared | None]:
    """Follow runs that were started before. Raises BadInputError for a run of another kind."""
    names = tuple(name.strip() for name in params.run.split(",") if name.strip())[:2] or (  # a race has two
        FollowPretrainingParams().run,
    )
    if len(names) == 1 and names[0] in FROM_NOTHING:
        names = (names[0], FROM_NOTHING[names[0]])
    for name in names:
        record = engine.runs.get(name)
        if not isinstance(record.spec, ScratchSpec):
            raise BadInputError(
                f"{record.name} did not begin from nothing. Choose a run that was started on this page."
            )
    again = tuple(engine.runs.get(one) for one in _again(names))
    for compared in follow_all(engine.runs, names):
        yield replace(compared, again=again) if compared else None


def _again(names: tuple[str, ...]) -> list[str]:
    """Return the worked example's runs with other seeds; [] for other runs."""
    pair = next(iter(FROM_NOTHING.items()))
    return [with_seed(name, seed) for seed in SEEDS_FROM_NOTHING for name in names] if names == pair else []
