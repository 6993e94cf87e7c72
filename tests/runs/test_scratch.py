"""Runs from nothing on a server: they wait, train, stop and go on as others do, and what they leave is a model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, ModelUnavailableError
from explorer.labs.masking.schema import FillParams
from explorer.models.catalog import trained_id
from explorer.models.families import Capability
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings
from tests.models.tiny import save
from tests.scratch.small import small

OWNER = "someone"
FILL = Job("explorer.labs.masking.jobs:fill_masks", Capability.MLM)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    return LocalEngine(Settings(data_folder=tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="module")
def done(engine: LocalEngine) -> RunRecord:
    record = engine.runs.wait(engine.runs.start(small(), OWNER), 120)
    assert record.status is RunStatus.DONE, record.message
    return record


def test_a_run_tells_its_losses_and_its_words(done: RunRecord) -> None:
    assert [step for step, _ in done.losses] == list(range(1, 7))
    assert {step for step, _ in done.evaluations} == set(range(7))
    assert all({"masked_loss", "pair_loss", "accuracy"} <= values.keys() for _, values in done.evaluations)
    assert all(("training_masked_loss" in values) is (step > 0) for step, values in done.evaluations)
    assert {one.step for one in done.said} >= {0, 1, 2, 4, 6}
    assert done.outcome is not None
    assert done.outcome.rows == {"held-out": 96}
    assert done.name.startswith("MLM + NSP · L=1 H=32 · bundled stories")


def test_what_it_leaves_is_a_model_of_every_page(engine: LocalEngine, done: RunRecord) -> None:
    name = trained_id(done.run_id, done.step)
    loaded = engine.store.get(name)
    assert loaded.parameters == done.parameters
    assert loaded.capabilities == {Capability.MLM, Capability.NSP}
    (said,) = [one for one in done.said if one.step == done.step]
    answer = engine.follow(FILL, FillParams("The [MASK] is here.", top_k=5), name).last.result(60)
    assert [one.token for one in answer.masks[0].predictions] == list(said.tokens)
    assert [one.probability for one in answer.masks[0].predictions] == pytest.approx(said.probabilities, rel=1e-4)


def test_a_model_whose_run_is_gone_is_said_to_be(engine: LocalEngine, done: RunRecord) -> None:
    with pytest.raises(ModelUnavailableError, match="of a run that is no longer on this server"):
        engine.store.get(trained_id(done.run_id, 5))


def test_it_is_stopped_and_goes_on_where_it_was(engine: LocalEngine) -> None:
    run_id = engine.runs.start(small(steps=4000), OWNER)
    while engine.runs.get(run_id).step < 3:
        engine.runs.wait(run_id, 0.05)
    engine.runs.stop(run_id, OWNER)
    stopped = engine.runs.wait(run_id, 60)
    assert stopped.status is RunStatus.STOPPED
    assert engine.store.get(trained_id(run_id, stopped.step)).parameters == stopped.parameters
    engine.runs.resume(run_id, OWNER)
    while (record := engine.runs.get(run_id)).step <= stopped.step and record.status.is_active:
        engine.runs.wait(run_id, 0.05)
    engine.runs.stop(run_id, OWNER)
    ended = engine.runs.wait(run_id, 60)
    assert ended.step > stopped.step
    assert ended.losses[: len(stopped.losses)] == stopped.losses
    assert [path.name for path in engine.runs.folder_of(run_id).glob("model-*")] == [f"model-{ended.step}"]


@pytest.fixture
def asked_meanwhile(tmp_path: Path) -> str:
    save(tmp_path, "BERT")
    return str(tmp_path)


def test_its_loss_falls_by_a_nat_while_a_visitor_asks(engine: LocalEngine, asked_meanwhile: str) -> None:
    run_id = engine.runs.start(small(steps=60, batch_size=16, hidden=64, learning_rate=8e-3, vocabulary=2000), OWNER)
    answers = 0
    while engine.runs.get(run_id).status.is_active:
        text = f"The {'cat ' * (answers % 9 + 1)}[MASK]."
        assert engine.follow(FILL, FillParams(text), asked_meanwhile).last.result(60).masks
        answers += 1
        engine.runs.wait(run_id, 0.3)  # training runs on the time that visitors leave; one who never pauses leaves none
    record = engine.runs.get(run_id)
    losses = [values["masked_loss"] for _, values in record.evaluations]
    assert record.status is RunStatus.DONE
    assert answers > 1
    assert losses[-1] < losses[0] - 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"model": "electra-mini-discriminator"}, "is no BERT"),
        ({"model": "no-such-model"}, "no-such-model"),
        ({"task": "file-0123456789ab"}, "is not on this server"),
    ],
)
def test_what_cannot_be_had_is_said_before_it_is_queued(engine: LocalEngine, asked: dict[str, str], said: str) -> None:
    with pytest.raises((BadInputError, ModelUnavailableError), match=said):
        engine.runs.start(small(**asked), OWNER)


def test_electra_leaves_a_generator_too(engine: LocalEngine) -> None:
    spec = small(objective="rtd", row_format="doc_sentences", steps=2)
    record = engine.runs.wait(engine.runs.start(spec, OWNER), 60)
    assert engine.store.get(trained_id(record.run_id, 2)).capabilities == {Capability.RTD}
    generator = engine.runs.folder_of(record.run_id) / "generator-2"
    assert {path.name for path in generator.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}


def test_a_run_that_loses_its_checkpoint_says_so(engine: LocalEngine) -> None:
    run_id = engine.runs.start(small(steps=4000), OWNER)
    while engine.runs.get(run_id).step < 2:
        engine.runs.wait(run_id, 0.05)
    engine.runs.stop(run_id, OWNER)
    engine.runs.wait(run_id, 60)
    (engine.runs.folder_of(run_id) / "resume.safetensors").write_bytes(b"broken")
    engine.runs.resume(run_id, OWNER)
    record = engine.runs.wait(run_id, 60)
    assert record.status is RunStatus.FAILED
    assert "resume.safetensors of this run is damaged" in record.message


def test_torch_s_own_generator_is_left_alone(engine: LocalEngine) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    engine.runs.wait(engine.runs.start(small(steps=2, seed=3), OWNER), 60)
    assert torch.equal(torch.get_rng_state(), before)
