"""The time of a forward pass by every method, in turns with the plain model's."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from explorer.engine.resources import Resources
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.finetune.latency import LatencyParams, LatencyResult, Timed
from explorer.models import timing
from explorer.models.loaded_model import LoadedModel
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.forks import fork_classifier
from explorer.tuning.merging import merged
from explorer.tuning.methods import METHODS, Method, find_method
from explorer.tuning.spec import RunSpec

SECONDS = 1.0
"""Between two results at least, as far as a round takes no longer: each draws its intervals anew."""
CLASSES = 2
"""Of the head, which takes next to no time."""


@dataclass(frozen=True)
class _Form:
    """What is timed of one method."""

    method: Method
    form: str
    module: nn.Module


def latency(resources: Resources, params: LatencyParams) -> Iterator[LatencyResult | None]:
    """Time each method as it starts, with RunSpec's sizes: times depend on shapes alone, not on what has been learned.

    The first result comes after a round, others about once a second and at the end, and quicker questions come in between two
    calls. Raises BadInputError for texts that are longer than the model reads.
    """
    loaded = resources.model(params.model)
    if params.length > loaded.longest:
        raise BadInputError(
            f"{loaded.model_id} reads {loaded.longest} tokens at most; length is {params.length}. Take {loaded.longest} or less."
        )
    wanted = [find_method(name) for name in dict.fromkeys(params.methods)] or list(METHODS)
    plain = fork_classifier(loaded, CLASSES, 0)
    inputs, forms, missing = _inputs(loaded, params), list[_Form](), list[tuple[str, str]]()
    for method in wanted:
        try:
            adapted = adapt(loaded, CLASSES, RunSpec(loaded.model_id, method=method.slug))
            if adapted.longest < params.length:
                raise BadInputError(f"its virtual tokens leave room for {adapted.longest} tokens of text.")
        except ExplorerError as error:
            missing.append((method.title, str(error)))
            continue
        forms += _forms(method, adapted)
    # Without what this family does not read.
    taken = adapt(loaded, CLASSES, RunSpec(loaded.model_id, method="head")).taken(inputs)
    calls = [partial(_forward, module, taken) for module in (plain, *(form.module for form in forms))]
    taken_by, done, shown = [list[float]() for _ in calls], 0, -math.inf
    for timed in timing.one_by_one(calls, loaded.device, params.repeats):
        if timed is not None:
            taken_by[timed[0]].append(timed[1])
        rounds = min(map(len, taken_by))
        if rounds > done and (rounds == params.repeats or time.monotonic() > shown + SECONDS):
            whole = [times[:rounds] for times in taken_by]  # the next round may have begun
            yield _result(loaded, params, forms, whole, plain, missing)
            done, shown = rounds, time.monotonic()
        else:
            yield None  # a turn for other questions


def _result(
    loaded: LoadedModel,
    params: LatencyParams,
    forms: list[_Form],
    taken_by: list[list[float]],
    plain: nn.Module,
    missing: list[tuple[str, str]],
) -> LatencyResult:
    base, *times = taken_by
    return LatencyResult(
        loaded.model_id,
        loaded.device.type,
        params.batch,
        params.length,
        len(base),
        params.repeats,
        timing.spent(base),
        tuple(_timed(form, plain, taken, base) for form, taken in zip(forms, times, strict=True)),
        tuple(missing),
    )


def _inputs(loaded: LoadedModel, params: LatencyParams) -> dict[str, Tensor]:
    """Make random tokens, (batch, length), without padding."""
    shape, draw = (params.batch, params.length), torch.Generator().manual_seed(0)
    ids = torch.randint(loaded.model.config.vocab_size, shape, generator=draw).to(loaded.device)
    pad = loaded.tokenizer.pad_token_id
    # RoBERTa numbers the positions by which tokens are padding.
    ids = ids.masked_fill(ids == pad, (pad + 1) % loaded.model.config.vocab_size) if pad is not None else ids
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}


def _forms(method: Method, adapted: Adapted) -> Iterator[_Form]:
    """Yield the forms of a method: as it is trained, and merged if that is something else; `plain` if it adds no
    module.
    """
    adds = adapted.model is not adapted.fork or method.own_modules
    yield _Form(method, "attached" if adds else "plain", adapted.model)
    if adds and not method.unmergeable:
        yield _Form(method, "merged", merged(adapted))


def _forward(module: nn.Module, inputs: Mapping[str, Tensor]) -> object:
    return module(**inputs)


def _timed(form: _Form, plain: nn.Module, times: list[float], base: list[float]) -> Timed:
    method = form.method
    added = _size(form.module) - _size(plain)
    return Timed(method.slug, method.title, form.form, added, timing.spent(times), timing.ratio(times, base))


def _size(module: nn.Module) -> int:
    """Count parameters, without the untrained copy of the head that peft keeps beside the trained one."""
    named = module.named_parameters()
    return sum(parameter.numel() for name, parameter in named if ".original_module." not in name)
