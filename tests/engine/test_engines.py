"""What holds for every engine: this machine's, and a Ray cluster's where ray is installed."""

from __future__ import annotations

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import DownloadProgress, Job, answer
from explorer.errors import BadInputError, MissingCapabilityError, ModelUnavailableError, OutOfMemoryError
from explorer.labs.finetune.schema import ExportParams
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.labs.pairs import SCORE_PAIR
from explorer.labs.pairs.schema import PairParams
from explorer.models.families import Capability
from explorer.models.loaded_model import load_model
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.settings import Settings
from explorer.tasks.sources import keep_upload
from explorer.tuning.spec import RunSpec
from tests.engine.test_workers import nearly
from tests.engine.traced import WAIT, Said, Traced, traces, until
from tests.runs.test_local import Ask
from tests.tuning.small import CATS, examples

ON_MODEL = ("say", "wait", "refuse", "run_out", "run_out_on_the_cpu", "break_down")
ON_RESOURCES = ("count", "squares", "breaks", "run_out_without_a_model")
JOBS = {name: Job(f"tests.engine.traced:{name}", Capability.MLM) for name in ON_MODEL}
JOBS |= {name: Job(f"tests.engine.traced:{name}", on="resources") for name in ON_RESOURCES}
JOBS["quick"] = Job("tests.engine.traced:quick", on="nothing")
ASK = Job("tests.runs.test_local:ask", on="runs")
UPDATES = Job("tests.runs.test_local:updates", on="runs")
EXPORT = Job("explorer.labs.finetune.jobs:export_run", on="runs")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    folder = tmp_path_factory.mktemp("here")
    return LocalEngine(Settings(device="cpu", offline=True, workers=2, data_folder=folder))


@pytest.fixture(scope="module", params=["local", *(["on_ray"] if find_spec("ray") else [])])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """For the traces of one test's jobs."""
    (tmp_path / "traces").mkdir()
    return tmp_path / "traces"


def ask(engine: Any, name: str, folder: Path, model: str = "", **params: Any) -> Any:
    return engine.follow(JOBS[name], Traced(str(folder), **params), model).last.result(WAIT)


def results(following: Any) -> list[Any]:
    found, end = [], time.monotonic() + WAIT
    for result in following:
        assert time.monotonic() < end
        if result is None:
            time.sleep(0.002)
        else:
            found.append(result)
    return found


class TestAnswers:
    @pytest.mark.parametrize(
        ("job", "params"),
        [
            (FILL_MASKS.job, FillParams("the [MASK] sat")),
            (SCORE_PAIR.job, PairParams("the cat", "a mat")),
        ],
    )
    def test_a_lab_says_what_its_job_says(
        self, engine: Any, tiny_id: str, tmp_path: Path, job: Job, params: Any
    ) -> None:
        alone = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
        theirs = alone.follow(job, params, tiny_id).last.result(WAIT)
        assert nearly(engine.follow(job, params, tiny_id).last.result(WAIT), theirs)

    def test_a_job_runs_without_gradients_where_the_model_is(self, engine: Any, tiny_id: str, folder: Path) -> None:
        assert ask(engine, "say", folder, tiny_id) == Said("the cat", tiny_id, graph=False)

    def test_the_same_question_gets_the_same_object_without_another_run(
        self, engine: Any, tiny_id: str, folder: Path
    ) -> None:
        first = ask(engine, "say", folder, tiny_id)
        assert ask(engine, "say", folder, tiny_id) is first
        assert ask(engine, "say", folder, tiny_id, text="a mat") is not first
        assert (traces(folder, "asked the cat"), traces(folder)) == (1, 2)

    def test_a_class_that_asks_at_once_asks_once_and_one_who_leaves_takes_no_answer_away(
        self, engine: Any, tiny_id: str, folder: Path
    ) -> None:
        futures = [engine.follow(JOBS["wait"], Traced(str(folder)), tiny_id).last for _ in range(8)]
        assert futures[0].cancel()
        (folder / "gate").touch()
        assert [future.result(WAIT) for future in futures[1:]] == ["done"] * 7
        assert traces(folder, "asked") == 1

    def test_an_awaited_answer(self, engine: Any, folder: Path) -> None:
        # In a thread of its own: a browser that an earlier test left open in this worker keeps an event loop running.
        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(lambda: asyncio.run(answer(engine, JOBS["quick"], Traced(str(folder)))))
            assert asking.result(WAIT) == "quick"

    def test_a_model_says_what_it_is_once_it_is_prepared(self, engine: Any, tiny_id: str) -> None:
        assert list(engine.prepare(tiny_id)) == [DownloadProgress(1, 1)]
        status = engine.status(tiny_id)
        assert (status.model_id, status.family, status.in_memory, status.device) == (tiny_id, "BERT", True, "cpu")
        assert status.capabilities == (Capability.MLM, Capability.NSP)
        assert status.parameters == load_model(tiny_id, Settings(device="cpu")).parameters


class TestErrors:
    @pytest.mark.parametrize("odd", [["a"], {"a": 1}])
    def test_a_list_where_one_value_is_expected_is_refused_by_its_name(
        self, engine: Any, tiny_id: str, folder: Path, odd: Any
    ) -> None:
        with pytest.raises(BadInputError, match="text must be one name or number; got a list or an object"):
            ask(engine, "say", folder, tiny_id, text=odd)
        assert traces(folder) == 0

    def test_an_error_is_told_in_its_own_words_and_not_kept(self, engine: Any, tiny_id: str, folder: Path) -> None:
        with pytest.raises(BadInputError, match=r"^Type a sentence first\.$"):
            ask(engine, "refuse", folder, tiny_id, failures=1)
        assert ask(engine, "refuse", folder, tiny_id, failures=1) == "fine"

    def test_an_error_in_the_middle(self, engine: Any, folder: Path) -> None:
        for _ in range(2):
            with pytest.raises(BadInputError, match=r"^It broke\.$"):
                results(engine.follow(JOBS["breaks"], Traced(str(folder))))
        assert traces(folder, "begun") == 2

    def test_a_head_that_the_model_lacks_is_refused_before_the_job_runs(
        self, engine: Any, tiny_id: str, folder: Path
    ) -> None:
        lacking = replace(JOBS["say"], needs=Capability.CAUSAL)
        with pytest.raises(MissingCapabilityError) as said:
            engine.follow(lacking, Traced(str(folder)), tiny_id).last.result(WAIT)
        assert said.value.capability == "CAUSAL"
        assert traces(folder) == 0

    def test_a_model_that_is_not_here_is_refused(self, engine: Any, folder: Path) -> None:
        with pytest.raises(ModelUnavailableError, match="someone/else is not on this machine"):
            ask(engine, "say", folder, "someone/else")

    def test_a_text_that_is_too_long(self, engine: Any, tiny_id: str) -> None:
        with pytest.raises(BadInputError, match="tokens"):
            engine.follow(FILL_MASKS.job, FillParams("the cat " * 2000), tiny_id).last.result(WAIT)

    def test_a_fault_of_the_program_keeps_its_kind(self, engine: Any, tiny_id: str, folder: Path) -> None:
        with pytest.raises(RuntimeError, match=r"^a fault of the program$"):
            ask(engine, "break_down", folder, tiny_id)

    def test_running_out_of_memory_once_is_mended_and_twice_is_told(
        self, engine: Any, tiny_id: str, folder: Path
    ) -> None:
        assert ask(engine, "run_out", folder, tiny_id, failures=1) == "it fits"
        assert traces(folder) == 2
        with pytest.raises(OutOfMemoryError, match="not enough memory"):
            ask(engine, "run_out", folder, tiny_id, failures=9)
        assert traces(folder) == 4

    def test_running_out_on_the_cpu_is_told_too(self, engine: Any, tiny_id: str, folder: Path) -> None:
        with pytest.raises(OutOfMemoryError, match="not enough memory"):
            ask(engine, "run_out_on_the_cpu", folder, tiny_id)
        with pytest.raises(OutOfMemoryError, match="not enough memory for this"):
            engine.follow(JOBS["run_out_without_a_model"], Traced(str(folder))).last.result(WAIT)


class TestStreams:
    def test_results_come_as_they_are_made_and_the_last_one_is_there_for_good(self, engine: Any, folder: Path) -> None:
        params = Traced(str(folder))
        following = engine.follow(JOBS["count"], params)
        assert next(following) is None, "it does not wait"
        for number in (1, 2, 3):
            assert traces(folder, "counted") == number - 1
            (folder / f"gate-{number}").touch()
            until(lambda number=number: next(following, 3) == number)  # type: ignore[misc]
        assert results(following) == []
        assert results(engine.follow(JOBS["count"], params)) == [3], "the answer is kept"
        until(lambda: traces(folder, "closed") == 1)
        assert traces(folder, "counted") == 3

    def test_late_comers_share_the_computation_and_get_its_latest_result(self, engine: Any, folder: Path) -> None:
        first = engine.follow(JOBS["count"], Traced(str(folder)))
        (folder / "gate-1").touch()
        (folder / "gate-2").touch()
        until(lambda: next(first) == 2)
        late = engine.follow(JOBS["count"], Traced(str(folder)))
        assert next(late) == 2
        first.close()
        (folder / "gate-3").touch()
        assert late.last.result(WAIT) == 3
        assert traces(folder, "counted") == 3

    def test_a_quick_question_never_waits_for_a_long_one_to_end(self, engine: Any, folder: Path) -> None:
        (folder / "gate").touch()
        long = [engine.follow(JOBS["count"], Traced(str(folder), name, to=10**9)) for name in "abc"]
        until(lambda: traces(folder, "counted 1 ") == 3)
        assert ask(engine, "quick", folder) == "quick"
        for following in long:
            following.close()
        until(lambda: traces(folder, "closed") == 3)

    def test_it_ends_when_nobody_looks_any_more_and_begins_anew_for_the_next(self, engine: Any, folder: Path) -> None:
        (folder / "gate").touch()
        params = Traced(str(folder), to=10**9)
        following = engine.follow(JOBS["count"], params)
        until(lambda: traces(folder, "counted") > 3)
        following.close()
        until(lambda: traces(folder, "closed") == 1)
        done = traces(folder, "counted")
        time.sleep(0.05)
        assert traces(folder, "counted") == done
        again = engine.follow(JOBS["count"], params)
        until(lambda: traces(folder, "counted 1 ") == 2)
        del again
        until(lambda: traces(folder, "closed") == 2)

    def test_pieces_stay_in_order_and_one_that_fails_ends_the_work_in_its_own_words(
        self, engine: Any, folder: Path
    ) -> None:
        found = results(engine.follow(JOBS["squares"], Traced(str(folder), to=9)))
        assert found == [[number * number for number in range(9)]]
        assert traces(folder, "began") == 9
        assert results(engine.follow(JOBS["squares"], Traced(str(folder), to=0))) == [[]]
        with pytest.raises(BadInputError, match="is too small"):
            results(engine.follow(JOBS["squares"], Traced(str(folder), to=9, failures=2)))


class TestRuns:
    @pytest.fixture(scope="class")
    def spec(self, engine: Any, tiny_id: str, tmp_path_factory: pytest.TempPathFactory) -> RunSpec:
        """A visitor's file of 60 rows, 12 of them held out."""
        rows = [f"{one.text}\t{('none', 'some')[int(one.label)]}" for one in examples(CATS, 60)]
        path = tmp_path_factory.mktemp("brought") / "cats.tsv"
        path.write_text("\n".join(["sentence\tlabel", *rows]), encoding="utf-8")
        return RunSpec(tiny_id, keep_upload(path, engine._settings).name, rank=4, epochs=2, learning_rate=5e-3)

    @pytest.fixture(scope="class")
    def trained(self, engine: Any, spec: RunSpec) -> RunRecord:
        record: RunRecord = engine.runs.wait(engine.runs.start(spec, "ada"), WAIT)
        assert record.status is RunStatus.DONE, record.message
        return record

    def test_a_run_trains_and_answers(self, engine: Any, trained: RunRecord) -> None:
        assert trained.step == trained.steps == 6
        assert [step for step, _ in trained.losses] == [1, 2, 3, 4, 5, 6]
        assert trained.outcome is not None
        assert (engine.runs.folder_of(trained.run_id) / WEIGHTS).is_file()
        answered = engine.follow(ASK, Ask(trained.run_id)).last.result(WAIT)
        assert len(answered) == 2
        assert engine.follow(ASK, Ask(trained.run_id)).last.result(WAIT) is answered
        assert set(engine.follow(UPDATES, Ask(trained.run_id)).last.result(WAIT)) == {
            (layer, role) for layer in (0, 1) for role in ("query", "value")
        }

    def test_it_is_taken_home_and_brought_back(self, engine: Any, trained: RunRecord) -> None:
        zipped = Path(engine.follow(EXPORT, ExportParams(trained.run_id, "adapter")).last.result(WAIT))
        assert zipped.is_file()
        back = engine.runs.import_adapter(str(zipped), "ada")
        assert engine.runs.get(back).status is RunStatus.IMPORTED
        first, second = (engine.follow(ASK, Ask(run)).last.result(WAIT) for run in (trained.run_id, back))
        assert first == pytest.approx(second, abs=1e-5)
        with pytest.raises(BadInputError, match="adapter"):
            engine.runs.import_adapter(str(Path(trained.spec.model) / "config.json"), "ada")

    def test_it_stops_and_goes_on_to_its_end(self, engine: Any, spec: RunSpec) -> None:
        run = engine.runs.start(replace(spec, epochs=15, batch_size=2), "ada")
        until(lambda: engine.runs.get(run).step > 3)
        with pytest.raises(BadInputError, match="nothing to try yet"):
            engine.follow(ASK, Ask(run)).last.result(WAIT)
        engine.runs.stop(run, "ada")
        stopped = engine.runs.wait(run, WAIT)
        assert stopped.status is RunStatus.STOPPED, stopped.message
        assert 3 < stopped.step < stopped.steps
        first = engine.follow(ASK, Ask(run)).last.result(WAIT)
        engine.runs.resume(run, "ada")
        ended = engine.runs.wait(run, WAIT)
        assert (ended.status, ended.step) == (RunStatus.DONE, stopped.steps)
        assert ended.losses[: len(stopped.losses)] == stopped.losses
        assert engine.follow(ASK, Ask(run)).last.result(WAIT) != first, (
            "it has learned more, and nobody gets the old answer"
        )

    def test_one_that_waits_is_taken_out(self, engine: Any, spec: RunSpec) -> None:
        first, second = (engine.runs.start(replace(spec, epochs=40, batch_size=2, seed=seed), "ada") for seed in (1, 2))
        assert engine.runs.get(second).status is RunStatus.QUEUED
        for run in (second, first):
            engine.runs.stop(run, "ada")
        assert engine.runs.wait(second, WAIT).status is RunStatus.CANCELLED
        assert not engine.runs.wait(first, WAIT).status.is_active

    def test_what_shows_only_while_it_runs_fails_the_run_with_a_sentence(self, engine: Any, spec: RunSpec) -> None:
        failed = engine.runs.wait(engine.runs.start(replace(spec, learning_rate=1e6), "ada"), WAIT)
        assert failed.status is RunStatus.FAILED
        assert re.search("diverged.*learning rate 1e\\+06", failed.message)
        with pytest.raises(BadInputError, match="nothing to try yet"):
            engine.follow(ASK, Ask(failed.run_id)).last.result(WAIT)

    def test_a_run_starts_where_another_ended(self, engine: Any, spec: RunSpec, trained: RunRecord) -> None:
        after = engine.runs.wait(engine.runs.start(replace(spec, epochs=1, after=trained.run_id), "ada"), WAIT)
        assert after.status is RunStatus.DONE, after.message
        assert after.spec.model == f"{trained.run_id}@6"
        assert len(engine.follow(ASK, Ask(after.run_id)).last.result(WAIT)) == 2

    def test_a_run_that_is_not_there_or_was_deleted(self, engine: Any, spec: RunSpec) -> None:
        run = engine.runs.wait(engine.runs.start(replace(spec, epochs=1), "ada"), WAIT).run_id
        assert engine.follow(ASK, Ask(run)).last.result(WAIT)
        engine.runs.delete(run, "ada")
        for gone in (run, "r000000000000", "../../etc/passwd"):
            with pytest.raises(BadInputError, match="No run is called"):
                engine.follow(ASK, Ask(gone)).last.result(WAIT)
