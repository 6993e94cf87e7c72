"""What the scripts without the package are told about a run's update."""

from __future__ import annotations

from explorer.labs.delta.schema import KEPT
from explorer.plain import Asked, architecture_of, place_of, plain_script, run_place
from explorer.runs.record import RunRecord
from explorer.tuning.spec import TARGETS

_NEEDS = "torch safetensors"


def spectrum(asked: Asked) -> str:
    """None for a run whose factors are not kept."""
    factors = _factors(asked, asked.params.run, asked.result.step)
    values = {"FACTORS": factors, "KEPT": KEPT, "ORDER": TARGETS}
    return plain_script("delta_spectrum", lambda _: values, _NEEDS)(asked) if factors else ""


def subspaces(asked: Asked) -> str:
    """The same for two runs."""
    factors = [_factors(asked, run) for run in (asked.params.run_a, asked.params.run_b)]
    values = {"FACTORS_A": factors[0], "FACTORS_B": factors[1], "KEPT": KEPT}
    return plain_script("subspace_similarity", lambda _: values, _NEEDS)(asked) if all(factors) else ""


def placement(asked: Asked) -> str:
    """As spectrum, beside the base model's own weight."""
    return _of_one("placement", asked)


def weight_spectrum(asked: Asked) -> str:
    """The same."""
    return _of_one("weight_spectrum", asked)


def intruders(asked: Asked) -> str:
    """Two LoRA runs of one model, all layers; none for others, as amplification_by_layer."""
    params = asked.params
    records = [asked.engine.runs.get(run) for run in dict.fromkeys((params.run_a, params.run_b))]
    runs = {record.name: _factors(asked, record.run_id) for record in records}
    weight, models = _weight(asked, records[0], params.module), {record.spec.model for record in records}
    if not all(runs.values()) or len(runs) < len(records) or len(models) > 1 or not weight:
        return ""
    values = {"RUNS": runs, "MODEL": place_of(records[0].spec.model), "WEIGHT": weight}
    return plain_script("intruder_dimensions", lambda _: values, f"{_NEEDS} transformers")(asked)


def amplification(asked: Asked) -> str:
    """The same."""
    return _of_one("amplification", asked)


def amplification_by_layer(asked: Asked) -> str:
    """Two runs of one model, all layers; none if one of them is no LoRA run."""
    params = asked.params
    records = [asked.engine.runs.get(run) for run in (params.run_a, params.run_b)]
    runs = {record.name: _factors(asked, record.run_id) for record in records}
    weight, models = _weight(asked, records[0], params.module), {record.spec.model for record in records}
    if not all(runs.values()) or len(runs) < 2 or len(models) > 1 or not weight:
        return ""
    values = {"RUNS": runs, "MODEL": place_of(records[0].spec.model), "WEIGHT": weight}
    return plain_script("amplification_by_layer", lambda _: values, f"{_NEEDS} transformers")(asked)


def _of_one(name: str, asked: Asked) -> str:
    """One run, one matrix."""
    record, factors = asked.engine.runs.get(asked.params.run), _factors(asked, asked.params.run)
    weight = _weight(asked, record, asked.params.module)
    if not factors or not weight:
        return ""
    values = {"FACTORS": factors, "MODEL": place_of(record.spec.model), "WEIGHT": weight.format(asked.params.layer)}
    return plain_script(name, lambda _: values, f"{_NEEDS} transformers")(asked)


def _weight(asked: Asked, record: RunRecord, module: str) -> str:
    """Where the model keeps W, with {} for the layer; empty if it has no place of its own: GPT-2's is fused and turned."""
    known = architecture_of(asked, record.spec.model)
    path = known.layers.matrices().get(module) if known else None
    if known is None or path is None or known.layers.transposed:
        return ""
    return f"{known.layers.path.replace('*', '{}')}.{path}"


def _factors(asked: Asked, run: str, step: int | None = None) -> str:
    """The file of a run's factors at a kept step, the last one where None; empty if it keeps none."""
    kept = asked.engine.runs.get(run).snapshots
    return f"{run_place(asked, run)}/snapshots/{step or kept[-1]:06d}.safetensors" if kept else ""
