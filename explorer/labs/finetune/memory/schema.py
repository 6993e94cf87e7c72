"""A run that has not started, and the bytes that it, full fine-tuning and LoRA hold of each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Name
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import params
from explorer.runs.examples import FIRST
from explorer.tuning.spec import RunSpec

PARTS = ("weights", "copies", "parameters", "gradients", "moments", "activations")
"""What is in memory, in the order in which it is stacked: what any run holds first."""


@params
class MemoryParams(RunSpec):
    """Settings of a run; run: one whose measured memory is said beside."""

    model: Annotated[str, Name()] = DEFAULT_MODEL
    run: Annotated[str, Name()] = FIRST


@dataclass(frozen=True)
class Column:
    """One method on the model: bytes by PARTS, what it leaves on disk, and how many numbers it trains."""

    title: str
    parts: tuple[int, ...]
    checkpoint: int
    trained: int

    @property
    def total(self) -> int:
        """How many bytes are in memory."""
        return sum(self.parts)


@dataclass(frozen=True)
class Counted:
    """GPT-3 in one precision: bytes a trained number, and bytes in all of full fine-tuning and of LoRA, r = 4 on W_q, W_v."""

    precision: str
    bytes_a_number: int
    full: int
    lora: int


@dataclass(frozen=True)
class Seen:
    """What was measured of a run: of the whole server while it trained, beside the estimate for the run alone."""

    name: str
    server: int
    estimate: int


@dataclass(frozen=True)
class MemoryResult:
    """columns: full fine-tuning, LoRA and the chosen method, if it is neither. missing: (method, why not on this
    model).

    gpt3: by precision. lora_numbers: how many numbers LoRA trains there. checkpoints: bytes in float16, of the whole
    model and of LoRA's numbers. products: passes through the matrices in a step of full fine-tuning and of LoRA.
    """

    model: str
    batch_size: int
    tokens: float
    columns: tuple[Column, ...]
    missing: tuple[tuple[str, str], ...]
    gpt3: tuple[Counted, ...]
    lora_numbers: int
    checkpoints: tuple[int, int]
    products: tuple[int, int]
    seen: Seen | None
