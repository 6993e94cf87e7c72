"""How a token of one vocabulary is spelt in the WordPieces of another, and the embeddings that follow from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import torch
from tokenizers.decoders import ByteLevel
from torch import Tensor
from transformers import PreTrainedTokenizerBase

ROLES = ("cls_token", "sep_token", "pad_token", "mask_token", "unk_token", "bos_token", "eos_token")
STAND_INS = {"bos_token": "cls_token", "eos_token": "sep_token"}
"""BERT's vocabulary has no token for these."""


def longest_pieces(text: str, vocabulary: Mapping[str, int], prefix: str = "") -> list[str]:
    """Cut a word into the longest pieces that a WordPiece vocabulary has; empty if it cannot be cut so.

    prefix: `##` where the text continues a word.
    """
    pieces: list[str] = []
    while text:
        size = next((size for size in range(len(text), 0, -1) if prefix + text[:size] in vocabulary), 0)
        if not size:
            return []
        pieces.append(prefix + text[:size])
        prefix, text = "##", text[size:]
    return pieces


def mean_embeddings(source: Tensor, rows: Sequence[Sequence[int]]) -> Tensor:
    """For each row of ids the mean of their embeddings: source (vocabulary, width); returns (len(rows), width)."""
    return torch.stack([source[list(row)].mean(0) for row in rows])


def in_wordpieces(tokenizer: PreTrainedTokenizerBase, wordpiece: PreTrainedTokenizerBase) -> list[list[int]]:
    """The WordPieces whose mean each token of another vocabulary starts at, as ids; one row a token.

    Special tokens go by their role, a token that cannot be spelt is the unknown one. In a vocabulary without capitals a
    word stands for its capitalised form too.
    """
    vocabulary = wordpiece.get_vocab()
    unknown = int(wordpiece.unk_token_id)
    roles = {getattr(tokenizer, role): role for role in reversed(ROLES)}
    rows = []
    for name in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))):
        if name in roles:
            role = roles[name]
            stand_in = getattr(wordpiece, role) or getattr(wordpiece, STAND_INS.get(role, "unk_token"))
            rows.append([vocabulary[stand_in]])
        else:
            rows.append([vocabulary[piece] for piece in _spelt(name, vocabulary)] or [unknown])
    return rows


def _spelt(name: str, vocabulary: Mapping[str, int]) -> list[str]:
    """BERT's pieces of one token. To BERT punctuation is always a word of its own: its ##. is hardly ever trained."""
    if name.startswith("▁"):
        word = name[1:]
        whole = [form for form in dict.fromkeys((word, word.capitalize())) if form in vocabulary]
        if whole:
            return whole
    text = f" {name[1:]}" if name.startswith("▁") else ByteLevel().decode([name]) if not name.isascii() else name
    pieces: list[str] = []
    for number, word in enumerate(re.findall(r"[^\W_]+|[^\w\s]|_", text)):
        goes_on = number == 0 and word.isalnum() and not text.startswith(" ")
        cut = longest_pieces(word, vocabulary, "##") if goes_on and f"##{word}" in vocabulary else []
        pieces += cut or ([word] if word in vocabulary else longest_pieces(word, vocabulary, "##" * goes_on))
    return pieces
