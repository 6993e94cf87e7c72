"""Models of every family, a few kilobytes each and with random weights, made on the fly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import BertTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from explorer.models.families import Architecture, by_family
from explorer.settings import BUNDLED_MODELS

LONGEST = 24
LONGEST_IN_BYTES = 64
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    *SPECIAL,
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "##s",
    "##ting",
    "sit",
    ".",
    ",",
    "<",
    ">",
    "/",
    "script",
    "我",
)
BYTE_LEVEL_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
MERGES = (("t", "h"), ("th", "e"), ("Ġ", "c"), ("a", "t"), ("Ġc", "at"))

_SIZES: dict[str, dict[str, Any]] = {
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64, "max_position_embeddings": LONGEST},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": LONGEST},
}
_PADDING = {"roberta": 1, "xlm-roberta": 1, "camembert": 1}
"""RoBERTa counts its positions from the padding token's id, which is 1 in every published one."""

_USUAL_SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": LONGEST,
}
_SPECIAL_IDS = {"bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}


def wordpiece(longest: int = LONGEST) -> BertTokenizer:
    return BertTokenizer(vocab={word: number for number, word in enumerate(WORDS)}, model_max_length=longest)


def byte_level(longest: int = LONGEST_IN_BYTES) -> PreTrainedTokenizerFast:
    """As RoBERTa's: every byte is a token, and a few merges make longer ones."""
    pieces = [*BYTE_LEVEL_SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in MERGES)]
    backend = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, list(MERGES)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = dict(
        zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), BYTE_LEVEL_SPECIAL, strict=True)
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, cls_token="<s>", sep_token="</s>", model_max_length=longest, **names
    )


def build(architecture: Architecture, class_name: str | None = None, **changes: Any) -> PreTrainedModel:
    """A random model of a family, in the class that the app uses for it or in another one."""
    torch.manual_seed(0)
    model_class = getattr(transformers, class_name or architecture.model_class)
    sizes = _SIZES.get(architecture.model_type, _USUAL_SIZES)
    tokens = {"vocab_size": len(WORDS), **_SPECIAL_IDS, "pad_token_id": _PADDING.get(architecture.model_type, 0)}
    return model_class(model_class.config_class(**{**sizes, **tokens, **changes}))


def save(folder: Path, family: str = "BERT", class_name: str | None = None, **changes: Any) -> Path:
    """Write a model and its tokenizer as save_pretrained does."""
    build(by_family(family), class_name, **changes).save_pretrained(folder)
    wordpiece().save_pretrained(folder)
    return folder


def save_byte_level(folder: Path) -> Path:
    """A RoBERTa whose tokenizer works on bytes."""
    sizes = {"vocab_size": len(byte_level()), "max_position_embeddings": LONGEST_IN_BYTES + 2}
    build(by_family("RoBERTa"), eos_token_id=2, **sizes).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return folder


def save_reader(model_class: str, folder: Path) -> str:
    """A BERT that reads any text, since its tokenizer is the bundled model's; returns the folder as a visitor types it."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(BUNDLED_MODELS / "bert-small")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    getattr(transformers, model_class)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
