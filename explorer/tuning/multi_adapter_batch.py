"""One batch in which each row goes through the adapter of its own run.

Merging makes one model for each task, and the LoRA paper names the price: "it is not straightforward to batch inputs to
different tasks with different A and B in a single forward pass" (section 4.2). Unmerged, W x is computed once for the
whole batch and each row adds its own B A x; peft does so for its `adapter_names`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from peft import LoraConfig, PeftModel
from torch import Tensor, nn

from explorer.errors import BadInputError
from explorer.tuning.adapted import Adapted
from explorer.tuning.forks import fork_classifier, head_names
from explorer.tuning.seeded import Seeded

MIXABLE = ("lora", "rslora")
_WHY_NOT = {
    "dora": "DoRA rescales the rows of W + BA, so W x cannot be shared between the rows of a batch.",
    "pissa": "PiSSA starts by taking its directions out of W, so the other rows would meet another W.",
}


class Mixed:
    """Runs of one base model, side by side over one copy of its weights; ranks, targets and outputs may differ.

    The runs must not be trained further. Only one thread at a time may call it: peft hangs its hooks on the shared
    modules. Raises BadInputError for runs of different models and for methods that cannot share a batch.
    """

    def __init__(self, runs: Mapping[str, Adapted]) -> None:
        self._runs = dict(runs)
        if not self._runs:
            raise BadInputError("Choose one or more LoRA runs of the same model.")
        for name, run in self._runs.items():
            _check(name, run, next(iter(self._runs.items())))
        self._adapters = {name: f"run{number}" for number, name in enumerate(self._runs)}
        self._model = self._assemble()

    @torch.no_grad()
    def mixed_logits(self, inputs: Mapping[str, Tensor], names: Sequence[str]) -> list[Tensor]:
        """Return the logits of each row by the run that `names` gives it: one tensor a row, (outputs of that run,).

        inputs: as Adapted.logits takes them. names: one for each row, in any order and number.
        """
        unknown = sorted(set(names) - set(self._runs))
        if unknown or len(names) != len(inputs["input_ids"]):
            raise BadInputError(
                f"Each of the {len(inputs['input_ids'])} rows needs one of the runs {', '.join(self._runs)}; "
                f"got {len(names)} names{': ' + ', '.join(unknown) if unknown else ''}."
            )
        taken = next(iter(self._runs.values())).taken(inputs)
        body = self._model(**taken, adapter_names=[self._adapters[name] for name in names])
        answers: list[Tensor] = [torch.empty(0)] * len(names)
        for name in dict.fromkeys(names):
            rows = [row for row, other in enumerate(names) if other == name]
            for row, logits in zip(rows, self._answer(name, rows, taken, body), strict=True):
                answers[row] = logits
        return answers

    def _answer(self, name: str, rows: list[int], taken: Mapping[str, Tensor], body: Any) -> Tensor:
        """Return (rows, outputs): one run's own head on its rows of the shared body's output."""
        run = self._runs[name]
        view = copy.copy(run.fork)
        view._modules = {**run.fork._modules, run.layers.body: _Given(body, rows)}
        logits: Tensor = view(**{key: tensor[rows] for key, tensor in taken.items()}).logits
        return logits

    def _assemble(self) -> PeftModel:
        """Build the body with every run's adapter in it, under the name that `self._adapters` gives it."""
        first = next(iter(self._runs.values()))
        fork = fork_classifier(first.loaded, first.fork.config.num_labels or 1, first.spec.seed)
        path = f"{first.layers.body}."
        fresh = [name.removeprefix(path).rpartition(".")[0] for name in head_names(fork) if name.startswith(path)]
        body: Any = fork.get_submodule(first.layers.body)
        model: PeftModel | None = None
        for name, run in self._runs.items():
            config = _config(run, fresh)
            with Seeded(0):  # peft draws starting values, which are overwritten below
                if model is None:
                    model = PeftModel(body, config, self._adapters[name])
                else:
                    model.add_adapter(self._adapters[name], config)
            _fill(model, run, self._adapters[name])
        assert model is not None
        model.requires_grad_(False).eval()
        return model


class _Given(nn.Module):
    """Stands in the body's place: returns some rows of what the body has computed already."""

    def __init__(self, output: Any, rows: list[int]) -> None:
        super().__init__()
        self._output = type(output)(**{key: value[rows] for key, value in output.items() if isinstance(value, Tensor)})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the given output, whatever the inputs."""
        return self._output


def _check(name: str, run: Adapted, first: tuple[str, Adapted]) -> None:
    if not run.method.low_rank:
        raise BadInputError(
            f"{name} is a run of {run.method.title}; only LoRA runs can share a batch, since B A x is added to the same "
            "W x row by row. Leave it out."
        )
    if run.spec.variant not in MIXABLE:
        raise BadInputError(f"{name} cannot share a batch. {_WHY_NOT[run.spec.variant]} Leave it out.")
    if run.loaded is not first[1].loaded:
        raise BadInputError(
            f"{name} is a run of {run.loaded.model_id}, and {first[0]} of {first[1].loaded.model_id}. "
            "A batch shares one model's weights; choose runs of one model."
        )


def _config(run: Adapted, fresh: list[str]) -> LoraConfig:
    """Return the run's own configuration, for the body alone. fresh: modules that its checkpoint lacks, so that each
    run has its own.
    """
    own: Any = run.model
    whole = run.layers.pattern(run.layers.matrices(run.spec.targets).values())
    return LoraConfig(
        r=run.spec.rank,
        lora_alpha=run.spec.alpha,  # type: ignore[arg-type]  # any number works
        use_rslora=run.spec.variant == "rslora",
        target_modules=whole.removeprefix(re.escape(f"{run.layers.body}.")),
        fan_in_fan_out=own.peft_config["default"].fan_in_fan_out,
        modules_to_save=list(dict.fromkeys(fresh)) or None,
    )


@torch.no_grad()
def _fill(model: PeftModel, run: Adapted, adapter: str) -> None:
    """Copy a run's trained tensors to its adapter's parameters, which have the same names without the body's."""
    trained = run.trainable()
    for name, parameter in model.named_parameters():
        if f".{adapter}." in name:
            inside = name.removeprefix("base_model.model.").replace(f".modules_to_save.{adapter}.", ".")
            own = inside.replace(f".{adapter}.", ".")
            parameter.copy_(trained[f"base_model.model.{run.layers.body}.{own}"])
