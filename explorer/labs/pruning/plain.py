"""What the scripts without the package are told: the run, its examples, and where its heads and neurons are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.compress.cuts import Shape, kept_of_share, kinds_of
from explorer.labs.pruning.params import SHARES, PruneParams
from explorer.labs.pruning.schema import HandResult, ImportanceResult, QuantiseResult
from explorer.maths.importance import SCORES
from explorer.models.families import Architecture
from explorer.plain import Asked, architecture_of, plain_script, run_values
from explorer.settings import BUNDLED_TASKS, ROOT
from explorer.tasks.formats.glue import LAYOUTS
from explorer.tasks.metrics import METRICS

_NEEDS = "torch transformers peft"

UNITS_OF_LAYERS = ("head", "neuron", "both")


def importance(asked: Asked) -> str:
    """Return the script; "" for single weights, nor for whole layers of a model that shares one layer at every depth."""
    result: ImportanceResult = asked.result
    shape = result.about.shape
    family = _family(asked)
    if (
        result.unit == "weight"
        or not SCORES[result.score].in_scripts
        or family is None
        or (result.unit == "layer" and shape.shared)
    ):
        return ""
    role = {"head": "output", "neuron": "ffn_out", "layer": ""}[result.unit]
    path = family.layers.modules[role] if role else ""
    values = {
        "EXAMPLES": result.about.examples,
        "UNITS": shape.heads if result.unit == "head" else shape.neurons,
        "GATED": tuple(family.layers.name(block, path).rstrip(".") for block in range(shape.blocks)),
        "SHARED": shape.shared,
    }
    return _of_run("importance", asked, values)


def heads(asked: Asked) -> str:
    """Make the script if the metric is accuracy, and query, key and value are linear maps of their own; else ""."""
    result: HandResult = asked.result
    family, shape = _family(asked), result.about.shape
    if result.about.metric != METRICS["accuracy"].title or family is None or not family.has_plain_heads:
        return ""
    parts = family.layers.modules
    values = {
        "EXAMPLES": result.about.held_out,
        "HEADS": tuple(dict.fromkeys((shape.block_of(layer), head) for layer, head in result.heads)),
        "LAYER": family.layers.name(0, "").replace("0", "{}", 1),
        "PROJECTIONS": tuple(parts[role] for role in ("query", "key", "value")),
        "OUTPUT": parts["output"],
        "SHARE": len(result.heads) / (shape.blocks * shape.heads),
    }
    return _of_run("prune_heads", asked, values)


def orders(asked: Asked) -> str:
    """Make the script if _cutting can."""
    return _cutting("compare_orders", asked, {"SHARES": SHARES})


def prune(asked: Asked) -> str:
    """Make the script if _cutting can."""
    return _cutting("prune", asked, {"TAKE": _taken(asked.params, asked.result.about.shape)})


def steps(asked: Asked) -> str:
    """Make the script if _cutting can."""
    return _cutting("compare_steps", asked, {})


def quantised(asked: Asked) -> str:
    """Make the script for the whole model, if the metric is accuracy; else ""."""
    result: QuantiseResult = asked.result
    if asked.params.share or result.about.metric != METRICS["accuracy"].title:
        return ""
    return _of_run("quantise", asked, {"MEASURED": result.about.held_out})


def _cutting(name: str, asked: Asked, values: dict[str, Any]) -> str:
    """Make a script if the metric is accuracy, and heads and neurons (not layers or weights) are rows and columns; else
    "".
    """
    about, unit, family = asked.result.about, asked.params.unit, _family(asked)
    measured = about.metric == METRICS["accuracy"].title
    known = measured and unit in UNITS_OF_LAYERS and SCORES[asked.params.score].in_scripts
    if not known or family is None or not family.has_plain_heads:
        return ""
    parts, shape = family.layers.modules, about.shape
    made = {
        "head": ("output", ("query", "key", "value"), shape.heads),
        "neuron": ("ffn_out", ("ffn_in",), shape.neurons),
    }
    kinds = {
        kind: (parts[behind], tuple(parts[role] for role in before), units)
        for kind, (behind, before, units) in made.items()
        if kind in kinds_of(unit)
    }
    layers = tuple(family.layers.name(block, "").rstrip(".") for block in range(shape.blocks))
    told = {"EXAMPLES": about.examples, "MEASURED": about.held_out, "KINDS": kinds, "LAYERS": layers}
    return _of_run(name, asked, {**told, **values})


def _taken(params: PruneParams, shape: Shape) -> dict[str, int]:
    """Return how many units of each kind go; of each layer if every layer loses as many."""
    budget = {"head": params.heads, "neuron": params.neurons}
    taken: dict[str, int] = {}
    for kind in kinds_of(params.unit) if params.unit in UNITS_OF_LAYERS else ():
        rows, width = shape.rows(kind)
        rows = 1 if params.even else rows
        if any(budget.values()):
            taken |= {kind: rows * (width - budget[kind])} if budget[kind] else {}
        else:
            taken[kind] = rows * width - kept_of_share(rows * width, params.share)
    return taken


def _family(asked: Asked) -> Architecture | None:
    """Return the family of the run's model; None for a pretrained model, which the scripts don't ask."""
    run = asked.params.run
    return architecture_of(asked, asked.engine.runs.get(run).spec.model) if run else None


def _of_run(name: str, asked: Asked, values: dict[str, Any]) -> str:
    """Make a script; "" without a run, for examples that are not bundled, and for a run that it cannot put together."""
    if not asked.params.run:
        return ""
    import torch  # which is here by now

    from explorer.tuning.reading import has_bfloat16

    record, family = asked.engine.runs.get(asked.params.run), _family(asked)
    run, task = run_values(asked, record), asked.params.task or record.spec.task
    layout = next((layout for layout in LAYOUTS if layout.task == task), None)
    if not run or layout is None or family is None:
        return ""
    folder = BUNDLED_TASKS / task
    values = {
        **run,
        "TRAIN": _place(folder / "train.tsv"),
        "HELD_OUT": _place(min(folder.glob("validation*.tsv"))),
        "HEADER": layout.header if layout.task == "cola" else None,
        "TEXTS": layout.texts,
        "LABEL": layout.label,
        "CLASSES": tuple(layout.classes),
        "BFLOAT16": family.half_precision and has_bfloat16(torch.device("cpu")),
        **values,
    }
    return plain_script(name, lambda _: values, _NEEDS)(asked)


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
