"""What the scripts without the package are told about a fine-tuned run."""

from __future__ import annotations

from explorer.labs.plain import Asked, place_of, plain_script, run_place
from explorer.models.architectures import by_family

WHOLE_TENSORS = ("head", "bitfit", "full")
"""Methods whose file holds tensors of the model itself."""


def predict_run(asked: Asked) -> str:
    """None for a regression and for methods that peft has no name for or that start elsewhere than at W."""
    record = asked.executor.runs.get(asked.params.run)
    spec, family = record.spec, asked.executor.status(record.spec.model).family
    is_lora = spec.method == "lora" and spec.variant != "pissa"
    if not record.labels or family is None or not (is_lora or spec.method in WHOLE_TENSORS):
        return ""
    layers = by_family(family).layers
    values = {
        "MODEL": place_of(spec.model),
        "WEIGHTS": f"{run_place(asked, record.run_id)}/weights.safetensors",
        "LABELS": record.labels,
        "SENTENCE_B": asked.params.sentence_b if len(record.columns) == 2 else "",
        "IS_LORA": is_lora,
        "RANK": spec.rank,
        "ALPHA": spec.alpha,
        "RSLORA": spec.variant == "rslora",
        "DORA": spec.variant == "dora",
        "TARGETS": layers.pattern(layers.matrices(spec.targets).values()),
    }
    return plain_script("predict_run", lambda _: values, "torch transformers peft")(asked)
