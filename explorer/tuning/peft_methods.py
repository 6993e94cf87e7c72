"""The methods that peft has: LoRA and its variants, prompt and prefix tuning, IA³.

The adapted matrices are named in full (peft guesses wrong or not at all for ALBERT, DistilBERT and others), and the fresh
modules are saved with the adapter, so that what peft writes can be loaded by peft.
"""

from __future__ import annotations

from typing import Any

import torch
from peft import IA3Config, LoraConfig, PeftConfig, PrefixTuningConfig, PromptTuningConfig, TaskType, get_peft_model
from peft.tuners.lora import LoraLayer
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from explorer.errors import BadInputError
from explorer.models.architectures import Layers
from explorer.tuning.forks import head_modules
from explorer.tuning.seeded import SeededDropout
from explorer.tuning.spec import RunSpec

ADAPTER = "default"
"""peft's own name for the only adapter of a model."""

PISSA = "pissa_niter_16"
"""The first r singular directions by 16 subspace iterations, which PiSSA's paper finds as good as the exact ones."""

SHARED_START = 0.02
"""Standard deviation of a prefix's keys and values at the start: those of peft (1.0) drown the text's own."""


def lora(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Low-rank updates of the target matrices.

    A is drawn uniformly from ±1/sqrt(k) (Kaiming-uniform with a = sqrt(5), as in the authors' code; the paper says N(0, s²))
    and B is zero, so that ΔW = 0 at the start. PiSSA takes both from W's singular vectors and leaves W less their product.
    Raises BadInputError where the rank passes the smaller side of a target.
    """
    targets = layers.matrices(spec.targets)
    pattern = layers.pattern(targets.values())
    _check_rank(fork, spec, layers, targets)
    config = LoraConfig(
        r=spec.rank,
        lora_alpha=spec.alpha,  # type: ignore[arg-type]  # any number works
        lora_dropout=spec.dropout,
        target_modules=pattern,
        use_rslora=spec.variant == "rslora",
        use_dora=spec.variant == "dora",
        init_lora_weights=PISSA if spec.variant == "pissa" else True,  # type: ignore[arg-type]
        fan_in_fan_out=_stores_transposed(fork),
        **_common(fork),
    )
    model: nn.Module = get_peft_model(fork, config)
    for module in model.modules():
        if isinstance(module, LoraLayer) and spec.dropout:
            module.lora_dropout[ADAPTER] = SeededDropout(spec.dropout, spec.seed)
    return model


def ia3(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """One factor a key, a value and an inner unit of the feed-forward block; a fused projection is scaled as a whole."""
    inner = layers.matrices(("ffn_out",))
    config = IA3Config(
        target_modules=layers.pattern((layers.matrices(("key", "value")) | inner).values()),
        feedforward_modules=layers.pattern(inner.values()),
        fan_in_fan_out=_stores_transposed(fork),
        **_common(fork),
    )
    return get_peft_model(fork, config)


def prompt(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Trained embeddings before the text's, which start as those of words drawn from the vocabulary (Lester et al., 3.2).

    The classifier of a model that reads its first token then reads the first of the virtual ones, which attends to the text
    as [CLS] does and is trained to stand for it (peft's choice; kept so that peft loads the result). A model that reads its
    last token reads the text's last, padded or not, where peft on its own would read padding.
    """
    config = PromptTuningConfig(prompt_tuning_init="SAMPLE_VOCAB", **_virtual(fork, spec), **_common(fork))
    embeddings: Any = fork.get_input_embeddings()
    config.token_dim = embeddings.weight.shape[1]  # ALBERT's are narrower than its layers
    model = get_peft_model(fork, config)
    if layers.reads_last:
        fork.get_submodule(layers.body).register_forward_hook(_keep_last, with_kwargs=True)
    return model


def prefix(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Trained keys and values before the text's in every layer. [CLS] is read as ever, though its position moves back."""
    config = PrefixTuningConfig(**_virtual(fork, spec), **_common(fork))
    model: nn.Module = get_peft_model(fork, config)
    nn.init.normal_(model.get_parameter(f"prompt_encoder.{ADAPTER}.embedding.weight"), std=SHARED_START)
    return model


def _common(fork: PreTrainedModel) -> dict[str, Any]:
    return {"task_type": TaskType.SEQ_CLS, "modules_to_save": head_modules(fork)}


def _virtual(fork: PreTrainedModel, spec: RunSpec) -> dict[str, Any]:
    config = fork.config
    return {
        "num_virtual_tokens": spec.prefix_length,
        "num_layers": config.num_hidden_layers,
        "token_dim": config.hidden_size,
        "num_attention_heads": config.num_attention_heads,
    }


def _stores_transposed(fork: PreTrainedModel) -> bool:
    """GPT-2 keeps its weights as (inputs, outputs), which peft has to be told."""
    return any(isinstance(module, Conv1D) for module in fork.modules())


def _check_rank(fork: PreTrainedModel, spec: RunSpec, layers: Layers, targets: dict[str, str]) -> None:
    for role, path in targets.items():
        width = min(fork.get_submodule(layers.name(0, path)).get_parameter("weight").shape)
        if spec.rank > width:
            raise BadInputError(
                f"rank is {spec.rank}, and the smaller side of the {role} matrix is {width}. Take {width} or less; a "
                "low-rank update pays from about a tenth of it downwards."
            )


def _keep_last(body: nn.Module, args: Any, kwargs: Any, output: Any) -> Any:
    """Leave only the last real token of each row, (rows, 1, width): given embeddings, GPT-2's classifier reads the end."""
    mask: Tensor | None = kwargs.get("attention_mask")
    if mask is not None:
        hidden = output.last_hidden_state
        last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(-1).long()
        output.last_hidden_state = hidden[torch.arange(len(hidden), device=hidden.device), last][:, None]
    return output


def config_of(model: nn.Module) -> PeftConfig | None:
    """The configuration of a model that peft has wrapped; None for others."""
    found = getattr(model, "peft_config", {})
    return found.get(ADAPTER) if isinstance(found, dict) else None
