"""Models with random weights, timed: all depths with layers of their own, one layer for all, and that with wide embeddings."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.engine.resources import Resources
from explorer.labs.models.schema import DEFAULT_SIZED
from explorer.labs.models.speed import PASSES, SHARED, TOKENS, VOCABULARY, WIDE, SpeedParams, SpeedResult, Timed
from explorer.models.sizes import outline_of
from explorer.models.timing import typical_milliseconds

CPU = torch.device("cpu")
TIMES = {"forward": 6, "step": 3}

RATE = 1e-6
_TABLE = ("embeddings.word_embeddings", "encoder.embedding_hidden_mapping_in")


def sharing_speed(resources: Resources, params: SpeedParams) -> SpeedResult:
    """Measure the milliseconds of a forward pass and of a training step over one text, the models in turns.

    Time doesn't depend on the values, so they are random. A step is a forward and a backward pass and one of gradient
    descent.
    """
    resources.is_kept = False  # who asks again wants it measured again
    width = params.hidden_size // 64 * 64  # a head is 64 wide
    narrow = min(params.embedding_size, width)
    made = {sharing: (sharing == "all", narrow) for sharing in SHARED} | (
        {} if narrow == width else {WIDE: (True, width)}
    )
    with torch.inference_mode(False):  # a step needs gradients
        generator = torch.Generator().manual_seed(0)
        models = {name: _made(params.layers, width, *kind, generator) for name, kind in made.items()}
        ids = torch.randint(VOCABULARY, (1, TOKENS), generator=generator)
    timed = []
    for work, call in zip(PASSES, (_forward, _step), strict=True):
        calls = [partial(call, model, ids) for model in models.values()]
        spent = typical_milliseconds(calls, CPU, TIMES[work])
        timed += [Timed(name, work, one.median, one.low, one.high) for name, one in zip(models, spent, strict=True)]
    parameters = {name: _count(_layers(model)) for name, model in models.items()}
    embeddings = {name: sum(_count(model.get_submodule(at)) for at in _TABLE) for name, model in models.items()}
    # Biases add, and don't multiply.
    matrices = sum(tensor.numel() for tensor in _layers(models["none"]).parameters() if tensor.ndim == 2)
    return SpeedResult(params.layers, width, narrow, parameters, embeddings, TOKENS * matrices, tuple(timed))


def _made(layers: int, width: int, shared: bool, narrow: int, generator: torch.Generator) -> nn.Module:
    """Make an ALBERT without heads for any task, its weights drawn evenly from -0.05 to 0.05."""
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": width,
        "layers": layers,
        "inner": 4 * width,
        "embedding_size": narrow,
    }
    outline = outline_of(DEFAULT_SIZED).resized(**sizes, shared=shared, num_attention_heads=width // 64)
    model = outline.empty().to_empty(device=CPU).base_model.eval()  # to_empty: storage without values
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.uniform_(-0.05, 0.05, generator=generator)
    return model


def _forward(model: nn.Module, ids: Tensor) -> Tensor:
    places = torch.arange(TOKENS)[None]
    # All inputs are given: buffers that would stand in for them have no values.
    states: Tensor = model(ids, torch.ones_like(ids), torch.zeros_like(ids), places).last_hidden_state
    return states


def _step(model: nn.Module, ids: Tensor) -> None:
    with torch.inference_mode(False), torch.enable_grad():
        _forward(model, ids).square().mean().backward()
        with torch.no_grad():
            for tensor in model.parameters():
                if tensor.grad is not None:
                    tensor.sub_(RATE * tensor.grad)
                    tensor.grad = None  # or the next step would add to it


def _layers(model: nn.Module) -> nn.Module:
    return model.get_submodule("encoder.albert_layer_groups")


def _count(part: nn.Module) -> int:
    return sum(tensor.numel() for tensor in part.parameters())
