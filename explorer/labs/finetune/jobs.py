"""The fine-tuning lab's jobs: the plan before a run, and what can be done with its result."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from explorer.errors import BadInputError, ExplorerError
from explorer.labs.finetune.schema import (
    ExportParams,
    LowRank,
    MergeForm,
    MergeParams,
    MergeResult,
    PlanParams,
    PlanResult,
    Prediction,
    PredictRunParams,
    PredictRunResult,
    SwapParams,
    SwapResult,
)
from explorer.models import timing
from explorer.models.layer_sizes import LayerSizes, layer_sizes, matrices_of
from explorer.models.loaded_model import LoadedModel
from explorer.runs.checks import model_of, why_not
from explorer.runs.open import OpenRun, OpenRuns, keep_model
from explorer.settings import settings
from explorer.tasks.sources import load
from explorer.tasks.task import SPAN, WRITTEN, Example, TaskData
from explorer.tuning.adapted import Adapted
from explorer.tuning.files.export import export_adapter, export_merged
from explorer.tuning.files.script import script_of_settings
from explorer.tuning.files.zips import export_path, write_zip
from explorer.tuning.kinds import kind_of
from explorer.tuning.merging import merged
from explorer.tuning.methods import find_method
from explorer.tuning.multi_adapter_batch import Mixed
from explorer.tuning.plan import plan
from explorer.tuning.rows import Rows, tokenise
from explorer.tuning.spec import MOST_HELD_OUT, RunSpec

SAMPLE = 32
"""Texts that the mean length is estimated from, and that the merged model is compared on."""

TIMED = 15
"""Calls of each form, in turns; their median is shown."""

TIMED_BATCH = 8
"""Texts in the batch that is timed."""


def plan_run(loaded: LoadedModel, params: PlanParams) -> PlanResult:
    """Plan what a run would train and cost here; the time is that of a forward pass that is timed now."""
    spec = RunSpec(**{**vars(params), "model": loaded.model_id})
    method = find_method(spec.method)
    data = load(spec.task, settings())
    kind = kind_of(spec.method, data.task.kind)
    reason = why_not(loaded.model_id, method, settings(), data.task.kind)
    if reason is not None:
        return PlanResult(loaded.model_id, method.title, unavailable=reason)
    examples = data.train[: spec.examples or None]  # 0 stands for all
    sample = kind.read(loaded, examples[:SAMPLE], kind.longest)
    # A long text makes several rows: as many more as in the sample.
    rows = round(len(examples) * len(sample) / min(SAMPLE, len(examples)))
    held_out = sum(min(len(part), MOST_HELD_OUT) for part in data.validation.values())
    planned = plan(loaded, data.task.outputs, spec, rows, float(sample.lengths.mean()), data.task.kind, held_out)
    return PlanResult(
        loaded.model_id,
        method.title,
        planned.groups,
        planned.trainable,
        planned.total,
        planned.checkpoint_bytes,
        planned.memory_bytes,
        planned.seconds,
        rows,
        -(-rows // spec.batch_size) * spec.epochs,  # rounded up
        planned.notes,
        script=script_of_settings(loaded, data, spec),
        layer=(layer := layer_sizes(loaded.model, loaded.architecture)),
        low_rank=_low_rank(loaded, spec, layer) if spec.method == "lora" else None,
    )


def _low_rank(loaded: LoadedModel, spec: RunSpec, layer: LayerSizes) -> LowRank:
    """Return LoRA's matrices on this model."""
    matrices = matrices_of(loaded.model, loaded.architecture, spec.targets)
    return LowRank(matrices, spec.last_layers or layer.distinct, spec.rank, spec.alpha, spec.variant)


def predict_run(open_run: OpenRuns, params: PredictRunParams) -> PredictRunResult:
    """Ask a run's model about the visitor's text, and the same model as it was before training."""
    run = open_run(params.run)
    run.require_weights()
    record = run.record
    untouched = run.begin()
    untouched.require_classes()
    rows = _row(run, untouched, params.sentence_a, params.sentence_b)
    return PredictRunResult(
        record.labels,
        record.task_title,
        _predicted(_as(run, "before training"), untouched.logits(_inputs(untouched, rows))[0]),
        _predicted(run, run.restore().logits(_inputs(untouched, rows))[0]),
    )


def _as(run: OpenRun, name: str) -> OpenRun:
    """Return the same run under another name, for the answer of its untrained start."""
    return replace(run, record=replace(run.record, name=name))


def _example(run: OpenRun, first: str, second: str) -> Example:
    """Return the texts as the run's task reads them: one or two. Raises BadInputError if the second is missing."""
    pair = len(run.record.columns) == 2
    if pair and not second.strip():
        raise BadInputError(f"{run.record.task_title} reads two texts; type the second one as well.")
    return Example(first, second if pair else None, 0.0)  # the label is not read


def _row(run: OpenRun, adapted: Adapted, first: str, second: str) -> Rows:
    """Read the visitor's texts as one row. Unlike in training nothing is cut in silence: BadInputError is raised
    instead.
    """
    rows = tokenise(run.loaded(), [_example(run, first, second)], adapted.longest)
    if rows.cut:
        raise BadInputError(
            f"This is longer than the {adapted.longest} tokens that {run.record.name} reads. Shorten the text."
        )
    return rows


def _inputs(adapted: Adapted, rows: Rows) -> dict[str, Tensor]:
    """Return all rows as one batch."""
    return rows.batch(range(len(rows)), adapted.loaded.device)[0]


def _predicted(run: OpenRun, logits: Tensor) -> Prediction:
    """Make one row's answer from its logits, (outputs,)."""
    record, logits = run.record, logits.float().cpu()
    numbers = tuple(logits.tolist())
    if record.labels:
        return Prediction(record.name, record.run_id, numbers, tuple(logits.softmax(-1).tolist()), None)
    mean, spread = record.scale
    # Back to the task's unit: a score is learned with mean 0 and spread 1.
    return Prediction(record.name, record.run_id, numbers, (), numbers[0] * spread + mean)


def swap_runs(open_run: OpenRuns, params: SwapParams) -> SwapResult:
    """Ask several runs about the text: in one batch, each row through another adapter, and one by one (LoRA, 4.2)."""
    runs = [open_run(name) for name in dict.fromkeys(params.runs)]  # a run named twice is one adapter
    for run in runs:
        run.require_weights()
        if run.record.spec.model != runs[0].record.spec.model:
            raise BadInputError("These runs are of different models. Adapters share a batch only over one base model.")
    adapted = {run.record.run_id: run.restore() for run in runs}
    for one in adapted.values():
        one.require_classes()
    mixed = Mixed(adapted)
    rows = [_row(run, adapted[run.record.run_id], params.sentence_a, params.sentence_b) for run in runs]
    # Labels that nobody reads.
    together = Rows(tuple(row.inputs[0] for row in rows), torch.zeros(len(rows)), rows[0].pad, 0)
    names = list(adapted)
    inputs, device = _inputs(adapted[names[0]], together), runs[0].loaded().device

    def alone() -> list[Tensor]:
        return [adapted[name].logits(_inputs(adapted[name], row))[0] for name, row in zip(names, rows, strict=True)]

    batched = [_predicted(run, row) for run, row in zip(runs, mixed.mixed_logits(inputs, names), strict=True)]
    single = [_predicted(run, row) for run, row in zip(runs, alone(), strict=True)]
    gaps = [
        abs(a - b)
        for one, other in zip(batched, single, strict=True)
        for a, b in zip(one.logits, other.logits, strict=True)
    ]
    together_spent, alone_spent = timing.typical_milliseconds(
        [lambda: mixed.mixed_logits(inputs, names), alone], device, TIMED
    )
    return SwapResult(
        {run.record.run_id: run.record.labels for run in runs},
        tuple(batched),
        tuple(single),
        max(gaps),
        (together_spent.median, alone_spent.median),
    )


def merge_check(open_run: OpenRuns, params: MergeParams) -> MergeResult:
    """Compare the model before, with the adapter attached, and with the update merged into W: outputs and time (LoRA,
    4.1).
    """
    run = open_run(params.run)
    run.require_weights()
    loaded, record, adapted = run.loaded(), run.record, run.restore()
    plain = merged(adapted)
    # A score has no labels, and one output.
    before = adapted.kind.fork(loaded, len(record.labels) or 1, record.spec.seed, ())
    rows = adapted.kind.read(loaded, _sample(run), min(adapted.kind.longest, adapted.longest))
    inputs = _inputs(adapted, rows)
    few = rows.batch(range(min(TIMED_BATCH, len(rows))), loaded.device)[0]

    def answers(module: nn.Module, batch: dict[str, Tensor]) -> Tensor:
        return adapted.kind.scores(module(**adapted.taken(batch)))

    modules = {"base": before, "attached": adapted.model, "merged": plain}
    forms = {name: partial(answers, module) for name, module in modules.items()}
    times = dict(
        zip(
            forms,
            timing.in_turns([partial(answer, few) for answer in forms.values()], loaded.device, TIMED),
            strict=True,
        )
    )
    attached = answers(adapted.model, inputs).float()  # (rows, outputs)
    measured = [
        MergeForm(
            name,
            float((answer(inputs).float() - attached).abs().max()),
            timing.spent(times[name]),
            sum(parameter.numel() for parameter in modules[name].parameters()),
            timing.ratio(times["merged"], times[name]),
        )
        for name, answer in forms.items()
    ]
    return MergeResult(
        record.run_id, record.name, tuple(measured), len(rows), int(rows.lengths.sum()), min(TIMED_BATCH, len(rows))
    )


def _sample(run: OpenRun) -> list[Example]:
    """Return held-out texts of the run's own task, or bundled ones of its kind if its examples are not here."""
    try:
        data = load(run.record.spec.task, settings())
    except ExplorerError:
        # An imported adapter's task may be unknown.
        data = load({SPAN: "squad", WRITTEN: "e2e"}.get(run.record.kind, "sst2"), settings())
    return list(next(iter(data.validation.values()))[:SAMPLE])


def export_run(open_run: OpenRuns, params: ExportParams) -> str:
    """Write a run as a zip, and return its path; an adapter comes with the examples that it was trained on, and a
    script.
    """
    run = open_run(params.run)
    run.require_weights()
    name = re.sub(r"[^A-Za-z0-9]+", "-", run.record.name).strip("-").lower()
    target = export_path(run.record.owner, run.record.run_id, f"{name}-{params.kind}.zip", settings())
    if params.kind == "model":
        with tempfile.TemporaryDirectory() as making:  # removed once it is zipped
            folder = Path(making) / model_of(run.record)
            keep_model(run, folder)
            return str(write_zip(target, {path.name: path for path in folder.iterdir()}))
    if params.kind == "merged":
        return str(export_merged(run.restore(), run.record, target))
    return str(export_adapter(run.restore(), run.record, _used(run), target))


def _used(run: OpenRun) -> TaskData | None:
    """Return the examples that a run was trained on; None if they are not here any more."""
    try:
        data = load(run.record.spec.task, settings())
    except ExplorerError:
        return None
    return replace(data, train=data.train[: run.record.spec.examples or None])
