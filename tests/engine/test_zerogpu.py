"""The engine of a ZeroGPU Space, with a stand-in for `spaces` that notes each call and forks no process."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from explorer.engine import select_engine
from explorer.engine.local import LocalEngine
from explorer.engine.select_engine import engine_of
from explorer.errors import ExplorerError
from explorer.runs.record import RunRecord, RunStatus
from explorer.scratch.spec import ScratchSpec
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.engine.records import record

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
no_examples = executing.no_examples

VISITOR: ContextVar[str] = ContextVar("visitor", default="nobody")


@dataclass
class Calls:
    """What was asked of ZeroGPU. refusal: what the next call raises instead."""

    seconds: list[int] = field(default_factory=list)
    visitors: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    refusal: Exception | None = None

    def gpu(self, duration: Callable[..., int]) -> Callable[..., Any]:
        def decorate(function: Callable[..., Iterator[RunRecord]]) -> Callable[..., Iterator[RunRecord]]:
            @functools.wraps(function)
            def call(settings: Settings, *given: Any) -> Iterator[RunRecord]:
                self.seconds.append(duration(settings, *given))
                self.visitors.append(VISITOR.get())
                self.devices.append(settings.device)
                if self.refusal:
                    raise self.refusal
                yield from function(settings, *given)

            return call

        return decorate


@pytest.fixture(scope="module")
def module() -> Iterator[tuple[Any, Calls]]:
    """explorer.engine.zerogpu, and what it asks for."""
    calls, spaces, threads = Calls(), ModuleType("spaces"), torch.get_num_threads()
    spaces.__spec__ = ModuleSpec("spaces", None)
    vars(spaces)["GPU"] = calls.gpu
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "spaces", spaces)
        from explorer.engine import zerogpu

        yield zerogpu, calls
    sys.modules.pop("explorer.engine.zerogpu")
    torch.set_num_threads(threads)


@pytest.fixture
def calls(module: tuple[Any, Calls]) -> Calls:
    module[1].__init__()  # type: ignore[misc]
    return module[1]


@pytest.fixture
def engine(settings: Settings, calls: Calls) -> LocalEngine:
    made = engine_of(replace(settings, zero_gpu=True, device="auto"))
    assert type(made).__name__ == "ZeroEngine"
    return made


def start_as(visitor: str, engine: LocalEngine, spec: RunSpec) -> str:
    """A run of a visitor whose request is current where it is started, and nowhere else."""

    def start() -> str:
        VISITOR.set(visitor)
        return engine.runs.start(spec, visitor)

    return copy_context().run(start)


def test_a_run_is_one_call_in_the_name_of_who_started_it(engine: LocalEngine, calls: Calls, spec: RunSpec) -> None:
    for visitor in ("ada", "bob"):
        ended = engine.runs.wait(start_as(visitor, engine, spec), WAIT)
        assert ended.status is RunStatus.DONE
        assert ended.step == ended.steps > 0
    assert calls.visitors == ["ada", "bob"]
    assert calls.devices == ["auto", "auto"]


def test_questions_stay_on_the_processor(engine: LocalEngine, calls: Calls, model_id: str) -> None:
    assert engine._settings.device == "cpu"
    assert engine.store.get(model_id).device.type == "cpu"
    assert calls.seconds == []


def test_it_asks_for_the_time_that_its_steps_need(module: tuple[Any, Calls], settings: Settings, spec: RunSpec) -> None:
    zerogpu, _ = module

    def seconds(saved: int = 0, **changes: Any) -> int:
        asked: int = zerogpu.seconds_of(settings, record(spec=replace(spec, **changes), saved=saved), [], Path())
        return asked

    assert zerogpu.steps_of(record(spec=replace(spec, epochs=20, batch_size=1)), settings) == 20 * 48
    assert seconds(epochs=1, examples=16) < seconds(epochs=20) < seconds(epochs=20, batch_size=1)
    assert seconds(epochs=20, batch_size=1, saved=900) < seconds(epochs=20, batch_size=1)
    scratch = ScratchSpec(steps=20_000)
    assert zerogpu.seconds_of(settings, record(spec=scratch), [], Path()) == zerogpu.LONGEST_SECONDS


def test_a_run_stops_before_its_time_is_over_and_goes_on_with_more(
    engine: LocalEngine, calls: Calls, spec: RunSpec, module: tuple[Any, Calls], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = replace(spec, epochs=3, batch_size=1)
    with monkeypatch.context() as short:
        short.setattr(module[0], "ENDING_SECONDS", 1e6)  # its end is over when it begins
        short.setattr(module[0].Until, "is_set", over_after(module[0].Until.is_set, 40))
        stopped = finished(engine, long)
    assert stopped.status is RunStatus.STOPPED
    assert 0 < stopped.step < stopped.steps
    assert "Its time on ZeroGPU is over: press Resume to go on." in stopped.message
    engine.runs.resume(stopped.run_id, "ada")
    ended = engine.runs.wait(stopped.run_id, WAIT)
    assert (ended.status, ended.step) == (RunStatus.DONE, stopped.steps)
    assert len(calls.seconds) == 2


def over_after(is_set: Callable[[Any], bool], looks: int) -> Callable[[Any], bool]:
    """An end that is seen after so many looks."""
    left = iter(range(looks))
    return lambda until: next(left, None) is None and is_set(until)


def test_the_visitors_stop_is_heard_and_told_as_theirs(engine: LocalEngine, spec: RunSpec) -> None:
    run_id = engine.runs.start(replace(spec, epochs=20, batch_size=1), "ada")
    while not engine.runs.get(run_id).step:
        time.sleep(0.01)
    engine.runs.stop(run_id, "ada")
    stopped = engine.runs.wait(run_id, WAIT)
    assert stopped.status is RunStatus.STOPPED
    assert "ZeroGPU" not in stopped.message


class RefusedError(Exception):
    """As gradio.Error, which has a message of its own."""

    message = "You have exceeded your GPU quota."


def test_a_refusal_of_zero_gpu_is_told(engine: LocalEngine, calls: Calls, spec: RunSpec) -> None:
    calls.refusal = RefusedError()
    failed = finished(engine, spec)
    assert failed.status is RunStatus.FAILED
    assert "You have exceeded your GPU quota. Press Resume" in failed.message


def test_what_is_wrong_with_a_run_is_told_as_ever(engine: LocalEngine, spec: RunSpec, task: str) -> None:
    failed = finished(engine, replace(spec, examples=1))
    assert failed.status is RunStatus.FAILED
    assert failed.message.startswith("All 1 training examples are of one class")


def test_without_the_package_the_start_says_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select_engine.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ExplorerError, match="pip install spaces"):
        engine_of(replace(settings, zero_gpu=True))
