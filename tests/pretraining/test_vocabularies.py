"""The vocabularies of the relatives: bytes that write every text, and pieces in ALBERT's form."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AlbertConfig, AutoTokenizer, GPT2Config, PretrainedConfig, RobertaConfig

from explorer.errors import BadInputError
from explorer.models.hiding import Masker
from pretraining.vocabularies import cut_merges, gpt2_tokenizer, roberta_tokenizer, unigram_tokenizer
from tests.pretraining.conftest import tiny_pack

ODD = "Żółć 東京 🤖  two\n\ttabs\x00\u200d end"


def test_a_cut_vocabulary_keeps_the_bytes_the_first_merges_and_roberta_s_places() -> None:
    vocabulary, merges = cut_merges(tiny_pack(), 3)
    assert merges == [("t", "h"), ("th", "e"), ("Ġ", "c")]
    assert len(vocabulary) == 5 + 256 + 3
    assert [vocabulary[name] for name in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    assert vocabulary["<mask>"] == len(vocabulary) - 1
    assert sorted(vocabulary.values()) == list(range(len(vocabulary)))
    assert {"the", "Ġc"} <= set(vocabulary)
    assert "Ġcat" not in vocabulary


def test_merges_may_be_written_as_strings_too() -> None:
    pack = tiny_pack()
    pack["model"]["merges"] = [
        merge if isinstance(merge, str) else " ".join(merge) for merge in pack["model"]["merges"]
    ]
    assert cut_merges(pack, 3) == cut_merges(tiny_pack(), 3)


@pytest.mark.parametrize(("make", "config"), [(roberta_tokenizer, RobertaConfig()), (gpt2_tokenizer, GPT2Config())])
def test_byte_level_tokenizers_are_read_by_plain_autotokenizer_and_lose_nothing(
    make: object, config: PretrainedConfig, tmp_path: Path
) -> None:
    tokenizer = make(*cut_merges(tiny_pack(), 5))  # type: ignore[operator]
    tokenizer.save_pretrained(tmp_path)
    config.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    ids = again(ODD, add_special_tokens=False)["input_ids"]
    assert again.decode(ids, clean_up_tokenization_spaces=False) == ODD
    assert again.unk_token_id not in ids
    assert ids == tokenizer(ODD, add_special_tokens=False)["input_ids"]
    assert again.eos_token_id == 2
    assert again.model_max_length == 512


def test_roberta_s_mask_swallows_the_space_before_it() -> None:
    tokenizer = roberta_tokenizer(*cut_merges(tiny_pack(), 5))
    names = tokenizer.convert_ids_to_tokens(tokenizer("the <mask>.")["input_ids"])
    assert names == ["<s>", "the", "<mask>", ".", "</s>"]


def test_a_unigram_vocabulary_has_albert_s_form_and_is_read_by_plain_autotokenizer(
    corpus: Path, tmp_path: Path
) -> None:
    unigram_tokenizer(corpus, 90).save_pretrained(tmp_path)
    AlbertConfig().save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again.convert_ids_to_tokens([0, 1, 2, 3, 4]) == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    assert len(again) <= 90
    pair = again("The river.", "A stone")
    names = again.convert_ids_to_tokens(pair["input_ids"])
    assert (names[0], names[-1], names.count("[SEP]")) == ("[CLS]", "[SEP]", 2)
    assert pair["token_type_ids"] == [0] * (names.index("[SEP]") + 1) + [1] * (len(names) - names.index("[SEP]") - 1)
    assert again.decode(pair["input_ids"], skip_special_tokens=True) == "the river. a stone"
    masked = again.convert_ids_to_tokens(again("the [MASK].")["input_ids"])
    assert masked[-3:] == ["[MASK]", ".", "[SEP]"]
    assert again("Thé   RIVER")["input_ids"] == again("the river")["input_ids"]
    assert not {name for name in again.get_vocab() if name.endswith(".") and name.strip("▁.")}


def test_held_out_text_is_not_learned_from_and_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="corpus"):
        unigram_tokenizer(tmp_path, 50)
    (tmp_path / "wikitext-valid.txt").write_text("held out")
    with pytest.raises(BadInputError, match="corpus"):
        unigram_tokenizer(tmp_path, 50)


def test_unigram_pieces_are_grouped_by_their_mark_and_punctuation_stands_alone(corpus: Path) -> None:
    reader = unigram_tokenizer(corpus, 90)
    ids = reader("The farmer. stood near.")["input_ids"]
    grouped: dict[int, str] = {}
    for name, word in zip(reader.convert_ids_to_tokens(ids), Masker(reader).words(ids), strict=True):
        if word is not None:
            grouped[word] = grouped.get(word, "") + name
    assert [word.replace("▁", "") for word in grouped.values()] == ["the", "farmer", ".", "stood", "near", "."]
