"""How the two tokenizers of our own are trained, on a small text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from transformers import AutoTokenizer

from pretraining.tokenizers import lines_of, main, train_byte_level, train_unigram

LINES = [
    "the cat sat on the mat and the dog ran to the house near the old mill",
    "a tokenization is a tokenization",
] * 300


def test_byte_level_merges_begin_with_the_most_frequent_pair_and_reach_the_size() -> None:
    tokenizer = train_byte_level(LINES, 300)
    assert tokenizer.get_vocab_size() == 300
    assert tokenizer.encode("the", add_special_tokens=False).tokens == ["the"]
    assert tokenizer.decode(tokenizer.encode("né 我 😀").ids) == "né 我 😀"


def test_the_unigram_model_leaves_out_the_rarest_letters() -> None:
    tokenizer = train_unigram([*LINES, "one ⵣ letter"], 60)
    assert tokenizer.token_to_id("ⵣ") is None
    assert tokenizer.encode("ⵣ").ids.count(tokenizer.token_to_id("<unk>")) == 1
    assert all(tokenizer.token_to_id(letter) is not None for letter in "thecats")
    pair = tokenizer.encode("the", "cat")
    assert [token for token in pair.tokens if token.startswith("[")] == ["[CLS]", "[SEP]", "[SEP]"]
    assert "".join(token for token in pair.tokens if not token.startswith("[")) == "▁the▁cat"


def test_of_a_large_file_lines_are_taken_evenly(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(f"line {number:04}" for number in range(1000)))
    (tmp_path / "b.txt").write_text("short\n\nfile")
    taken = list(lines_of(sorted(tmp_path.glob("*.txt")), largest=900))
    assert taken[-2:] == ["short", "file"]
    numbers = [int(line.split()[1]) for line in taken[:-2]]
    assert len(numbers) == 100
    assert {after - before for before, after in pairwise(numbers)} == {10}


def test_the_command_writes_two_folders_that_open(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "text.txt").write_text("\n".join(LINES))
    (tmp_path / "corpus" / "wikitext-valid.txt").write_text("unseenword " * 5000)
    main(tmp_path / "corpus", tmp_path, 300)
    for name, sep in (("byte-level-bpe", "</s>"), ("unigram", "[SEP]")):
        tokenizer = AutoTokenizer.from_pretrained(tmp_path / name)
        assert tokenizer.sep_token == sep
        assert tokenizer.model_max_length == 512
        assert len(tokenizer) <= 300
        assert len(tokenizer.tokenize("unseenword")) > 3
