"""Every endpoint with whatever may be sent: a sentence, in time, and nothing that is another visitor's."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from explorer.engine.local import LocalEngine
from explorer.runs.manager import LECTURER
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings
from tests.fuzzing import HANG_SECONDS, Endpoint, Fuzzer, endpoints, send, wrong_with
from tests.ports import serving

CALLS = int(os.environ.get("EXPLORER_FUZZ_CALLS", "500"))
SEED = int(os.environ.get("EXPLORER_FUZZ_SEED", "0"))
VICTIM = "zelda-keeps-this-name-to-herself"
MARKER = "zeldas-own-words"
WAIT = 120.0


@dataclass(frozen=True)
class Fuzzed:
    """A server to call, its engine, and two runs that somebody else has made: a link to the first has been given away."""

    client: httpx.Client
    engine: LocalEngine
    runs: tuple[RunRecord, ...]
    tiny: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, tiny_model: str) -> Iterator[Fuzzed]:
    from explorer.shell import build_app, launch_options
    from explorer.tuning.spec import RunSpec

    folder = tmp_path_factory.mktemp("fuzzed")
    settings = Settings(device="cpu", offline=True, data_folder=folder, lecturer_key="teach")
    engine = LocalEngine(settings)
    specs = [RunSpec(tiny_model, task=_task(folder / f"{name}.tsv", settings), epochs=1) for name in ("linked", MARKER)]
    made = [engine.runs.start(spec, VICTIM) for spec in specs]
    runs = tuple(engine.runs.wait(run, WAIT) for run in made)
    assert [run.status for run in runs] == [RunStatus.DONE] * 2
    app = build_app(engine)
    with (
        serving(app, **launch_options(engine)) as url,
        httpx.Client(base_url=url, timeout=HANG_SECONDS, trust_env=False) as client,
    ):
        yield Fuzzed(client, engine, runs, tiny_model)


def _task(file: Path, settings: Settings) -> str:
    """A table of the victim's, as a task; the file's name is in every row."""
    from explorer.tasks.sources import keep_upload

    rows = [f"{file.stem} {number} {'good' if number % 2 else 'bad'}\t{number % 2}" for number in range(40)]
    file.write_text("\n".join(["text\tlabel", *rows]), encoding="utf-8")
    return keep_upload(file, settings).name


def each_in_turn(known: list[Endpoint], seed: int) -> Iterator[Endpoint]:
    """All endpoints equally often, in an order that is new each time round."""
    dice = random.Random(seed)
    while True:
        yield from dice.sample(known, len(known))


def _end_all(engine: LocalEngine) -> None:
    """Stop what has been begun, so that it doesn't keep the next call waiting."""
    for run in engine.runs.list(LECTURER):
        if run.status.is_active:
            engine.runs.stop(run.run_id, LECTURER)


def _leaks(text: str, secret: RunRecord) -> str:
    """What an answer tells that is the victim's alone: the name, by which runs are deleted, and the run that nobody linked to."""
    return next(
        (f"another visitor's {one}" for one in (VICTIM, secret.run_id, secret.spec.task, MARKER) if one in text), ""
    )


def test_whatever_is_sent_the_answer_is_one_that_a_newcomer_can_act_on(server: Fuzzed) -> None:
    known = endpoints(server.client)
    assert len(known) > 90
    fuzzer = Fuzzer(SEED, server.tiny, [server.runs[0].run_id, "example-lora-8", ""])
    found, answered, refused = [], 0, 0
    for number, endpoint in enumerate(itertools.islice(each_in_turn(known, SEED), CALLS)):
        call = fuzzer.draw(endpoint)
        try:
            reply = send(server.client, call, f"session-{number % 3}-{number if endpoint.streams else ''}")
        except httpx.HTTPError as error:
            found.append(f"{call}: {error!r}")
            continue
        finally:
            if endpoint.trains:
                _end_all(server.engine)
        answered, refused = answered + (reply.error == ""), refused + (reply.error != "")
        wrong = wrong_with(call, reply) or _leaks(reply.text, server.runs[1])
        found += [f"{call}: {wrong}"] if wrong else []
    assert not found, f"{len(found)} of {CALLS} (seed {SEED}):\n" + "\n".join(found[:40])
    assert answered > CALLS // 20
    assert refused > CALLS // 4
    for run in server.runs:
        assert server.engine.runs.get(run.run_id).status is RunStatus.DONE
        assert server.engine.runs.store.find(run.run_id) == run
