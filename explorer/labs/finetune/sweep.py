"""Sweep: one setting at several values, each with several seeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

from pydantic import AfterValidator, model_validator

from explorer.action import LiveAction
from explorer.engine.protocol import Engine
from explorer.errors import BadInputError
from explorer.kinds import Exact, Name, Names, Number, OneOf
from explorer.params import Shown, params
from explorer.runs.comparing import Compared, follow_all, start_all
from explorer.runs.record import RunRecord
from explorer.tables import Table
from explorer.tuning.kinds import kind_of, learning_rate
from explorer.tuning.methods import METHODS, find_method
from explorer.tuning.spec import TARGETS, BatchSize, Epochs, Examples, Rank, RunSpec, Task, spec_of

MOST_RUNS = 24
BUDGET = 8
"""The rank times the number of matrices, as in LoRA's Table 5."""

_SHORT = {"query": "q", "key": "k", "value": "v", "output": "o", "ffn_in": "ffn_in", "ffn_out": "ffn_out"}
_LONG = {short: name for name, short in _SHORT.items()}

Value = float | str


@dataclass(frozen=True)
class Setting:
    """What is swept. read: a value from its text, BadInputError for another; put: a run with it; of: a run's value.

    values: what is swept if none are named. log: whether its axis is logarithmic. methods: those that have it, if not
    all do.
    """

    slug: str
    title: str
    values: str
    read: Callable[[str], Value]
    put: Callable[[RunSpec, Any], RunSpec]
    of: Callable[[RunSpec], Value]
    log: bool = False
    methods: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its title without what is said of other settings."""
        return self.title.split(" (")[0].split(",")[0]


def _whole(name: str, least: int = 1) -> Callable[[str], Value]:
    return lambda text: Exact(least, 1_000_000).read(text, name)


def _number(name: str) -> Callable[[str], Value]:
    return lambda text: Number(0, 1e6, above=True).read(text, name)


def _matrices(text: str) -> str:
    """Read q+v; return the matrices in the order of TARGETS."""
    names = [_LONG.get(part.strip(), part.strip()) for part in text.split("+")]
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        raise BadInputError(f"matrices are written like q+v, of {', '.join(_LONG)}; got {text[:40]!r}.")
    return _written(tuple(names))


def _written(names: tuple[str, ...]) -> str:
    return "+".join(_SHORT[name] for name in TARGETS if name in names)


def _on_matrices(spec: RunSpec, value: str) -> RunSpec:
    """Put a run on matrices, with as high a rank for each as the budget allows; alpha is twice the rank, as elsewhere."""
    targets = tuple(_LONG[part] for part in value.split("+"))
    rank = max(1, BUDGET // len(targets))
    return replace(spec, targets=targets, rank=rank, alpha=2.0 * rank)


def _method(text: str) -> str:
    return find_method(text).slug


def _start(text: str) -> str:
    """Read a start: pretrained, random, or an earlier run, whose name has a digit or a hyphen."""
    return text if re.search(r"[\d-]", text) else str(OneOf(("pretrained", "random")).read(text, "start"))


def _started(spec: RunSpec, value: str) -> RunSpec:
    if value == "random" and spec.method != "full":
        raise BadInputError(
            "From random numbers every weight has to be trained. Take full fine-tuning, or leave random out."
        )
    return replace(spec, start=value) if value in ("pretrained", "random") else replace(spec, after=value)


def _start_of(spec: RunSpec) -> str:
    return spec.after or ("random" if spec.start == "random" else "pretrained")


SETTINGS = {
    setting.slug: setting
    for setting in (
        Setting(
            "learning_rate",
            "learning rate",
            "1e-5, 1e-4, 1e-3, 1e-2",
            _number("learning_rate"),
            lambda spec, value: replace(spec, learning_rate=value),
            lambda spec: learning_rate(spec, kind_of(spec.method, "")),  # None stands for the method's own rate
            log=True,
        ),
        Setting(
            "rank",
            "rank (alpha = 2 r)",
            "1, 2, 4, 8, 64",
            _whole("rank"),
            lambda spec, value: replace(spec, rank=value, alpha=2.0 * value),
            lambda spec: spec.rank,
            log=True,
            methods=("lora",),
        ),
        Setting(
            "alpha",
            "alpha",
            "2, 8, 16, 32, 128",
            _number("alpha"),
            lambda spec, value: replace(spec, alpha=value),
            lambda spec: spec.alpha,
            log=True,
            methods=("lora",),
        ),
        Setting(
            "matrices",
            f"matrices, r = {BUDGET} / their number",
            "q, k, v, o, q+k, q+v, q+k+v+o, ffn_in+ffn_out",
            _matrices,
            _on_matrices,
            lambda spec: _written(spec.targets),
            methods=("lora",),
        ),
        Setting(
            "examples",
            "training examples",
            "30, 60, 120, 240, 480",
            _whole("examples"),
            lambda spec, value: replace(spec, examples=value),
            lambda spec: spec.examples,
            log=True,
        ),
        Setting(
            "last_layers",
            "last layers trained",
            "1, 2, 3, 4, 6",
            _whole("last_layers"),
            lambda spec, value: replace(spec, last_layers=value),
            lambda spec: spec.last_layers,
            methods=tuple(method.slug for method in METHODS if "last_layers" in method.options),
        ),
        Setting("start", "start", "pretrained, random", _start, _started, _start_of),
        Setting(
            "method",
            "method",
            ", ".join(method.slug for method in METHODS if method.slug not in ("prompt",)),
            _method,
            lambda spec, value: replace(spec, method=value),
            lambda spec: spec.method,
        ),
    )
}


def _known_methods(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(find_method(name).slug for name in dict.fromkeys(names)) or ("lora",)


@params
class SweepParams:
    """One setting at several values (its usual ones where none are given), by one or more methods, with several seeds each."""

    model: Annotated[str, Name()]
    task: Task = "sst2"
    methods: Annotated[tuple[str, ...], Names(), AfterValidator(_known_methods), Shown("Methods")] = ("lora",)
    setting: Annotated[
        str,
        OneOf(tuple(SETTINGS), tuple(setting.name for setting in SETTINGS.values())),
        Shown("Setting", dropdown=True),
    ] = "rank"
    values: Annotated[tuple[str, ...], Names(), Shown("Values", "With commas; empty takes the usual ones.")] = ()
    seeds: Annotated[int, Exact(1, 8), Shown("Seeds", slider=(1, 5))] = 3
    rank: Rank = 8
    epochs: Epochs = 3
    batch_size: BatchSize = 16
    examples: Examples = 0

    @model_validator(mode="after")
    def _runs_are_possible(self) -> Self:
        self.specs()
        return self

    def specs(self) -> list[RunSpec]:
        """Return every run: seed by seed, so that each value has been seen once before any is repeated."""
        setting = SETTINGS[self.setting]
        read = [setting.read(text) for text in self.values or setting.values.split(", ")]
        values = list(dict.fromkeys(read))  # a value named twice is swept once
        methods = ("lora",) if setting.slug == "method" else self.methods  # a sweep of methods names them as its values
        for slug in methods:
            if setting.methods and slug not in setting.methods:
                known = ", ".join(setting.methods)
                raise BadInputError(f"{find_method(slug).title} has no {setting.name} to sweep. Take {known}.")
        count = len(values) * len(methods) * self.seeds
        if count > MOST_RUNS:
            raise BadInputError(
                f"{len(values)} values by {len(methods)} methods with {self.seeds} seeds are {count} runs, and a sweep has at "
                f"most {MOST_RUNS}. Take fewer values or seeds."
            )
        base = spec_of(self, alpha=2.0 * self.rank, seed=0, method="lora")
        return [
            setting.put(replace(base, seed=seed, method=slug), value)
            for seed in range(self.seeds)
            for value in values
            for slug in methods
        ]


@dataclass(frozen=True)
class Sweep:
    """A sweep: the setting that was varied, and its runs side by side."""

    setting: str
    compared: Compared

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """The sweep's runs."""
        return self.compared.records

    @property
    def swept(self) -> Setting:
        """What is swept."""
        return SETTINGS[self.setting]


def sweep_table(sweep: Sweep) -> Table:
    """One row a run."""
    return Table.each(
        sweep.records,
        run="run_id",
        method="spec.method",
        setting=lambda record: sweep.setting,
        value=lambda record: sweep.swept.of(record.spec),
        seed="spec.seed",
        status="status.value",
        metric="leading_metric",
        score="score",
        learning_rate=lambda record: learning_rate(record.spec, kind_of(record.spec.method, record.kind)),
        trainable="trainable",
        seconds=lambda record: round(record.seconds, 2),
    )


def sweep(engine: Engine, params: SweepParams, owner: str) -> Iterator[Sweep | None]:
    """Start every run of the sweep and follow them all; what this model cannot have is missing, with the reason."""
    runs, swept = engine.runs, SETTINGS[params.setting]
    started, missing = start_all(
        runs, params.specs(), owner, lambda spec: f"{find_method(spec.method).title}, {swept.of(spec)}"
    )
    for compared in follow_all(runs, started, missing):
        yield None if compared is None else Sweep(params.setting, compared)


SWEEP = LiveAction("explorer.labs.finetune.sweep:sweep", SweepParams, sweep_table)
