"""Runs on the engine of one machine: together over one base, beside other jobs, and opened afterwards."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, ModelUnavailableError
from explorer.runs import worker
from explorer.runs.open import OpenRuns
from explorer.runs.record import RunStatus
from explorer.runs.store import WEIGHTS
from explorer.settings import Settings
from explorer.tasks.task import Example
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.rows import tokenise
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.models import tiny

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples


@dataclass(frozen=True)
class Ask:
    run: str
    text: str = "the cat sat"


@dataclass(frozen=True)
class AskMany:
    runs: tuple[str, ...] = ()


ASKED: list[str] = []


def ask(open_run: OpenRuns, params: Ask) -> list[float]:
    """The logits of one text."""
    ASKED.append(params.run)
    run = open_run(params.run)
    run.require_weights()
    inputs, _ = tokenise(run.loaded(), [Example(params.text, None, 0.0)]).batch([0], torch.device("cpu"))
    return run.restore().logits(inputs)[0].tolist()


def updates(open_run: OpenRuns, params: Ask) -> dict[tuple[int, str], float]:
    """The norm of each ΔW."""
    return {place: float(delta.dense().norm()) for place, delta in open_run(params.run).deltas().items()}


def count(open_run: OpenRuns, params: AskMany) -> int:
    return len([open_run(run) for run in params.runs])


JOB, UPDATES, COUNT = (Job(f"tests.runs.test_local:{name}", on="runs") for name in ("ask", "updates", "count"))


class TestTogether:
    def test_eight_runs_hold_one_copy_of_the_frozen_weights_and_leave_it_alone(
        self, settings: Settings, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = LocalEngine(replace(settings, training_lanes=8))
        made: list[Adapted] = []
        together = threading.Barrier(8)

        def adapt_and_wait(*arguments: object) -> Adapted:
            one = adapt(*arguments)  # type: ignore[arg-type]
            made.append(one)
            together.wait(WAIT)
            return one

        monkeypatch.setattr(worker, "adapt", adapt_and_wait)
        loaded = engine.store.get(spec.model)
        before = {name: tensor.clone() for name, tensor in loaded.model.state_dict().items()}
        runs = [engine.runs.start(replace(spec, seed=seed), "ada") for seed in range(8)]
        assert {engine.runs.wait(run, WAIT).status for run in runs} == {RunStatus.DONE}
        own = [{value.data_ptr() for value in one.trainable().values()} for one in made]
        shared = {tensor.data_ptr() for tensor in loaded.model.parameters()}
        for one, trained in zip(made, own, strict=True):
            body = {
                parameter.data_ptr() for parameter in one.fork.get_submodule(one.layers.body).parameters()
            } - trained
            assert len(body) > 30
            assert body <= shared
            assert not trained & shared
        assert len(set().union(*own)) == sum(map(len, own))
        assert all(torch.equal(tensor, before[name]) for name, tensor in loaded.model.state_dict().items())

    def test_a_run_beside_others_is_the_run_alone(
        self, engine: LocalEngine, settings: Settings, spec: RunSpec, tmp_path: Path
    ) -> None:
        alone = finished(engine, spec)
        many = LocalEngine(replace(settings, training_lanes=4))
        specs = [spec, replace(spec, seed=1), replace(spec, method="full"), spec]
        runs = [many.runs.start(one, "ada") for one in specs]
        first, other, full, again = (many.runs.wait(run, WAIT) for run in runs)
        assert first.losses == again.losses == alone.losses
        assert first.outcome == again.outcome == alone.outcome
        assert other.losses != alone.losses != full.losses

    def test_lists_are_read_while_runs_write(self, settings: Settings, spec: RunSpec) -> None:
        engine = LocalEngine(replace(settings, training_lanes=3))
        reader = LocalEngine(settings).runs  # another server on the same folder
        runs = [engine.runs.start(replace(spec, seed=seed, epochs=6), "ada") for seed in range(5)]
        looks = 0
        while any(engine.runs.get(run).status.is_active for run in runs):
            for lister in (engine.runs, reader):
                listed = lister.list("ada")
                assert [one.run_id for one in listed] == runs[::-1]
                assert all(len(one.losses) <= 18 for one in listed)
            looks += 1
            time.sleep(0.005)  # who asks without a pause leaves the runs no time
        assert looks > 3
        assert {one.status for one in reader.list("ada")} == {RunStatus.DONE}


class TestRefusals:
    def test_what_cannot_be_had_is_said_before_it_is_queued(self, engine: LocalEngine, spec: RunSpec) -> None:
        for wrong, error, said in (
            (replace(spec, method="banana"), BadInputError, "no method 'banana'"),
            (replace(spec, task="banana"), BadInputError, "banana"),
            (replace(spec, task="file-000000000000"), BadInputError, "Upload it again"),
            (replace(spec, task="../../etc"), BadInputError, "is no task"),
            (replace(spec, model="someone/else"), ModelUnavailableError, "not on this machine"),
        ):
            with pytest.raises(error, match=said):
                engine.runs.start(wrong, "ada")
        assert engine.runs.list("ada") == []

    def test_a_method_that_the_family_lacks_is_refused_with_the_reason(
        self, engine: LocalEngine, spec: RunSpec, tmp_path: Path
    ) -> None:
        other = str(tiny.save(tmp_path / "modern", "ModernBERT"))
        with pytest.raises(BadInputError, match=f"BitFit cannot be had on {other}: .*no bias"):
            engine.runs.start(replace(spec, model=other, method="bitfit"), "ada")

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"learning_rate": 1e6}, "diverged.*learning rate 1e\\+06"),
            ({"rank": 33}, "rank is 33.*Take 32 or less"),
            ({"examples": 1}, "of one class"),
            ({"method": "prefix", "prefix_length": 20}, "prefix_length is 20.*Take 12 or less"),
        ],
    )
    def test_what_shows_only_while_it_runs_fails_the_run_with_a_sentence(
        self, engine: LocalEngine, spec: RunSpec, changes: dict[str, object], said: str
    ) -> None:
        import re

        failed = finished(engine, replace(spec, **changes))  # type: ignore[arg-type]
        assert failed.status is RunStatus.FAILED
        assert re.search(said, failed.message)
        with pytest.raises(BadInputError, match="nothing to try yet"):
            engine.follow(JOB, Ask(failed.run_id)).last.result(WAIT)
        assert finished(engine, spec).status is RunStatus.DONE

    def test_a_name_says_what_the_run_is(self, engine: LocalEngine, spec: RunSpec) -> None:
        record = engine.runs.get(engine.runs.start(replace(spec, variant="rslora", seed=3), "ada"))
        assert record.name.startswith("rsLoRA r=4 · ")
        assert record.name.endswith("seed 3")
        assert record.labels == ("none", "some")
        assert record.columns == ("sentence",)


class TestOpening:
    def test_a_job_asks_the_trained_model_and_gets_the_same_answer_from_the_cache(
        self, engine: LocalEngine, spec: RunSpec
    ) -> None:
        ASKED.clear()
        run = finished(engine, replace(spec, epochs=15, batch_size=8, learning_rate=1e-2)).run_id
        with_cat, without = (
            engine.follow(JOB, Ask(run, text)).last.result(WAIT) for text in ("the cat sat", "the mat sat")
        )
        assert with_cat[1] > with_cat[0]
        assert without[0] > without[1]
        assert engine.follow(JOB, Ask(run)).last.result(WAIT) is with_cat
        assert [run, run] == ASKED

    def test_a_run_that_went_on_answers_anew(
        self, engine: LocalEngine, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = worker.Worker._say

        def stop_after_two(self: worker.Worker, **changes: object) -> None:
            real(self, **changes)
            if self.record.steps and not self.record.step:
                self.stopping.set()

        with monkeypatch.context() as short:
            short.setattr(worker.Worker, "_say", stop_after_two)
            cancelled = finished(engine, spec)
        assert cancelled.status is RunStatus.CANCELLED
        with pytest.raises(BadInputError, match="nothing to try yet"):
            engine.follow(JOB, Ask(cancelled.run_id)).last.result(WAIT)
        engine.runs.resume(cancelled.run_id, "ada")
        assert engine.runs.wait(cancelled.run_id, WAIT).status is RunStatus.DONE
        assert len(engine.follow(JOB, Ask(cancelled.run_id)).last.result(WAIT)) == 2

    def test_a_model_that_a_job_loaded_first_can_be_trained_afterwards(
        self, engine: LocalEngine, settings: Settings, spec: RunSpec
    ) -> None:
        """After a restart the first visitor may ask an old run: torch cannot train what is loaded in inference mode."""
        old = finished(engine, spec)
        restarted = LocalEngine(settings)
        first = restarted.follow(JOB, Ask(old.run_id)).last.result(WAIT)
        model = restarted.store.get(spec.model).model
        assert not any(tensor.is_inference() for tensor in (*model.parameters(), *model.buffers()))
        again = finished(restarted, spec)
        assert (again.status, again.message) == (RunStatus.DONE, "")
        assert again.losses == old.losses
        assert restarted.follow(JOB, Ask(again.run_id)).last.result(WAIT) == first

    def test_many_ask_one_run_at_once(self, engine: LocalEngine, spec: RunSpec) -> None:
        run = finished(engine, spec).run_id
        texts = [f"the cat {'sat ' * number}" for number in range(12)]
        futures = [engine.follow(JOB, Ask(run, text)).last for text in texts]
        answers = [future.result(WAIT) for future in futures]
        engine._answers._kept.clear()
        alone = [engine.follow(JOB, Ask(run, text)).last.result(WAIT) for text in texts]
        assert answers == alone

    def test_a_run_that_is_not_there_or_none_at_all(self, engine: LocalEngine) -> None:
        for trick in ("r000000000000", "../../etc/passwd", 5):
            with pytest.raises(BadInputError, match="No run is called"):
                engine.follow(JOB, Ask(trick)).last.result(WAIT)  # type: ignore[arg-type]
        assert engine.follow(COUNT, AskMany()).last.result(WAIT) == 0

    def test_updates_of_lora_and_of_full_fine_tuning_and_none_of_bitfit(
        self, engine: LocalEngine, spec: RunSpec
    ) -> None:
        lora, full, bitfit = (
            finished(engine, replace(spec, method=name)).run_id for name in ("lora", "full", "bitfit")
        )
        assert set(engine.follow(UPDATES, Ask(lora)).last.result(WAIT)) == {
            (layer, role) for layer in (0, 1) for role in ("query", "value")
        }
        found = engine.follow(UPDATES, Ask(full)).last.result(WAIT)
        assert len(found) == 12
        assert all(norm > 0 for norm in found.values())
        with pytest.raises(BadInputError, match="leaves the weight matrices as they are"):
            engine.follow(UPDATES, Ask(bitfit)).last.result(WAIT)

    def test_updates_that_are_not_there_yet_say_when(self, engine: LocalEngine, spec: RunSpec) -> None:
        record = finished(engine, spec)
        for changes, said in (
            ({"status": RunStatus.RUNNING, "snapshots": ()}, "after its first step"),
            (
                {"status": RunStatus.RUNNING, "snapshots": (), "spec": replace(spec, method="full")},
                "until this one is done",
            ),
            ({"status": RunStatus.FAILED, "snapshots": ()}, "nothing to try yet"),
        ):
            engine.runs.store.save(record := record.evolve(**changes))
            with pytest.raises(BadInputError, match=said):
                engine.follow(UPDATES, Ask(record.run_id)).last.result(WAIT)

    def test_an_earlier_step_is_the_nearest_one_that_was_kept(self, engine: LocalEngine, spec: RunSpec) -> None:
        record = finished(engine, spec)
        assert record.snapshots == (1, 2, 3, 4, 5, 6)
        opened = OpenRuns(engine.runs.get, engine.runs.store.folder_of, engine.store.get)(record.run_id)
        norms = [float(sum(delta.dense().norm() for delta in opened.deltas(step).values())) for step in (1, 6, 99)]
        assert norms[0] < norms[1] == norms[2]
        assert float(sum(delta.dense().norm() for delta in opened.deltas().values())) == norms[1]

    def test_weights_are_gone_once_the_run_is_deleted(self, engine: LocalEngine, spec: RunSpec) -> None:
        run = finished(engine, spec).run_id
        folder = engine.runs.store.folder_of(run)
        assert (folder / WEIGHTS).exists()
        engine.runs.delete(run, "ada")
        assert not folder.exists()
        with pytest.raises(BadInputError, match="No run is called"):
            engine.follow(JOB, Ask(run)).last.result(WAIT)
