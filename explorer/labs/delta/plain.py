"""What the scripts without the package are told about a run's update."""

from __future__ import annotations

from explorer.labs.delta.schema import KEPT
from explorer.labs.plain import Asked, place_of, plain_script, run_place
from explorer.models.architectures import by_family
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
    return _beside_weight("placement", asked)


def _beside_weight(name: str, asked: Asked) -> str:
    """None where the matrix has no place of its own in the model: GPT-2's is fused and turned."""
    record, factors = asked.executor.runs.get(asked.params.run), _factors(asked, asked.params.run)
    family = asked.executor.status(record.spec.model).family
    layout = by_family(family).layers if family else None
    path = layout.matrices().get(asked.params.module) if layout else None
    if not factors or layout is None or path is None or family == "GPT-2":
        return ""
    weight = layout.name(asked.params.layer, path).removeprefix(f"{layout.body}.")
    values = {"FACTORS": factors, "MODEL": place_of(record.spec.model), "WEIGHT": weight}
    return plain_script(name, lambda _: values, f"{_NEEDS} transformers")(asked)


def _factors(asked: Asked, run: str, step: int | None = None) -> str:
    """The file of a run's factors at a kept step, the last one where None; empty where it keeps none."""
    kept = asked.executor.runs.get(run).snapshots
    return f"{run_place(asked, run)}/snapshots/{step or kept[-1]:06d}.safetensors" if kept else ""
