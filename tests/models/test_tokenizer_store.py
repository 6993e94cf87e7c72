"""Tokenizers without their models: found, fetched without weights, opened once, refused with a sentence."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.errors import ModelUnavailableError
from explorer.models import hub as hub_module
from explorer.models import tokenizer_store
from explorer.models.catalog import OWN_TOKENIZERS
from explorer.models.folders import local_folder
from explorer.models.hub import download, tokenizer_folder
from explorer.models.loaded_model import load_model
from explorer.models.tokenizer_store import MOST_OPEN, Opening, OpenTokenizer, TokenizerStore, load_tokenizer
from explorer.settings import BUNDLED_TOKENIZERS, Settings
from tests.models.fake_hub import FakeHub, Faults
from tests.rows import each_row

OFFLINE = Settings(device="cpu", offline=True)


@pytest.mark.parametrize("name", OWN_TOKENIZERS)
def test_our_own_are_small_and_open_without_a_network(name: str) -> None:
    opened = load_tokenizer(name, OFFLINE)
    assert len(opened.tokenizer) == 16_000
    assert opened.tokenizer("a text").input_ids
    assert (BUNDLED_TOKENIZERS / name / "tokenizer.json").stat().st_size < 1_500_000
    assert name in (BUNDLED_TOKENIZERS / "README.md").read_text(encoding="utf-8")


def test_our_own_keep_every_text_that_they_know() -> None:
    text = "An unbelievable tokenization, isn't it? 1024 words."
    for name in OWN_TOKENIZERS:
        tokenizer = load_tokenizer(name, OFFLINE).tokenizer
        assert tokenizer.decode(tokenizer(text, add_special_tokens=False).input_ids) == text


def test_a_bundled_model_s_tokenizer_is_that_of_the_model() -> None:
    assert load_tokenizer("bert-small", OFFLINE).tokenizer("a text").input_ids[0] == 101


def test_a_folder_s_tokenizer_needs_no_weights_and_no_config(bert_folder: Path, tmp_path: Path) -> None:
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / file).write_bytes((bert_folder / file).read_bytes())
    opened = load_tokenizer(str(tmp_path), OFFLINE)
    assert opened.tokenizer.tokenize("the cat sat") == ["the", "cat", "sat"]


def test_the_hub_s_is_fetched_without_the_weights_and_then_found(
    hub: FakeHub, settings: Settings, bert_folder: Path
) -> None:
    hub.add("owner/tiny", bert_folder)
    opened = load_tokenizer("owner/tiny", settings)
    assert opened.tokenizer.tokenize("the cat sat") == ["the", "cat", "sat"]
    assert not any(name.endswith(".safetensors") for name in hub.fetched())
    assert local_folder("owner/tiny", settings) is None  # the model itself is not here
    before = len(hub.requests)
    assert tokenizer_folder("owner/tiny", replace(settings, offline=True)) == tokenizer_folder("owner/tiny", settings)
    assert len(hub.requests) == before


def test_a_model_whose_tokenizer_came_first_can_still_be_downloaded(
    hub: FakeHub, settings: Settings, bert_folder: Path
) -> None:
    hub.add("owner/tiny", bert_folder)
    load_tokenizer("owner/tiny", settings)
    assert [progress.share for progress in download("owner/tiny", settings)][-1] == 1.0
    assert load_model("owner/tiny", settings).tokenizer.tokenize("cat") == ["cat"]


def test_a_model_of_another_family_may_lend_its_tokenizer(hub: FakeHub, settings: Settings, bert_folder: Path) -> None:
    files = hub.add("owner/other", bert_folder)
    files["config.json"] = b'{"model_type": "t5"}'
    assert load_tokenizer("owner/other", settings).tokenizer.tokenize("the cat") == ["the", "cat"]


def test_what_has_no_tokenizer_says_so(hub: FakeHub, settings: Settings, bert_folder: Path) -> None:
    files = hub.add("owner/bare", bert_folder)
    for name in [name for name in files if "token" in name]:
        del files[name]
    with pytest.raises(ModelUnavailableError, match="has no tokenizer"):
        load_tokenizer("owner/bare", settings)


def test_a_tokenizer_of_many_megabytes_is_not_fetched(
    hub: FakeHub, settings: Settings, bert_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("owner/large", bert_folder)
    monkeypatch.setattr(hub_module, "LARGEST_TOKENIZER_BYTES", 100)
    with pytest.raises(ModelUnavailableError, match="too large"):
        load_tokenizer("owner/large", settings)


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        load_tokenizer(str(tmp_path), OFFLINE)


@each_row(
    ("name", "says"),
    [
        ("google-bert/bert-base-uncased", "HF_HUB_OFFLINE is set"),
        ("nobody", "HF_HUB_OFFLINE is set"),
        ("/no/such/folder", "no tokenizer in the folder"),
        ("~nobody/there", "no tokenizer in the folder"),
        ("a/b/c", "no tokenizer in the folder"),
        ("x" * 300, "."),
        ("../" * 90, "no tokenizer in the folder"),
        ("bad name!", "."),
    ],
)
def test_a_name_that_leads_nowhere_gets_a_sentence(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=says):
        load_tokenizer(name, replace(OFFLINE, hub_cache=tmp_path))


def test_a_tokenizer_of_a_model_that_is_not_on_the_servers_list_is_refused() -> None:
    closed = replace(OFFLINE, hub_allowed=("google-bert/*",))
    with pytest.raises(ModelUnavailableError, match="EXPLORER_HUB_ALLOW"):
        load_tokenizer("someone/tiny-bert", closed)
    load_tokenizer("bert-mini", closed)


def test_a_server_that_opens_no_folders_opens_none(bert_folder: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="does not open folders"):
        load_tokenizer(str(bert_folder), replace(OFFLINE, local_folders=False))


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        (Faults(api=(404, "RepoNotFound")), "no model called"),
        (Faults(api=(500, None)), "answered with an error"),
        (Faults(api=(403, "GatedRepo")), "gated"),
        (Faults(login_page=True), "what answered is not a model hub"),
    ],
)
def test_a_hub_that_fails_is_explained(
    hub: FakeHub, settings: Settings, bert_folder: Path, faults: Faults, says: str
) -> None:
    hub.add("owner/tiny", bert_folder)
    hub.faults = faults
    with pytest.raises(ModelUnavailableError, match=says):
        load_tokenizer("owner/tiny", settings)


def test_a_tokenizer_is_opened_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    gate = threading.Barrier(4)

    def slow(name: str, settings: Settings) -> OpenTokenizer:
        calls.append(name)
        return load_tokenizer(name, settings)

    monkeypatch.setattr(tokenizer_store, "load_tokenizer", slow)
    store = TokenizerStore(OFFLINE)

    def ask(_: int) -> OpenTokenizer:
        gate.wait()
        return store.get("unigram")

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(ask, range(4)))
    assert calls == ["unigram"]
    assert all(answer is answers[0] for answer in answers)


def test_the_least_recently_used_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = load_tokenizer("unigram", OFFLINE).tokenizer
    monkeypatch.setattr(tokenizer_store, "load_tokenizer", lambda name, settings: OpenTokenizer(name, tokenizer))
    store = TokenizerStore(OFFLINE)
    first = store.get("0")
    for number in range(1, MOST_OPEN):
        store.get(str(number))
    assert store.get("0") is first
    store.get("one more")
    assert store.get("0") is first
    second = store.get("1")
    assert store.get("1") is second


def test_an_opening_remembers_what_was_refused() -> None:
    opening = Opening(TokenizerStore(OFFLINE))
    assert opening("unigram").name == "unigram"
    assert opening.refused == []
    with pytest.raises(ModelUnavailableError):
        opening("google-bert/bert-base-uncased")
    assert opening.refused == ["google-bert/bert-base-uncased"]


def test_a_description_is_what_the_file_says() -> None:
    opened = load_tokenizer("byte-level-bpe", OFFLINE)
    assert opened.description["model"]["type"] == "BPE"
    assert len(opened.description["model"]["vocab"]) == 16_000
    assert opened.description is opened.description
