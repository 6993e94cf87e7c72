"""The engine of one machine: answers kept, heads required, models let go for memory, and what it says of a model."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import DownloadProgress, Job
from explorer.errors import MissingCapabilityError, ModelUnavailableError
from explorer.labs.masking.schema import CorruptParams, FillParams
from explorer.models.catalog import CATALOG, DEFAULT_MODEL
from explorer.models.families import Capability
from explorer.settings import ROOT, Settings
from tests.engine import jobs
from tests.engine.jobs import Params
from tests.models import conftest as models_conftest
from tests.models import tiny
from tests.models.fake_hub import FakeHub, Faults, stuck

WAIT = 180
ANSWER = Job("tests.engine.jobs:answer", needs=Capability.MLM)
LARGE = Job("tests.engine.jobs:large")
RUN_OUT = Job("tests.engine.jobs:run_out_of_memory")

hub = models_conftest.hub
"""The stand-in hub's fixture, shared with the tests of the models."""


@pytest.fixture(scope="session")
def model_id(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny BERT's folder, which is its id."""
    return str(tiny.save(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="session")
def other_model_id(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save(tmp_path_factory.mktemp("distilbert"), "DistilBERT"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(device="cpu", hub_cache=tmp_path / "hub", offline=True, workers=2)


@pytest.fixture
def engine(settings: Settings) -> LocalEngine:
    jobs.RUNS.clear()
    return LocalEngine(settings)


def run(engine: LocalEngine, job: Job, model_id: str, params: object = Params()) -> object:
    return engine.follow(job, params, model_id).last.result(timeout=WAIT)


class TestAnswers:
    def test_another_text_model_or_job_is_another_question(self, engine: LocalEngine, model_id: str) -> None:
        run(engine, ANSWER, model_id, Params("a"))
        run(engine, ANSWER, model_id, Params("b"))
        run(engine, RUN_OUT, model_id, Params("a"))
        run(engine, ANSWER, model_id + "/", Params("a"))
        assert len(jobs.RUNS) == 4

    def test_the_answer_that_was_asked_for_longest_ago_is_forgotten_first(
        self, settings: Settings, model_id: str
    ) -> None:
        jobs.RUNS.clear()
        engine = LocalEngine(replace(settings, result_cache_entries=2))
        for text in ("a", "b", "a", "c", "a", "b"):
            run(engine, ANSWER, model_id, Params(text))
        assert [Params("a"), Params("b"), Params("c"), Params("b")] == jobs.RUNS

    def test_large_answers_are_forgotten_before_many_are_kept(self, settings: Settings, model_id: str) -> None:
        """Three of 100 kB, of which two have room."""
        jobs.RUNS.clear()
        engine = LocalEngine(replace(settings, result_cache_bytes=250_000))
        for size in (100_001, 100_002, 100_003, 100_003, 100_002, 100_001):
            assert len(run(engine, LARGE, model_id, Params("x" * size))) == size
        assert [len(asked.text) - 100_000 for asked in jobs.RUNS] == [1, 2, 3, 1]

    def test_an_answer_that_has_no_room_is_given_all_the_same(self, settings: Settings, model_id: str) -> None:
        jobs.RUNS.clear()
        engine = LocalEngine(replace(settings, result_cache_bytes=0))
        assert [run(engine, LARGE, model_id, Params("xyz")) for _ in range(2)] == ["xyz", "xyz"]
        assert len(jobs.RUNS) == 2

    def test_a_head_that_the_model_lacks_is_refused_before_the_job_runs(
        self, engine: LocalEngine, other_model_id: str
    ) -> None:
        with pytest.raises(MissingCapabilityError, match="score the next sentence"):
            run(engine, replace(ANSWER, needs=Capability.NSP), other_model_id)
        assert jobs.RUNS == []


class TestMemory:
    def test_running_out_once_lets_the_other_models_go_and_runs_again(
        self, engine: LocalEngine, model_id: str, other_model_id: str
    ) -> None:
        engine.store.get(other_model_id)
        assert run(engine, RUN_OUT, model_id, Params(failures=1)) == "it fits"
        assert len(jobs.RUNS) == 2
        assert engine.store.loaded() == (model_id,)

    def test_models_stay_when_memory_suffices(self, engine: LocalEngine, model_id: str, other_model_id: str) -> None:
        engine.store.get(other_model_id)
        run(engine, ANSWER, model_id)
        assert engine.store.loaded() == (other_model_id, model_id)


def test_jobs_leave_the_model_as_it_was(engine: LocalEngine, model_id: str) -> None:
    loaded = engine.store.get(model_id)
    before = {name: weight.clone() for name, weight in loaded.model.state_dict().items()}
    config, tokenizer = loaded.model.config.to_dict(), loaded.tokenizer.backend_tokenizer.to_str()
    masking = "explorer.labs.masking.jobs"
    run(engine, Job(f"{masking}:fill_masks", Capability.MLM), model_id, FillParams("the [MASK] sat", also_mask=(1,)))
    run(
        engine,
        Job(f"{masking}:corrupt_text", Capability.MLM),
        model_id,
        CorruptParams("the cat sat on a mat", rate=1.0),
    )
    after = loaded.model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not any(module.training for module in loaded.model.modules())
    assert all(weight.grad is None for weight in loaded.model.parameters())
    assert (loaded.model.config.to_dict(), loaded.tokenizer.backend_tokenizer.to_str()) == (config, tokenizer)


class TestStatus:
    def test_of_a_bundled_model_that_is_not_loaded(self, engine: LocalEngine) -> None:
        status = engine.status(DEFAULT_MODEL)
        assert (status.family, status.on_this_machine, status.in_memory, status.device) == ("BERT", True, False, None)
        assert status.capabilities == (Capability.MLM, Capability.NSP)
        assert status.parameters == CATALOG[0].millions * 1e6

    def test_of_a_listed_model_that_was_never_fetched(self, engine: LocalEngine) -> None:
        status = engine.status("openai-community/gpt2")
        assert (status.family, status.on_this_machine, status.in_memory) == ("GPT-2", False, False)
        assert status.capabilities == (Capability.CAUSAL,)

    def test_of_a_loaded_model(self, engine: LocalEngine, model_id: str) -> None:
        loaded = engine.store.get(model_id)
        status = engine.status(model_id)
        assert (status.family, status.on_this_machine, status.in_memory, status.device) == ("BERT", True, True, "cpu")
        assert status.parameters == loaded.parameters
        assert status.capabilities == (Capability.MLM, Capability.NSP)

    def test_of_a_folder_that_is_not_loaded(self, engine: LocalEngine, model_id: str) -> None:
        status = engine.status(model_id)
        assert (status.family, status.parameters, status.capabilities) == (None, None, ())
        assert (status.on_this_machine, status.in_memory) == (True, False)

    @pytest.mark.parametrize("unknown", ["someone/else", "a b", "", "/nowhere"])
    def test_of_something_unknown(self, engine: LocalEngine, unknown: str) -> None:
        status = engine.status(unknown)
        assert (status.family, status.on_this_machine, status.in_memory) == (None, False, False)

    def test_asking_loads_nothing(self, engine: LocalEngine, model_id: str) -> None:
        engine.status(model_id)
        assert engine.store.loaded() == ()


class TestPreparing:
    def test_a_model_that_is_here_is_loaded(self, engine: LocalEngine, model_id: str) -> None:
        assert list(engine.prepare(model_id)) == [DownloadProgress(1, 1)]
        assert engine.store.loaded() == (model_id,)

    def test_a_model_on_the_hub_is_fetched_and_loaded(self, settings: Settings, hub: FakeHub, model_id: str) -> None:
        files = hub.add("someone/tiny", Path(model_id))
        engine = LocalEngine(replace(settings, offline=False, hub_endpoint=hub.url))
        updates = list(engine.prepare("someone/tiny"))
        assert updates[-2].done == updates[-2].total == sum(len(content) for content in files.values())
        assert updates[-1] == DownloadProgress(1, 1)
        assert engine.status("someone/tiny").in_memory

    def test_a_visitor_who_leaves_stops_the_download(self, settings: Settings, hub: FakeHub, model_id: str) -> None:
        files = hub.add("someone/tiny", Path(model_id))
        hub.faults = stuck()
        engine = LocalEngine(replace(settings, offline=False, hub_endpoint=hub.url))
        updates = engine.prepare("someone/tiny")
        next(update for update in updates if update.done > 40_000)
        updates.close()  # type: ignore[attr-defined]
        (part,) = settings.hub_cache.rglob("*.incomplete")
        assert 30_000 < part.stat().st_size < len(files["model.safetensors"])
        assert engine.store.loaded() == ()
        hub.faults = Faults()
        assert list(engine.prepare("someone/tiny"))[-1] == DownloadProgress(1, 1)

    def test_without_a_network_it_says_so(self, engine: LocalEngine) -> None:
        with pytest.raises(ModelUnavailableError, match="HF_HUB_OFFLINE"):
            list(engine.prepare("someone/else"))

    def test_warming_up_loads_in_the_background(self, engine: LocalEngine, model_id: str) -> None:
        engine.warm_up(model_id)
        end = time.monotonic() + WAIT
        while not engine.status(model_id).in_memory and time.monotonic() < end:
            time.sleep(0.01)
        assert engine.store.loaded() == (model_id,)


def test_the_server_starts_and_answers_for_models_without_importing_torch() -> None:
    program = (
        "import sys; from explorer.engine.local import LocalEngine; from explorer.settings import Settings; "
        "engine = LocalEngine(Settings(offline=True)); engine.status('bert-small'); engine.status('x/y'); "
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
