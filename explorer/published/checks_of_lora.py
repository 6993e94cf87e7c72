"""LoRA's figures computed again: times, averages, norms, memory (Hu et al. 2021). Its counts are in checks_of_trained."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.published import counts, lora
from explorer.published.check import Check

_AT = "The table gives two digits of the norm 0.32; from 0.315 to 0.325 the factor is 21.9 to 21.3."
_HALF = {"bytes_each": 2}


def _slowdown(slow: float, fast: float) -> float:
    return slow / fast - 1


def _slowdowns() -> Iterator[Check]:
    """The percentages of Table 1."""
    for row in lora.TABLE_1:
        for name, (time, printed) in (("AdapterL", row.adapter_l), ("AdapterH", row.adapter_h)):
            said = f"{name}'s slowdown, batch {row.batch}, length {row.length}"
            inputs = {"slow": time, "fast": row.lora}
            yield Check("lora", "Table 1", said, printed, "milliseconds ÷ LoRA's − 1", _slowdown, inputs)


def _mean(**scores: float) -> float:
    return lora.average(scores.values())


def _averages() -> Iterator[Check]:
    """The last column of Table 2."""
    for row in lora.TABLE_2:
        inputs = dict(zip(lora.GLUE, row.scores, strict=True))
        said = f"{row.name}, average"
        why = (
            "The mean is {instead}, half-way; the table's other halves are rounded up." if row.average == "89.0" else ""
        )
        how = "mean of the eight scores"
        yield Check("lora", "Table 2", said, row.average, how, _mean, inputs, why, _mean if why else None)


def _factors() -> Iterator[Check]:
    """The amplification of Table 7."""
    for row in lora.TABLE_7:
        inputs = {"delta_norm": row.delta_norm, "of_delta": row.of_delta}
        said = f"amplification factor, r = {row.rank}"
        why = _AT if row.rank == 4 else ""
        yield Check("lora", "section 7.3", said, row.factor, "‖ΔW‖ ÷ ‖UᵀWV‖", _ratio, inputs, why)


def _ratio(delta_norm: float, of_delta: float) -> float:
    return delta_norm / of_delta


def _bytes(numbers: float, bytes_each: float) -> float:
    return numbers * bytes_each


def _update_bytes(r: int, d: int, layers: int, bytes_each: float) -> float:
    return counts.low_rank(2, r, d, d, layers) * bytes_each


_GPT3 = {"numbers": 175e9}
"""As in its name; Table 4 says 175,255.8M."""

_MEMORY = (
    Check(
        *("lora", "section 4.2", "GPT-3's checkpoint, full fine-tuning", "350 GB", "parameters × 2 bytes"),
        *(_bytes, {**_GPT3, **_HALF}, "Two bytes a number: 16-bit weights."),
    ),
    Check(
        *("lora", "section 4.2", "GPT-3's checkpoint, LoRA with r = 4 on q and v", "35 MB"),
        *("2 L r (d + d) numbers × 2 bytes", _update_bytes, {"r": 4, **counts.GPT3, **_HALF}),
        "Counted in powers of two it is 36.0; 35 is a ten-thousandth of 350 GB.",
    ),
    Check(
        *("lora", "section 4.2", "GPT-3's memory in training, LoRA", "350 GB", "parameters × 2 bytes"),
        *(_bytes, {**_GPT3, **_HALF}, "The frozen weights explain all of it; the update's own numbers are 0.01%."),
    ),
    Check(
        *("lora", "section 4.2", "GPT-3's memory in training, full fine-tuning", "1.2 TB"),
        *("parameters × (weight, gradient and Adam's two moments) × 2 bytes", lambda **of: 4 * _bytes(**of)),
        {**_GPT3, **_HALF},
        "Four numbers of 16 bits for each weight are more than the paper says; 1.2 TB is 6.9 bytes a weight, and how they are "
        "kept is not said.",
        unexplained=True,
    ),
)

CHECKS = (*_slowdowns(), *_averages(), *_factors(), *_MEMORY)
