"""How a trained model travels: fp16 weights in shards, a config that asks for float32, and a clean tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.models.folders import write_sums

SHARD = "90MB"
ASKED = ("is_local", "local_files_only")
"""What transformers writes into a tokenizer's settings about the call that read it."""


def export_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, output: Path) -> None:
    """Save model and tokenizer as plain `from_pretrained` reads them: fp16 safetensors in shards under 95 MB.

    The config asks for float32, so that a plain load computes in it: fp16 is how the weights travel, not how they run.
    """
    half = type(model)(model.config).half()
    half.load_state_dict(model.state_dict())
    half.tie_weights()
    half.save_pretrained(output, max_shard_size=SHARD)
    config = json.loads((output / "config.json").read_text())
    (output / "config.json").write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n")
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    _save_tokenizer(tokenizer, model, output)
    for file in output.iterdir():
        file.chmod(0o644)
    write_sums(output)


def overwrite(folder: Path, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors in the place of those of the same names in a finished model's files; every other byte stays.

    They are rounded to the type that is stored there. A file is replaced only once the new one is complete.
    Raises BadInputError if a name is not there with this shape.
    """
    left = dict(tensors)
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            about = file.metadata()
        new = {name: left.pop(name).to(stored[name].dtype) for name in sorted(left.keys() & stored.keys())}
        if wrong := [name for name, tensor in new.items() if tensor.shape != stored[name].shape]:
            raise BadInputError(f"{wrong[0]} of {folder.name} has another shape.")
        if new:
            save_file(stored | new, path.with_suffix(".partial"), about)
            path.with_suffix(".partial").chmod(0o644)
            path.with_suffix(".partial").rename(path)
    write_sums(folder)
    if left:
        raise BadInputError(f"{folder.name} has no {', '.join(left)}.")


def _save_tokenizer(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel, output: Path) -> None:
    """A tokenizer of a model without segments gives none, as those of published DistilBERTs and RoBERTas do.

    How a tokenizer that was itself read from a folder was asked for is not kept.
    """
    tokenizer.save_pretrained(output)
    settings = json.loads((output / "tokenizer_config.json").read_text())
    settings = {name: value for name, value in settings.items() if name not in ASKED}
    if getattr(model.config, "type_vocab_size", 0) < 2:
        settings["model_input_names"] = ["input_ids", "attention_mask"]
    (output / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
