"""The cost of next tokens against a model's own loss, and continuations."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from pretraining.export import export_model
from pretraining.measures import causal
from pretraining.measures.causal import BEGINNINGS, continuations, measure_causal, next_token_loss
from pretraining.measures.measure import Subject, open_subject
from pretraining.vocabularies import cut_merges, gpt2_tokenizer
from tests.pretraining.conftest import tiny_pack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = gpt2_tokenizer(*cut_merges(tiny_pack(), 5))
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=512, n_embd=16, n_layer=1, n_head=2, eos_token_id=2, bos_token_id=2
    )
    model = GPT2LMHeadModel(config)
    torch.nn.init.normal_(model.transformer.wte.weight)
    export_model(model, tokenizer, tmp_path / "gpt2")
    return tmp_path / "gpt2"


@pytest.fixture
def subject(folder: Path, tmp_path: Path) -> Subject:
    """Two documents, the second longer than three windows of 16."""
    (tmp_path / "text.txt").write_text("The cat sat.\n\nThe cat sat on the mat, and the dog sat by it the whole night.")
    return open_subject(folder, tmp_path / "text.txt")


def test_each_token_counts_once_and_sees_what_its_window_holds(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(causal, "WINDOW", 16)
    loss, tokens = next_token_loss(subject)
    assert tokens == len(subject.store.ids)
    total = 0.0
    for first, stop in ((0, 1), (1, subject.store.sentences)):
        ids = [2, *subject.store.between(first, stop)]
        for place in range(1, len(ids)):
            end = 16 if place < 16 else min(len(ids), 16 + 8 * math.ceil((place - 15) / 8))
            seen = ids[max(0, end - 16) : place]
            with torch.inference_mode():
                scores = subject.model(torch.tensor([seen])).logits[0, -1].log_softmax(-1)
            total -= float(scores[ids[place]])
    assert loss == pytest.approx(total / tokens, rel=1e-4)


def test_short_documents_cost_what_the_model_says_itself(subject: Subject) -> None:
    loss, tokens = next_token_loss(subject)
    own = 0.0
    for first, stop in ((0, 1), (1, subject.store.sentences)):
        ids = torch.tensor([[2, *subject.store.between(first, stop)]])
        own += float(subject.model(ids, labels=ids).loss) * (ids.shape[1] - 1)
    assert loss == pytest.approx(own / tokens, rel=1e-4)


def test_perplexity_and_bits_follow_from_the_loss(subject: Subject) -> None:
    found = {measure.name: measure.value for measure in measure_causal(subject)}
    loss, tokens = next_token_loss(subject)
    assert found["perplexity"] == pytest.approx(math.exp(loss))
    assert found["bits_per_byte"] == pytest.approx(loss * tokens / math.log(2) / subject.text.stat().st_size)


def test_twenty_beginnings_are_continued_the_same_each_time(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(set(BEGINNINGS)) == 20
    monkeypatch.setattr(causal, "LONGEST", 4)
    monkeypatch.setattr(causal, "BEGINNINGS", BEGINNINGS[:3])
    first = continuations(subject)
    assert [beginning for beginning, _ in first] == list(BEGINNINGS[:3])
    assert continuations(subject) == first
