"""Where the weights begin: DistilBERT's encoder under BERT's names."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertForMaskedLM, DistilBertModel

from pretraining.starts import distilbert as warm_start
from pretraining.starts.distilbert import dequantized, renamed

DISTIL = DistilBertConfig(vocab_size=50, dim=16, n_layers=3, n_heads=2, hidden_dim=32, max_position_embeddings=20)
BERT = BertConfig(
    vocab_size=50,
    hidden_size=16,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=20,
)


def test_every_encoder_weight_finds_its_place_in_bert() -> None:
    torch.manual_seed(0)
    weights, bert = DistilBertModel(DISTIL).state_dict(), BertModel(BERT).state_dict()
    names = renamed(weights)
    assert len(names) == len(weights)
    missing = set(bert) - set(names)
    assert set(names) <= set(bert)
    assert missing == {"embeddings.token_type_embeddings.weight", "pooler.dense.weight", "pooler.dense.bias"}
    assert all(bert[name].shape == value.shape for name, value in names.items())


def test_renamed_weights_compute_what_distilbert_computes() -> None:
    """With segment embeddings of zero the two encoders are the same function."""
    torch.manual_seed(0)
    distil, bert = DistilBertModel(DISTIL).eval(), BertModel(BERT).eval()
    bert.load_state_dict(renamed(distil.state_dict()), strict=False)
    bert.embeddings.token_type_embeddings.weight.data.zero_()
    inputs = torch.randint(0, 50, (2, 9))
    with torch.inference_mode():
        expected = distil(inputs).last_hidden_state
        torch.testing.assert_close(bert(inputs).last_hidden_state, expected, atol=1e-5, rtol=1e-5)


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_start, "BertConfig", lambda **_: BERT)


@pytest.mark.usefixtures("_tiny")
def test_with_the_hub_s_weights_training_begins_where_distilbert_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    distil = DistilBertForMaskedLM(DISTIL).eval()
    torch.nn.init.normal_(distil.vocab_projector.bias)
    torch.nn.init.normal_(distil.vocab_layer_norm.weight)
    monkeypatch.setattr(warm_start, "AutoModelForMaskedLM", SimpleNamespace(from_pretrained=lambda *_, **__: distil))
    model = warm_start.bert_small(tmp_path, torch.ones(50)).eval()
    inputs = torch.randint(0, 50, (2, 9))
    with torch.inference_mode():
        torch.testing.assert_close(model(inputs).prediction_logits, distil(inputs).logits, atol=1e-5, rtol=1e-5)
    assert model.cls.predictions.decoder.weight.data_ptr() == model.bert.embeddings.word_embeddings.weight.data_ptr()


@pytest.mark.usefixtures("_tiny")
def test_without_the_hub_the_first_guesses_are_frequent_tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("no hub")

    encoder = DistilBertModel(DISTIL).state_dict()
    monkeypatch.setattr(warm_start, "AutoModelForMaskedLM", SimpleNamespace(from_pretrained=unreachable))
    monkeypatch.setattr(warm_start, "_package_folder", lambda folder: folder)
    monkeypatch.setattr(warm_start, "dequantized", lambda _: encoder)
    counts = torch.arange(50.0)
    model = warm_start.bert_small(tmp_path, counts)
    shares = ((counts + 0.1) / (counts + 0.1).sum()).double()
    torch.testing.assert_close(model.cls.predictions.bias.double(), shares.log() + 8, atol=1e-5, rtol=0)
    assert torch.equal(model.cls.predictions.transform.dense.weight, torch.eye(16))
    assert not model.bert.embeddings.token_type_embeddings.weight.any()


def test_int8_weights_come_back_as_scale_times_distance_from_zero_point(tmp_path: Path) -> None:
    """A graph with one embedding, one MatMul and one bias, named as the exporter names them."""
    quantized = np.array([[-128, 0, 127], [3, 4, 5]], dtype=np.int8)
    constants = {
        "distilbert.embeddings.word_embeddings.weight_quantized": quantized,
        "distilbert.embeddings.word_embeddings.weight_scale": np.float32(0.5),
        "distilbert.embeddings.word_embeddings.weight_zero": np.int8(3),
        "onnx::MatMul_1_quantized": quantized,
        "onnx::MatMul_1_scale": np.float32(0.25),
        "onnx::MatMul_1_zero": np.int8(0),
        "distilbert.transformer.layer.0.attention.q_lin.bias": np.array([1, 2, 3], dtype=np.float32),
        "classifier.bias": np.array([9], dtype=np.float32),
    }
    path = "/distilbert/transformer/layer.0/attention/q_lin/MatMul"
    word = "distilbert.embeddings.word_embeddings.weight"
    nodes = [
        helper.make_node(
            "DequantizeLinear",
            [f"{word}_{part}" for part in ("quantized", "scale", "zero")],
            [f"{word}_DequantizeLinear_Output"],
        ),
        helper.make_node(
            "DequantizeLinear", [f"onnx::MatMul_1_{part}" for part in ("quantized", "scale", "zero")], ["w1"]
        ),
        helper.make_node("MatMul", ["x", "w1"], [f"{path}_output_0"], name=path),
    ]
    graph = helper.make_graph(
        nodes,
        "tagger",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor_value_info(f"{path}_output_0", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    onnx.save(helper.make_model(graph), str(tmp_path / "tagger.onnx"))
    weights = dequantized(tmp_path / "tagger.onnx")
    real = torch.from_numpy(quantized).float()
    assert set(weights) == {
        "embeddings.word_embeddings.weight",
        "transformer.layer.0.attention.q_lin.weight",
        "transformer.layer.0.attention.q_lin.bias",
    }
    assert torch.equal(weights["embeddings.word_embeddings.weight"], (real - 3) * 0.5)
    assert torch.equal(weights["transformer.layer.0.attention.q_lin.weight"], real.T * 0.25)
    assert weights["transformer.layer.0.attention.q_lin.bias"].tolist() == [1, 2, 3]
