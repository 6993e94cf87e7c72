"""The vocabularies of the relatives: a byte-level BPE (RoBERTa, GPT-2) and a unigram one (ALBERT)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import GPT2Tokenizer, PreTrainedTokenizerFast, RobertaTokenizer

from explorer.errors import BadInputError
from pretraining.corpus import SOURCES

ROBERTA_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""RoBERTa's first four ids; <mask> is its last."""
MASK = "<mask>"
ALBERT_SPECIAL = ("<pad>", "<unk>", "[CLS]", "[SEP]")
"""ALBERT's first four ids; [MASK] is its fifth."""
LONGEST = 512
CHARACTERS_A_SOURCE = 6_000_000
"""How much of each text the unigram vocabulary is learned from; more costs minutes and changes little."""


def cut_merges(tokenizer: dict[str, Any], merges: int) -> tuple[dict[str, int], list[Any]]:
    """The vocabulary and the first `merges` merges of a byte-level BPE, as a smaller one has them.

    tokenizer: the parsed tokenizer.json. A merge's pieces come from the bytes and from merges before it, so the first ones
    are closed in themselves; every byte stays, and with them every text can be written. Ids follow the order of the large
    vocabulary, with RoBERTa's special tokens at their places.
    """
    pairs = [
        tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in tokenizer["model"]["merges"]
    ]
    kept = pairs[:merges]
    wanted = {*pre_tokenizers.ByteLevel.alphabet(), *(left + right for left, right in kept)}
    order = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    names = [*ROBERTA_SPECIAL, *(name for name, _ in order if name in wanted), MASK]
    return {name: number for number, name in enumerate(names)}, kept


def roberta_tokenizer(vocabulary: dict[str, int], merges: list[Any]) -> RobertaTokenizer:
    """RoBERTa's tokenizer over a byte-level vocabulary; its mask swallows the space before it."""
    mask: Any = AddedToken(MASK, lstrip=True, special=True)
    return RobertaTokenizer(vocab=vocabulary, merges=merges, mask_token=mask, model_max_length=LONGEST)


def gpt2_tokenizer(vocabulary: dict[str, int], merges: list[Any], longest: int = LONGEST) -> GPT2Tokenizer:
    """GPT-2's tokenizer over the same vocabulary; RoBERTa's </s> ends a text. longest: in tokens."""
    ends = dict.fromkeys(("bos_token", "eos_token"), "</s>")
    return GPT2Tokenizer(
        vocab=vocabulary, merges=merges, unk_token="<unk>", pad_token="<pad>", model_max_length=longest, **ends
    )


def unigram_tokenizer(corpus: Path, size: int) -> PreTrainedTokenizerFast:
    """Learn a unigram vocabulary (Kudo 2018) of `size` from a folder of texts, in ALBERT's form.

    As ALBERT's: lower case, no accents, ▁ before a word, [CLS] A [SEP] B [SEP]. Punctuation stands alone, as SentencePiece
    keeps scripts apart. Raises BadInputError if there is no text.
    """
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace("``", '"'),
            normalizers.Replace("''", '"'),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(r"\s+"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Split(Regex(r"▁?[^\w\s▁]"), "isolated")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    mask = AddedToken("[MASK]", lstrip=True, special=True)
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=[*ALBERT_SPECIAL, mask], unk_token="<unk>", show_progress=False
    )
    lines = itertools.chain.from_iterable(_beginning(path) for path in _texts(corpus))
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return as_albert(tokenizer)


def as_albert(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """ALBERT's special tokens around a backend; its file is all that plain AutoTokenizer needs."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="[CLS]",
        eos_token="[SEP]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token=AddedToken("[MASK]", lstrip=True, special=True),
        model_max_length=LONGEST,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def _texts(corpus: Path) -> list[Path]:
    held_out = {source.name for source in SOURCES if source.held_out}
    paths = [path for path in sorted(corpus.glob("*.txt")) if path.stem not in held_out]
    if not paths:
        raise BadInputError(f"{corpus} holds no text: run `python -m pretraining corpus` first.")
    return paths


def _beginning(path: Path) -> Iterator[str]:
    """The lines of a text's first CHARACTERS_A_SOURCE characters, empty ones left out."""
    seen = 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            seen += len(line)
            if seen > CHARACTERS_A_SOURCE:
                return
            if line.strip():
                yield line.strip()
