"""Stores a model in fewer bits: bfloat16, and torch's dynamic 8-bit quantisation of its linear maps."""

from __future__ import annotations

import copy
import io
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

FORMS = ("fp32", "bf16", "int8")


@dataclass(frozen=True)
class Form:
    """A model in one form. note: a remark on how it differs from the model, if one is needed."""

    name: str
    model: Any
    bytes: int
    note: str = ""


def in_form(model: PreTrainedModel, form: str) -> Form:
    """Return a copy on the CPU in one form. bytes: of the file that torch.save writes.

    int8: weights of all linear maps are 8-bit integers with one scale a matrix, activations are quantised as they come,
    and embeddings and LayerNorms stay in fp32 (torch.ao.quantization.quantize_dynamic).
    """
    copied: Any = copy.deepcopy(model)
    copied = copied.to("cpu")
    note = ""
    if form == "bf16":
        copied = copied.to(torch.bfloat16)
    elif form == "int8":
        turned = _linear_for_conv1d(copied)
        copied = _dynamic_int8(copied)  # only nn.Linear is quantised
        note = "GPT-2's Conv1D layers were turned into equal linear layers first." if turned else ""
    return Form(form, copied, _file_size(copied), note)


def _linear_for_conv1d(model: nn.Module) -> bool:
    """Replace each of GPT-2's transposed linear layers by a torch Linear. Returns whether there were any."""
    found = [(name, module) for name, module in model.named_modules() if isinstance(module, Conv1D)]
    for name, module in found:
        rows, columns = module.weight.shape
        linear = nn.utils.skip_init(nn.Linear, rows, columns)
        linear.weight = nn.Parameter(module.weight.detach().T.contiguous(), requires_grad=False)
        linear.bias = nn.Parameter(module.bias.detach(), requires_grad=False)
        parent, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(parent), leaf, linear)
    return bool(found)


def _dynamic_int8(model: nn.Module) -> nn.Module:
    """Quantise every linear map that has weights; one of a layer without heads or neurons has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces that this, and the 8-bit tensors below it, will go: see above
        from torch.ao.quantization import default_dynamic_qconfig, quantize_dynamic

        wanted = {
            name: default_dynamic_qconfig
            for name, module in model.named_modules()
            if type(module) is nn.Linear and module.weight.numel()
        }
        quantised: nn.Module = quantize_dynamic(model, wanted, dtype=torch.qint8, inplace=True)
    return quantised


def _file_size(model: nn.Module) -> int:
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return file.tell()
