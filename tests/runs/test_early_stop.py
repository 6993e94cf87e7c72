"""Stop, while a run still measures what is held out: nothing has been trained, so nothing is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from explorer.engine.local import LocalEngine
from explorer.runs.record import RunStatus
from explorer.settings import Settings
from explorer.tasks.sources import keep_text
from explorer.tuning import distilling, masked, reading
from explorer.tuning.rows import ordered_batches
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.tuning.small import CATS, examples

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples

READERS = [("lora", reading), ("head", reading), ("distill", distilling), ("distill_text", masked)]


@pytest.mark.parametrize(("method", "reader"), READERS, ids=[method for method, _ in READERS])
def test_stop_ends_the_measuring_before_the_first_step(
    engine: LocalEngine,
    spec: RunSpec,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    reader: ModuleType,
) -> None:
    wanted = replace(spec, method=method, learning_rate=None)
    if method == "distill":
        wanted = replace(wanted, teacher=finished(engine, spec).run_id)
    if method == "distill_text":
        wanted = replace(
            wanted, task=keep_text("\n\n".join(one.text for one in examples(CATS, 60)), settings).name, student_layers=1
        )
    read: list[list[int]] = []

    def one_row_at_a_time(lengths: np.ndarray, tokens: int = 0) -> Iterator[list[int]]:
        for batch in ordered_batches(lengths, 1):
            read.append(batch)
            yield batch
            active = [run for run in engine.runs.list("ada") if run.status.is_active]
            engine.runs.stop(active[0].run_id, "ada")

    with monkeypatch.context() as slowly:
        slowly.setattr(reader, "ordered_batches", one_row_at_a_time)
        run_id = engine.runs.start(wanted, "ada")
        ended = engine.runs.wait(run_id, WAIT)
    assert (ended.status, ended.step, ended.message) == (RunStatus.CANCELLED, 0, "Stopped before the first step.")
    assert len(read) == 2, "the batch after the press is not read"
    assert ended.evaluations == ()
    engine.runs.resume(run_id, "ada")
    assert engine.runs.wait(run_id, WAIT).status is RunStatus.DONE
