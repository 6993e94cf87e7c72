"""Jobs on tokenizers: answered from the cache, but never with an answer that lacks one which may come later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, ExplorerError, ModelUnavailableError
from explorer.models.tokenizer_store import Opening
from explorer.settings import Settings
from tests.models import conftest as models_conftest
from tests.models import tiny
from tests.models.fake_hub import FakeHub

WAIT = 180
RUNS: list[object] = []
"""The params of every run, oldest first."""

hub = models_conftest.hub


@dataclass(frozen=True)
class Params:
    names: tuple[str, ...]
    patient: bool = True


def count_pieces(open_tokenizer: Opening, params: Params) -> dict[str, int | None]:
    """Pieces of a text by each tokenizer; None where it cannot be opened."""
    RUNS.append(params)
    counts: dict[str, int | None] = {}
    for name in params.names:
        try:
            counts[name] = len(open_tokenizer(name).tokenizer.tokenize("the cat sat"))
        except ExplorerError:
            if not params.patient:
                raise
            counts[name] = None
    return counts


JOB = Job("tests.engine.test_tokenizer_jobs:count_pieces", on="tokenizers")


@pytest.fixture
def settings(hub: FakeHub, tmp_path: Path) -> Settings:
    return Settings(device="cpu", hub_endpoint=hub.url, hub_cache=tmp_path / "hub", hub_timeout=20.0)


@pytest.fixture
def engine(settings: Settings) -> LocalEngine:
    RUNS.clear()
    return LocalEngine(settings)


def ask(engine: LocalEngine, *names: str, patient: bool = True) -> dict[str, int | None]:
    answer: dict[str, int | None] = engine.follow(JOB, Params(names, patient)).last.result(timeout=WAIT)
    return answer


def test_a_job_opens_the_tokenizers_that_it_names(engine: LocalEngine) -> None:
    counts = ask(engine, "bert-small", "unigram")
    assert list(counts) == ["bert-small", "unigram"]
    assert all(counts.values())


def test_the_same_question_is_answered_from_the_cache(engine: LocalEngine) -> None:
    assert ask(engine, "unigram") is ask(engine, "unigram")
    assert len(RUNS) == 1
    ask(engine, "byte-level-bpe")
    assert len(RUNS) == 2


def test_an_answer_without_one_of_them_is_not_kept_and_the_next_one_has_it(
    engine: LocalEngine, hub: FakeHub, tmp_path: Path
) -> None:
    assert ask(engine, "unigram", "owner/tiny")["owner/tiny"] is None
    hub.add("owner/tiny", tiny.save(tmp_path / "model"))
    assert ask(engine, "unigram", "owner/tiny")["owner/tiny"] == 3
    assert ask(engine, "unigram", "owner/tiny") is ask(engine, "unigram", "owner/tiny")
    assert len(RUNS) == 2
    assert not any(name.endswith(".safetensors") for name in hub.fetched())


def test_an_error_reaches_the_asker_and_is_not_kept(engine: LocalEngine) -> None:
    for _ in range(2):
        with pytest.raises(ModelUnavailableError, match="no model called owner/none"):
            ask(engine, "owner/none", patient=False)
    assert len(RUNS) == 2


def test_no_model_is_loaded_for_it(engine: LocalEngine) -> None:
    ask(engine, "bert-small")
    assert engine.store.loaded() == ()


def fail(open_tokenizer: Opening, params: Params) -> None:
    raise BadInputError("no")


def test_a_job_that_refuses_its_input_says_so(engine: LocalEngine) -> None:
    job = Job("tests.engine.test_tokenizer_jobs:fail", on="tokenizers")
    with pytest.raises(BadInputError, match="no"):
        engine.follow(job, Params(())).last.result(timeout=WAIT)
