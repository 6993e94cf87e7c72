"""Tokenizers without their models: a few hundred kilobytes each, opened once and shared by every visitor."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from explorer.errors import ExplorerError, ModelUnavailableError
from explorer.lru_cache import LRUCache
from explorer.models.catalog import OWN_TOKENIZERS
from explorer.models.checksums import check_sums
from explorer.models.hub import tokenizer_folder
from explorer.models.loaded_model import check_tokenizer
from explorer.settings import BUNDLED_TOKENIZERS, Settings

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
