"""Tokenizers without their models: a few hundred kilobytes each, opened once and shared by every visitor; and their kinds,
as a tokenizer.json tells them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from explorer.errors import ExplorerError, ModelUnavailableError
from explorer.lru_cache import LRUCache
from explorer.models.catalog import OWN_TOKENIZERS
from explorer.models.folders import check_sums
from explorer.models.hub import tokenizer_folder
from explorer.models.loaded_model import check_tokenizer
from explorer.settings import BUNDLED_TOKENIZERS, Settings


def is_byte_level(description: Mapping[str, Any]) -> bool:
    """Return whether a tokenizer turns its text into bytes before it cuts."""
    return any(_holds(description.get(stage), "ByteLevel") for stage in ("normalizer", "pre_tokenizer"))


def kind_of(description: Mapping[str, Any]) -> str:
    """Return the method's name: WordPiece, byte-level BPE, SentencePiece BPE, SentencePiece unigram and the like."""
    method = str(description["model"]["type"])
    if is_byte_level(description):
        return f"byte-level {method}"
    if method in ("BPE", "Unigram"):
        # Metaspace writes a space as ▁, as SentencePiece does.
        pieces = any(_holds(description.get(stage), "Metaspace") for stage in ("pre_tokenizer", "decoder"))
        return ("SentencePiece " if pieces else "") + ("BPE" if method == "BPE" else "unigram")
    return method


def _holds(stage: Any, kind: str) -> bool:
    """Return whether a stage of the pipeline, or one inside it, is of a kind."""
    if not isinstance(stage, dict):
        return False
    inside = [*stage.get("normalizers", ()), *stage.get("pretokenizers", ()), *stage.get("decoders", ())]
    return stage.get("type") == kind or any(_holds(part, kind) for part in inside)


MOST_OPEN = 24


@dataclass(frozen=True)
class OpenTokenizer:
    """A tokenizer under the name that a visitor gave: a model of the catalog, a hub id, a folder, or one of our own."""

    name: str
    tokenizer: PreTrainedTokenizerBase

    @property
    def backend(self) -> Any:
        """The Rust tokenizer, which normalises, splits and cuts."""
        return self.tokenizer.backend_tokenizer

    @cached_property
    def description(self) -> dict[str, Any]:
        """The contents of its tokenizer.json: normalizer, pre_tokenizer, model (with its vocabulary, merges or scores)
        and so on.
        """
        described: dict[str, Any] = json.loads(self.backend.to_str())
        return described


def load_tokenizer(name: str, settings: Settings) -> OpenTokenizer:
    """Open a tokenizer, fetching its files if needed. Raises ModelUnavailableError with what to do."""
    folder = BUNDLED_TOKENIZERS / name if name in OWN_TOKENIZERS else tokenizer_folder(name, settings)
    check_sums(name, folder, only=("tokenizer.json", "tokenizer_config.json"))
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # what the many formats raise has no base in common
        raise ModelUnavailableError(
            f"The tokenizer of {name} cannot be read here. It must be a fast one, with a tokenizer.json or a vocabulary."
        ) from error
    check_tokenizer(name, tokenizer)
    return OpenTokenizer(name, tokenizer)


class TokenizerStore:
    """Open tokenizers, least recently used first; safe to use from many threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open = LRUCache(MOST_OPEN)

    def get(self, name: str) -> OpenTokenizer:
        """Return the tokenizer of a name, opened at most once however many ask at the same time."""
        opened: OpenTokenizer = self._open.get(name, lambda: load_tokenizer(name, self._settings))
        return opened


class Opening:
    """A job's way to tokenizers: a call returns the tokenizer of a name, and names that could not be opened are remembered."""

    def __init__(self, store: TokenizerStore) -> None:
        self._store = store
        self.refused: list[str] = []

    def __call__(self, name: str) -> OpenTokenizer:
        """Return the tokenizer of a name. Raises ExplorerError."""
        try:
            return self._store.get(name)
        except ExplorerError:
            self.refused.append(name)
            raise
