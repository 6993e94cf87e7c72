"""What the scripts without the package are told about a run's update."""

from __future__ import annotations

from explorer.labs.delta.schema import KEPT
from explorer.plain import Asked, architecture_of, place_of, plain_script, run_place
from explorer.runs.record import RunRecord
from explorer.tuning.spec import TARGETS

_NEEDS = "torch safetensors"


def spectrum(asked: Asked) -> str:
    """Make the script; "" for a run whose factors are not kept."""
    factors = _factors(asked, asked.params.run, asked.result.step)
    values = {"FACTORS": factors, "KEPT": KEPT, "ORDER": TARGETS}
    return plain_script("delta_spectrum", lambda _: values, _NEEDS)(asked) if factors else ""


def subspaces(asked: Asked) -> str:
    """Make the script for two runs."""
    factors = [_factors(asked, run) for run in (asked.params.run_a, asked.params.run_b)]
    values = {"FACTORS_A": factors[0], "FACTORS_B": factors[1], "KEPT": KEPT}
    return plain_script("subspace_similarity", lambda _: values, _NEEDS)(asked) if all(factors) else ""


def placement(asked: Asked) -> str:
    """Make the script, which reads the base model's own weight too."""
    return _of_one("placement", asked)


def weight_spectrum(asked: Asked) -> str:
    """Make the script, as placement does."""
    return _of_one("weight_spectrum", asked)


def intruders(asked: Asked) -> str:
    """Make the script for LoRA runs of one model, all layers; "" for others, and for two runs of one name."""
    return _of_runs("intruder_dimensions", asked, 1)


def amplification(asked: Asked) -> str:
    """Make the script, as placement does."""
    return _of_one("amplification", asked)


def amplification_by_layer(asked: Asked) -> str:
    """Make the script for two runs of one model, all layers; "" if one of them is no LoRA run."""
    return _of_runs("amplification_by_layer", asked, 2)


def _of_runs(name: str, asked: Asked, fewest: int) -> str:
    """Make the script for one module of several runs, at least so many."""
    params = asked.params
    records = [asked.engine.runs.get(run) for run in dict.fromkeys((params.run_a, params.run_b))]
    runs = {record.name: _factors(asked, record.run_id) for record in records}
    weight, models = _weight(asked, records[0], params.module), {record.spec.model for record in records}
    # Two runs of one name would be one entry.
    if not all(runs.values()) or len(runs) < max(fewest, len(records)) or len(models) > 1 or not weight:
        return ""
    values = {"RUNS": runs, "MODEL": place_of(records[0].spec.model), "WEIGHT": weight}
    return plain_script(name, lambda _: values, f"{_NEEDS} transformers")(asked)


def _of_one(name: str, asked: Asked) -> str:
    """Make the script for one run and one matrix."""
    record, factors = asked.engine.runs.get(asked.params.run), _factors(asked, asked.params.run)
    weight = _weight(asked, record, asked.params.module)
    if not factors or not weight:
        return ""
    values = {"FACTORS": factors, "MODEL": place_of(record.spec.model), "WEIGHT": weight.format(asked.params.layer)}
    return plain_script(name, lambda _: values, f"{_NEEDS} transformers")(asked)


def _weight(asked: Asked, record: RunRecord, module: str) -> str:
    """Return the place of W in the model, with {} for the layer; "" if it has none of its own: GPT-2's is fused and
    turned.
    """
    known = architecture_of(asked, record.spec.model)
    path = known.layers.matrices().get(module) if known else None
    if known is None or path is None or known.layers.transposed:
        return ""
    return f"{known.layers.path.replace('*', '{}')}.{path}"


def _factors(asked: Asked, run: str, step: int | None = None) -> str:
    """Return the file of a run's factors at a kept step, by default the last; "" if it keeps none."""
    kept = asked.engine.runs.get(run).snapshots
    return f"{run_place(asked, run)}/snapshots/{step or kept[-1]:06d}.safetensors" if kept else ""
