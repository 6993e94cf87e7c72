"""The parts of a plan's memory against what torch holds after one step of Adam."""

from __future__ import annotations

import pytest
import torch

from explorer.tuning.adapted import adapt
from explorer.tuning.plan import parts_of, plan
from explorer.tuning.spec import RunSpec
from tests.rows import each_row
from tests.tuning.samples import batch, tiny_loaded


@each_row("method", ["full", "lora", "houlsby", "head"])
def test_parameters_gradients_and_moments_are_those_of_a_step(method: str) -> None:
    loaded = tiny_loaded("BERT")
    spec = RunSpec(loaded.model_id, method=method, rank=4, bottleneck=4)
    parts = parts_of(plan(loaded, 2, spec, 32, 8.0))
    adapted = adapt(loaded, 2, spec)
    trained = list(adapted.trainable().values())
    optimiser = torch.optim.AdamW(trained)
    adapted.logits(batch()).square().sum().backward()
    optimiser.step()
    assert parts.parameters == sum(one.nbytes for one in trained)
    assert parts.gradients == sum(one.grad.nbytes for one in trained if one.grad is not None)
    held = [entry for state in optimiser.state.values() for name, entry in state.items() if name != "step"]
    assert parts.moments == sum(entry.nbytes for entry in held)
    assert parts.weights == loaded.bytes


@pytest.mark.parametrize("options", [{"method": "full"}, {"method": "lora"}, {"method": "lora", "variant": "pissa"}])
def test_the_parts_are_the_plan(options: dict[str, str]) -> None:
    loaded = tiny_loaded("BERT")
    planned = plan(loaded, 2, RunSpec(loaded.model_id, rank=4, **options), 32, 8.0)  # type: ignore[arg-type]
    parts = parts_of(planned)
    assert parts.total == planned.memory_bytes
    assert (parts.copies > 0) == ("variant" in options)
    assert parts.checkpoint == planned.checkpoint_bytes
