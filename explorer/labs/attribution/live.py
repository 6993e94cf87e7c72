"""Attribution as it goes on: what is asked first, then method after method in small pieces of work."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from explorer.backend.executor import Executor, Job
from explorer.labs.attribution.chain import Request, follow_chain
from explorer.labs.attribution.params import AttributeParams, AttributeRunParams
from explorer.labs.attribution.plan import plan
from explorer.labs.attribution.schema import AskParams, AttributionResult, OnRun

_COMPUTE = "explorer.labs.attribution.compute"


def attribute(executor: Executor, params: AttributeParams, owner: str) -> Iterator[AttributionResult | None]:
    """Attribute a model's answer to the tokens of a text; each result has more in it, and the last has all."""
    asked = AskParams(params.text, params.second, params.target, params.baseline, params.position)

    def submit(request: Request) -> Future[Any]:
        return executor.submit(Job(f"{_COMPUTE}:{request.job}"), params.model, request.params)

    yield from follow_chain(plan(asked, params.method, params.by, params.steps), submit)


def attribute_run(executor: Executor, params: AttributeRunParams, owner: str) -> Iterator[AttributionResult | None]:
    """The same for a fine-tuned run's class."""
    asked = AskParams(params.sentence_a, params.sentence_b, params.target, params.baseline)

    def submit(request: Request) -> Future[Any]:
        on_run = OnRun(params.run, request.job, request.params)
        return executor.submit_for_runs(Job(f"{_COMPUTE}:on_run"), on_run)

    yield from follow_chain(plan(asked, params.method, params.by, params.steps), submit)
