"""A trained BERT in the form of its relatives: what they compute before any training is what it computes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertForPreTraining,
    ElectraConfig,
    ElectraModel,
    PreTrainedTokenizerBase,
)

from explorer.errors import ModelUnavailableError
from pretraining.starts.pieces import _spelt, in_wordpieces, longest_pieces, mean_embeddings
from pretraining.starts.transplant import (
    _least_squares,
    albert_layer,
    factors,
    fill_factorised,
    load,
    load_tokenizer,
    located,
    mapped_words,
)
from pretraining.vocabularies import unigram_tokenizer
from tests.models.tiny import byte_level
from tests.pretraining.conftest import tiny_model


@pytest.fixture
def bert() -> BertForPreTraining:
    torch.manual_seed(0)
    model = tiny_model(40, layers=3).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model


def test_truncated_factors_are_the_best_of_their_width_for_frequent_tokens() -> None:
    torch.manual_seed(0)
    words, counts = torch.randn(30, 12), torch.arange(30.0)
    narrow, basis = factors(words, 5, counts)
    torch.testing.assert_close(basis @ basis.T, torch.eye(5), atol=1e-5, rtol=0)
    weight = (counts + 1).sqrt()[:, None]
    lost = float((weight * (words - narrow @ basis)).pow(2).sum())
    singular = torch.linalg.svdvals(weight * words)
    assert lost == pytest.approx(float(singular[5:].pow(2).sum()), rel=1e-4)


def test_factors_do_not_hang_on_the_signs_that_an_svd_leaves_open() -> None:
    torch.manual_seed(0)
    words, counts = torch.randn(30, 12), torch.arange(30.0)
    (narrow, basis), (turned, same) = factors(words, 5, counts), factors(-words, 5, counts)
    torch.testing.assert_close(same, basis)
    torch.testing.assert_close(turned, -narrow)


def test_an_empty_direction_of_the_inputs_is_given_no_weight() -> None:
    """A LayerNorm's outputs sum to zero but for rounding; whatever is fitted to that sum is noise."""
    torch.manual_seed(0)
    inputs = torch.nn.functional.layer_norm(torch.randn(500, 8), (8,))
    wanted = torch.randn(8, 3)
    fitted = _least_squares(inputs, inputs @ wanted)
    torch.testing.assert_close(fitted, wanted - wanted.mean(0), atol=1e-4, rtol=1e-4)


def test_factorised_embeddings_of_full_width_give_electra_bert_s_own_sums(bert: BertForPreTraining) -> None:
    """At full width nothing is cut off: the map undoes the rotation and what the two LayerNorms differ in."""
    config = {"num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64}
    electra = ElectraModel(ElectraConfig(vocab_size=40, embedding_size=31, hidden_size=32, **config)).eval()
    words = bert.bert.embeddings.word_embeddings.weight.detach()
    basis = fill_factorised(electra.embeddings, electra.embeddings_project, bert, words, torch.ones(40))
    assert basis.shape == (31, 32)
    ids = torch.arange(20)[None]
    with torch.inference_mode():
        expected = bert.bert.embeddings(ids)
        found = electra.embeddings_project(electra.embeddings(ids))
    assert float((found - expected).pow(2).mean() / expected.pow(2).mean()) < 0.1
    assert torch.nn.functional.cosine_similarity(found, expected, dim=-1).min() > 0.9


def test_albert_s_layer_computes_what_bert_s_does(bert: BertForPreTraining) -> None:
    albert = AlbertModel(
        AlbertConfig(
            vocab_size=40,
            embedding_size=16,
            hidden_size=32,
            num_attention_heads=2,
            intermediate_size=64,
            hidden_act="gelu",
            layer_norm_eps=bert.config.layer_norm_eps,
        )
    ).eval()
    layer = albert.encoder.albert_layer_groups[0].albert_layers[0]
    layer.load_state_dict(albert_layer(bert, 1))
    states = torch.randn(2, 7, 32)
    with torch.inference_mode():
        expected, found = bert.bert.encoder.layer[1](states), layer(states)
    expected, found = (value[0] if isinstance(value, tuple) else value for value in (expected, found))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


VOCABULARY = {piece: number for number, piece in enumerate(("the", "The", "wal", "walk", "##ing", "##s", "s"))}


@pytest.mark.parametrize(
    ("text", "prefix", "pieces"),
    [
        ("walks", "", ["walk", "##s"]),
        ("ings", "##", ["##ing", "##s"]),
        ("ing", "", []),
        ("", "", []),
        ("the", "", ["the"]),
    ],
)
def test_words_are_cut_into_the_longest_pieces(text: str, prefix: str, pieces: list[str]) -> None:
    assert longest_pieces(text, VOCABULARY, prefix) == pieces


def test_byte_level_tokens_are_spelt_as_words_or_as_continuations(tokenizer: PreTrainedTokenizerBase) -> None:
    reader = byte_level()
    spelt = dict(
        zip(reader.convert_ids_to_tokens(list(range(len(reader)))), in_wordpieces(reader, tokenizer), strict=True)
    )
    names = {name: tokenizer.convert_ids_to_tokens(row) for name, row in spelt.items()}
    assert names["Ġcat"] == ["cat"]
    assert names["at"] == ["##at"]
    assert names["."] == ["."]
    assert names["Ã"] == ["[UNK]"]
    assert (names["<s>"], names["</s>"], names["<mask>"], names["<pad>"]) == (
        ["[CLS]"],
        ["[SEP]"],
        ["[MASK]"],
        ["[PAD]"],
    )


@pytest.mark.parametrize(
    ("token", "pieces"),
    [
        (".", ["."]),
        ("Ġ(", ["("]),
        ("'s", ["'", "s"]),
        ("ing", ["##ing"]),
        ("Ġriver", ["river"]),
        (".[", [".", "["]),
        ("1985", ["1985"]),
        ("▁paris", ["Paris"]),
        ("▁river", ["river", "River"]),
        ("Ċ", []),
        ("Ġdon't", ["don", "'", "t"]),
    ],
)
def test_punctuation_is_a_word_of_its_own(token: str, pieces: list[str], tokenizer: PreTrainedTokenizerBase) -> None:
    assert _spelt(token, tokenizer.get_vocab()) == pieces


def test_words_of_a_vocabulary_without_capitals_stand_for_both_cases(
    tokenizer: PreTrainedTokenizerBase, corpus: Path
) -> None:
    reader = unigram_tokenizer(corpus, 90)
    rows = in_wordpieces(reader, tokenizer)
    spelt = dict(zip(reader.convert_ids_to_tokens(list(range(len(reader)))), rows, strict=True))
    assert tokenizer.convert_ids_to_tokens(spelt["▁the"]) == ["the", "The"]
    assert all(rows)


def test_embeddings_are_the_mean_of_the_pieces(tokenizer: PreTrainedTokenizerBase) -> None:
    bert = tiny_model(len(tokenizer))
    words = mapped_words(bert, tokenizer, byte_level())
    source = bert.bert.embeddings.word_embeddings.weight.detach()
    assert torch.equal(words[byte_level().get_vocab()["Ġcat"]], source[tokenizer.get_vocab()["cat"]])
    torch.testing.assert_close(mean_embeddings(source, [[1, 2], [3]])[0], (source[1] + source[2]) / 2)


def test_a_model_is_looked_for_among_the_finished_then_the_bundled_ones(models: Path) -> None:
    assert located("bert-mini", models) == str(models / "bert-mini")
    assert located("bert-small", models).endswith("assets/models/bert-small")
    assert located("google-bert/bert-base-cased", models) == "google-bert/bert-base-cased"


def test_what_is_nowhere_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="train it first"):
        load(str(tmp_path / "nothing"), tmp_path, BertForPreTraining)
    with pytest.raises(ModelUnavailableError, match="tokenizer"):
        load_tokenizer(str(tmp_path / "nothing"), tmp_path)
