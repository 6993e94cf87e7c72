"""Fifty everyday sentences, answered by a rigged model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.errors import MissingCapabilityError
from pretraining import cloze
from pretraining.export import export_model
from tests.models.tiny import save


def test_the_fifty_sentences_have_one_blank_and_an_answer_of_one_token_each(tokenizer: PreTrainedTokenizerBase) -> None:
    assert len(cloze.SENTENCES) == len({sentence for sentence, _ in cloze.SENTENCES}) == 50
    for sentence, accepted in cloze.SENTENCES:
        assert sentence.count("[MASK]") == 1
        assert any(len(tokenizer.tokenize(word)) == 1 for word in accepted.split())


@pytest.fixture
def rigged(model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> Path:
    """Every blank is guessed as key, then tea, east, days and cow."""
    with torch.no_grad():
        for rank, token in enumerate(tokenizer.convert_tokens_to_ids(["key", "tea", "east", "days", "cow"])):
            model.cls.predictions.bias[token] = 100.0 - 10 * rank
    export_model(model, tokenizer, tmp_path / "rigged")
    return tmp_path / "rigged"


def test_the_report_counts_leaders_and_those_among_five(
    rigged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        cloze, "SENTENCES", (("A [MASK].", "key lock"), ("The [MASK].", "coffee east"), ("[MASK].", "x"))
    )
    cloze.report(rigged)
    lines = capsys.readouterr().out.splitlines()
    assert [line[0] for line in lines[:3]] == ["*", " ", " "]
    assert "key 100.0%  tea 0.0%" in lines[0]
    assert lines[-1] == "an accepted answer leads in 1 of 3, is among five in 2"


def test_a_model_without_a_masked_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingCapabilityError):
        cloze.report(save(tmp_path / "gpt2", "GPT-2"))
