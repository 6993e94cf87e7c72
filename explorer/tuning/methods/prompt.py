"""Prefix-embedding (prompt tuning): trained vectors before the text's embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from explorer.models.families import Layers
from explorer.tuning.methods.method import BEFORE_THE_TEXT, Method

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Put trained embeddings before the text's; they start as those of words drawn from the vocabulary (Lester et al.,
    3.2).

    The classifier of a model that reads its first token then reads the first virtual one, which attends to the text as
    [CLS] does and is trained to stand for it (peft's choice; kept so that peft loads the result). A model that reads
    its last token reads the text's last one, padded or not.
    """
    from peft import PromptTuningConfig, TaskType, get_peft_model

    from explorer.tuning.methods.by_peft import task_type, virtual

    config = PromptTuningConfig(prompt_tuning_init="SAMPLE_VOCAB", **virtual(fork, spec))
    embeddings: Any = fork.get_input_embeddings()
    config.token_dim = embeddings.weight.shape[1]  # ALBERT's are narrower than its layers
    model = get_peft_model(fork, config)
    if layers.reads_last and task_type(fork) is TaskType.SEQ_CLS:
        # Given embeddings, peft's classifier would read padding.
        fork.get_submodule(layers.body).register_forward_hook(_keep_last, with_kwargs=True)
    return model


def _keep_last(body: nn.Module, args: Any, kwargs: Any, output: Any) -> Any:
    """Leave only the last real token of each row, (rows, 1, width), since GPT-2's classifier reads a row's end if it is
    given embeddings.
    """
    import torch

    mask: Tensor | None = kwargs.get("attention_mask")
    if mask is not None:
        hidden = output.last_hidden_state
        last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(-1).long()
        output.last_hidden_state = hidden[torch.arange(len(hidden), device=hidden.device), last][:, None]
    return output


def _notes(spec: RunSpec, layers: Layers) -> Iterator[str]:
    if not layers.reads_last:
        yield "The first virtual token stands where [CLS] stood, and a classifier reads it there."


METHOD = Method(
    "prompt",
    "Prefix-embedding",
    "A few trained vectors stand before the text's embeddings, as if they were words that no vocabulary has. Everything "
    "else is frozen. The model reads a text that is longer by as many tokens.",
    r"\left[\,p_1, \dots, p_m, e_1, \dots, e_n\,\right],\quad p_i \in \mathbb{R}^{E}\ \text{trained}",
    "Lester, Al-Rfou and Constant 2021 (prompt tuning); Hu et al. 2021, LoRA, section 5.1 (PreEmbed)",
    ("prefix_length",),
    5e-3,
    build,
    lengthens=True,
    reaches_layers=False,
    unmergeable=BEFORE_THE_TEXT,
    template=lambda spec, layers: "prompt_last" if layers.reads_last else "peft",
    notes=_notes,
)
