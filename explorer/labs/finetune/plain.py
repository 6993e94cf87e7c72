"""What the scripts without the package are told about a fine-tuned run."""

from __future__ import annotations

from explorer.backend.runs.record import RunRecord
from explorer.labs.plain import Asked, place_of, plain_script, run_place
from explorer.models.architectures import by_family

_NEEDS = "torch transformers peft"
WHOLE_TENSORS = ("head", "bitfit", "full")
"""Methods whose file holds tensors of the model itself."""


def predict_run(asked: Asked) -> str:
    """None for a regression and for methods that peft has no name for or that start elsewhere than at W."""
    record = asked.executor.runs.get(asked.params.run)
    is_lora = _is_lora(record)
    values = _of_run(asked, record) if is_lora or record.spec.method in WHOLE_TENSORS else {}
    if not values:
        return ""
    values |= {"IS_LORA": is_lora, "SENTENCE_B": asked.params.sentence_b if len(record.columns) == 2 else ""}
    return plain_script("predict_run", lambda _: values, _NEEDS)(asked)


def merge_check(asked: Asked) -> str:
    """LoRA's runs alone, on sentences of the script's own."""
    record = asked.executor.runs.get(asked.params.run)
    values = _of_run(asked, record) if _is_lora(record) else {}
    if not values:
        return ""
    texts = (("A film that one remembers.", "One remembers it."), ("Nothing in it works.", "It rained."))
    values["TEXTS"] = tuple(text[: max(1, len(record.columns))] for text in texts)
    return plain_script("merge_check", lambda _: values, _NEEDS)(asked)


def _is_lora(record: RunRecord) -> bool:
    return record.spec.method == "lora" and record.spec.variant != "pissa"


def _of_run(asked: Asked, record: RunRecord) -> dict[str, object]:
    """What a script needs to put a run's classifier together; empty for a score or a family that is unknown."""
    spec, family = record.spec, asked.executor.status(record.spec.model).family
    if not record.labels or family is None:
        return {}
    layers = by_family(family).layers
    return {
        "MODEL": place_of(spec.model),
        "WEIGHTS": f"{run_place(asked, record.run_id)}/weights.safetensors",
        "LABELS": record.labels,
        "RANK": spec.rank,
        "ALPHA": spec.alpha,
        "RSLORA": spec.variant == "rslora",
        "DORA": spec.variant == "dora",
        "TARGETS": layers.pattern(layers.matrices(spec.targets).values()),
    }
