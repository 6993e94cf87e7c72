"""The job behind the memory's parts: three plans of one model, and the same formula on GPT-3's published sizes."""

from __future__ import annotations

from dataclasses import fields, replace

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.finetune.memory import PARTS, Column, Counted, MemoryParams, MemoryResult, Seen
from explorer.maths.memory import GPT3, PRECISIONS, held, lora_parameters
from explorer.models.loaded_model import LoadedModel
from explorer.runs.checks import why_not
from explorer.settings import settings
from explorer.tasks.sources import load
from explorer.tasks.task import Task
from explorer.tuning.kinds import kind_of
from explorer.tuning.methods import find_method
from explorer.tuning.plan import parts_of, plan
from explorer.tuning.spec import RunSpec

SAMPLE = 32
"""Texts that the mean length is estimated from."""

HALF = 2
"""Bytes of a float16."""

PAPERS_RANK, PAPERS_MATRICES = 4, 2
"""LoRA's setting for its figures of memory and checkpoint: r = 4 on W_q and W_v (Hu et al. 2021, section 4.2)."""


def memory_parts(resources: Resources, params: MemoryParams) -> MemoryResult:
    """Compute what the memory of a training is made of: full fine-tuning, LoRA and the chosen method.

    Raises BadInputError if none can be had on the model.
    """
    loaded = resources.model(params.model)
    spec = RunSpec(**{field.name: getattr(params, field.name) for field in fields(RunSpec)})
    data = load(spec.task, settings())
    examples = data.train[: spec.examples or None]
    kind = data.task.kind
    columns: list[Column] = []
    missing: list[tuple[str, str]] = []
    tokens = 0.0
    for method in dict.fromkeys(("full", "lora", spec.method)):  # each once, though LoRA be the chosen one
        title, reason = find_method(method).title, why_not(loaded.model_id, find_method(method), settings(), kind)
        if reason is not None:
            missing.append((title, reason))
            continue
        learned = kind_of(method, kind)
        # A method reads texts of its own length.
        tokens = float(learned.read(loaded, examples[:SAMPLE], learned.longest).lengths.mean())
        columns.append(_column(loaded, data.task, replace(spec, method=method), len(examples), tokens))
    if not columns:
        raise BadInputError(": ".join(missing[0]))
    numbers = lora_parameters(GPT3, PAPERS_RANK, PAPERS_MATRICES)
    return MemoryResult(
        loaded.model_id,
        spec.batch_size,
        tokens,
        tuple(columns),
        tuple(missing),
        tuple(
            Counted(one.name, one.trained, held(one, 0, GPT3.parameters), held(one, GPT3.parameters, numbers))
            for one in PRECISIONS
        ),
        numbers,
        (HALF * GPT3.parameters, HALF * numbers),
        (find_method("full").products, find_method("lora").products),
        _seen(resources, params.run),
    )


def _column(loaded: LoadedModel, task: Task, spec: RunSpec, examples: int, tokens: float) -> Column:
    planned = plan(loaded, task.outputs, spec, examples, tokens, task.kind)
    parts, method = parts_of(planned), find_method(spec.method)
    title = f"{method.title} r={spec.rank}" if "rank" in method.options else method.title
    return Column(title, tuple(getattr(parts, name) for name in PARTS), parts.checkpoint, planned.trainable)


def _seen(resources: Resources, run_id: str) -> Seen | None:
    """Return what was measured of a run; None if nothing has been."""
    if not run_id:
        return None
    record = resources.open_run(run_id).record
    return Seen(record.name, record.memory_bytes, record.memory_estimate) if record.memory_bytes else None
