"""How a trained model travels: fp16 weights in shards, a config that asks for float32, and a clean tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

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
