"""The glossary explains in one sentence each what pages say, and nothing that none says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from explorer.glossary import ENTRIES, Entry, as_json
from explorer.labs import LABS
from tests.rows import each_row

ROOT = Path(__file__).resolve().parents[1]
ENTRIES_OF_CONTROLS = [ROOT / "explorer" / "maths" / name for name in ("importance.py", "schemes.py")]
"""What pages say of scores and of masking schemes stands beside their formulas."""
FOLDERS = ("labs", "models/families", "tuning/methods", "runs", "tasks")
"""What pages say of families, of methods and of comparisons stands beside their code."""
SOURCES = [*ENTRIES_OF_CONTROLS, *(path for name in FOLDERS for path in (ROOT / "explorer" / name).rglob("*.py"))]
ON_PAGES = " ".join("\n".join(path.read_text(encoding="utf-8") for path in SOURCES).split())

FIRST_MET = {
    "": {"word piece"},
    "masking": {"token", "[MASK]", "masked", "piece", "vocabulary", "head", "hidden state", "softmax", "loss"},
    "inputs": {"token", "piece", "vocabulary", "embedding", "segment", "position", "LayerNorm", "BPE"},
    "pairs": {"[CLS]", "[SEP]", "segment", "position", "state", "head", "NSP", "cross-entropy"},
    "attention": {"attention", "head", "layer", "query", "key", "value", "token", "residual connection"},
    "pretrain": {"pretraining", "epoch", "step", "batch", "learning rate", "warm-up", "seed", "held out", "checkpoint"},
    "finetune": {"fine-tuning", "full fine-tuning", "LoRA", "adapter", "prefix", "frozen", "parameters", "accuracy"},
    "generation": {"causal", "temperature", "top-k", "top-p", "BLEU", "ROUGE-L"},
    "delta": {"rank", "spectrum", "singular values", "energy", "layer", "query"},
    "distillation": {"teacher", "student", "soft targets", "temperature", "label"},
    "pruning": {"pruning", "importance", "head", "neuron", "gradient", "quantisation"},
    "replaced": {"generator", "discriminator", "masked"},
}
"""Page -> words of it that a newcomer meets first."""


def explained_on(slug: str) -> list[Entry]:
    return [entry for entry in ENTRIES if not entry.pages or slug in entry.pages]


@each_row("entry", ENTRIES, ids=lambda entry: f"{entry.word} {' '.join(entry.pages)}")
def test_an_entry_is_one_sentence_about_a_word_of_the_pages(entry: Entry) -> None:
    assert re.fullmatch(r"[A-Z].{20,118}[.?]", entry.says), entry.says
    assert not re.search(r"(?<!et al)[.?!] ", entry.says), "more than one sentence"
    assert re.search(
        rf"(?<!\w){re.escape(entry.word)}" if entry.word.isascii() else entry.word, ON_PAGES, re.IGNORECASE
    )
    assert set(entry.pages) <= {lab.slug for lab in LABS}


def test_a_word_means_one_thing_on_a_page() -> None:
    for slug in ("", *(lab.slug for lab in LABS)):
        forms = [form.lower() for entry in explained_on(slug) for form in (entry.word, *entry.also)]
        assert sorted(forms) == sorted(set(forms)), slug


@each_row("slug", FIRST_MET)
def test_the_words_that_a_newcomer_meets_first_are_explained(slug: str) -> None:
    assert FIRST_MET[slug] <= {entry.word for entry in explained_on(slug)}


@each_row("word", ["head", "key", "value", "step", "piece", "state", "weights", "label", "loss"])
def test_words_of_everyday_are_explained_only_where_they_mean_something_else(word: str) -> None:
    assert all(entry.pages for entry in ENTRIES if entry.word == word)


@each_row("word", ["nats", "logit", "rollout", "rank", "ρ", "Spearman-Brown", "BA", "φ", "Frobenius", "ξ", "log-odds"])
def test_the_words_that_readers_stumbled_over_are_explained(word: str) -> None:
    assert word in {entry.word for entry in ENTRIES}


def test_the_script_gets_every_entry_and_cannot_be_ended_by_one() -> None:
    assert [entry["word"] for entry in json.loads(as_json())] == [entry.word for entry in ENTRIES]
    assert "<" not in as_json()
