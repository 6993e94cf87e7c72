"""Tiny models of every family, texts that ask each of their heads something, and resources that are at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save_file

from explorer.engine.resources import Resources
from explorer.labs.attribution.compute import ask
from explorer.labs.attribution.schema import Asked, AskParams
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.runs.open import OpenRun, OpenRuns
from explorer.runs.record import RunRecord
from explorer.runs.store import WEIGHTS
from explorer.settings import Settings
from explorer.tuning.adapted import adapt
from explorer.tuning.spec import RunSpec
from tests.labs.finetune.records import record
from tests.models.tiny import save


class Case(NamedTuple):
    """One family, and a text that asks it something."""

    family: str
    text: str
    second: str = ""


CASES = (
    Case("BERT", "the cat [MASK] on a mat ."),
    Case("BERT", "the cat sat .", "a mat , sitting"),
    Case("RoBERTa", "the cat [MASK] on a mat ."),
    Case("ALBERT", "the cat [MASK] on a mat ."),
    Case("ALBERT", "the cat sat .", "a mat"),
    Case("DistilBERT", "the cat [MASK] on a mat ."),
    Case("ELECTRA generator", "the cat [MASK] on a mat ."),
    Case("ELECTRA discriminator", "the cat script on a mat"),
    Case("DeBERTa", "the cat [MASK] on a mat ."),
    Case("DeBERTa-v2/v3", "the cat [MASK] on a mat ."),
    Case("GPT-2", "the cat sat on a"),
    Case("ModernBERT", "the cat [MASK] on a mat ."),
    Case("XLM-RoBERTa", "the cat [MASK] on a mat ."),
    Case("CamemBERT", "the cat [MASK] on a mat ."),
    Case("EuroBERT", "the cat [MASK] on a mat ."),
    Case("ModernBERT decoder", "the cat sat on a"),
)
"""Every family, and every kind of question that has a head of its own."""


def tiny(folder: Path, family: str, **changes: Any) -> LoadedModel:
    """A random model of a family, its weights spread enough for gradients to differ."""
    loaded = load_model(str(save(folder / family.replace("/", "-"), family, **changes)), Settings(device="cpu"))
    with torch.no_grad():
        draw = torch.Generator().manual_seed(1)
        for name, parameter in loaded.model.named_parameters():
            if parameter.ndim == 2 and "embed" not in name and "wte" not in name:
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=draw))
    return loaded


def asked_of(loaded: LoadedModel, text: str, second: str = "", **changes: Any) -> Asked:
    """As the engine asks: in inference mode."""
    values: dict[str, Any] = {"target": "", "baseline": "zero", **changes}
    with torch.inference_mode():
        return ask(loaded, AskParams(text, second, **values))


class AtHand(Resources):
    """One model, and perhaps one run; it keeps what was asked, and remembers nothing."""

    def __init__(self, loaded: LoadedModel, run: OpenRun | None = None) -> None:
        self.loaded, self.run, self.asked = loaded, run, list[Any]()

    def model(self, model_id: str) -> LoadedModel:  # type: ignore[override]
        return self.loaded

    @property
    def open_run(self) -> Any:
        return lambda run_id: self.run

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        self.asked.append(key)
        return make()


def shown(results: Iterator[Any]) -> list[Any]:
    """All that a generator shows, each step in inference mode, as its engine takes them."""
    found = []
    while True:
        with torch.inference_mode():
            try:
                found.append(next(results))
            except StopIteration:
                return found


def last(results: Iterator[Any]) -> Any:
    """What it ends with."""
    return shown(results)[-1]


def open_run(folder: Path, loaded: LoadedModel, method: str = "lora", **changes: Any) -> OpenRun:
    """A run of a method with weights that have moved, opened as the engine opens it."""
    kept: RunRecord = record(spec=RunSpec(loaded.model_id, "sst2", method, prefix_length=4), **changes)
    adapted = adapt(loaded, len(kept.labels) or 1, kept.spec)
    with torch.no_grad():
        for parameter in adapted.trainable().values():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    save_file(adapted.state(), folder / WEIGHTS)
    return OpenRuns(lambda run_id: kept, lambda run_id: folder, lambda model_id: loaded)(kept.run_id)
