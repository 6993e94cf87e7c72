"""The cache of tokenised text, and what is counted of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerBase

from explorer.objectives.text import TextStore
from pretraining.store import cached_store, fingerprint, load_stores, unigram_counts
from tests.models.tiny import byte_level


def test_a_text_is_tokenised_once_for_each_vocabulary_and_again_when_it_has_changed(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "source.txt", tmp_path / "cache"
    path.write_text("One cat. Two dogs.\n\nThree birds.\n")
    first = cached_store(path, tokenizer, cache)
    with monkeypatch.context() as patch:
        patch.setattr(TextStore, "from_documents", None)
        again = cached_store(path, tokenizer, cache)
    assert first.ids.tolist() == again.ids.tolist()
    assert first.starts.tolist() == again.starts.tolist()
    assert first.documents.tolist() == again.documents.tolist()
    assert first.paragraphs.tolist() == again.paragraphs.tolist()
    assert cached_store(path, byte_level(), cache).ids.tolist() != first.ids.tolist()
    path.write_text("Another text than before.")
    assert tokenizer.decode(cached_store(path, tokenizer, cache).ids) == "Another text than before."
    assert len(list(cache.iterdir())) == 3
    assert fingerprint(tokenizer) != fingerprint(byte_level())


def test_held_out_text_is_not_loaded_and_tokens_are_counted(
    corpus: Path, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    stores = load_stores(corpus, tokenizer, tmp_path)
    assert set(stores) == {"wikitext", "books", "tatoeba"}
    counts = unigram_counts(stores, len(tokenizer))
    assert int(counts.sum()) == sum(len(store.ids) for store in stores.values())
    full_stop = tokenizer.convert_tokens_to_ids(".")
    assert counts[full_stop] == sum(int((store.ids == full_stop).sum()) for store in stores.values())
