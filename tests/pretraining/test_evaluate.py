"""The measures of a pretrained model: rigged models with known answers, and an independent count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.encoding import replacement_ids
from explorer.pretraining import cloze
from explorer.pretraining import evaluate as evaluation
from explorer.pretraining.batches import IS_NEXT, NOT_NEXT, RowMaker, TextStore, collate
from explorer.pretraining.corpus import read_documents
from explorer.pretraining.evaluate import Scores, all_rows, evaluate


def rig(model: BertForPreTraining, *best: int, pair_class: int = IS_NEXT) -> None:
    """Every mask is guessed as `best`, the first far ahead, and every pair as one class."""
    with torch.no_grad():
        model.cls.predictions.bias.zero_()
        for rank, token in enumerate(best):
            model.cls.predictions.bias[token] = 100.0 - 10 * rank
        model.cls.seq_relationship.bias.copy_(torch.tensor([100.0, 0.0] if pair_class == IS_NEXT else [0.0, 100.0]))


@pytest.fixture
def monotonous(tmp_path: Path) -> Path:
    """Three documents of one token, 80 times, in two paragraphs each: a rigged model can know every answer."""
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join(["the " * 50 + "\n" + "the " * 30] * 3))
    return path


def ids_of(tokenizer: PreTrainedTokenizerBase, words: str) -> list[int]:
    return tokenizer.convert_tokens_to_ids(words.split())


@pytest.mark.parametrize(
    ("guesses", "top_1", "top_5"),
    [("the", 1.0, 1.0), ("a in of to the", 0.0, 1.0), ("a in of to and", 0.0, 0.0), ("a the", 0.0, 1.0)],
)
def test_a_rigged_model_scores_what_it_was_rigged_for(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    monotonous: Path,
    guesses: str,
    top_1: float,
    top_5: float,
) -> None:
    rig(model, *ids_of(tokenizer, guesses))
    scores = evaluate(model, tokenizer, monotonous, length=32, pairs=4)
    assert (scores.top_1, scores.top_5) == (top_1, top_5)
    assert (scores.mlm_loss < 0.01) == (top_1 == 1.0)
    assert scores.tokens == 3 * sum(round(0.15 * tokens) for tokens in (30, 30, 20))


def test_pairs_are_scored_against_their_labels(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, monotonous: Path
) -> None:
    """A model that always says the same is right on that class's share, counted here from the rows."""
    store = TextStore.from_documents(read_documents(monotonous), tokenizer)
    maker = RowMaker(tokenizer.cls_token_id, tokenizer.sep_token_id)

    def labels(short_share: float) -> list[int]:
        rng = np.random.default_rng(0)
        return [maker.pair(store, 32, rng, short_share).pair_label for _ in range(70)]

    assert set(labels(0.0)) == set(labels(1.0)) == {IS_NEXT, NOT_NEXT}
    for pair_class in (IS_NEXT, NOT_NEXT):
        rig(model, pair_class=pair_class)
        scores = evaluate(model, tokenizer, monotonous, length=32, pairs=70)
        assert scores.pairs == 70
        assert scores.pair_accuracy == pytest.approx(labels(0.0).count(pair_class) / 70)
        assert scores.sentence_pair_accuracy == pytest.approx(labels(1.0).count(pair_class) / 70)


def test_an_independent_count_agrees(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the model's own forward and over all positions, where evaluate runs the heads by hand on the chosen ones."""
    rig(model, *ids_of(tokenizer, ". the near stood A was"))
    text = corpus / "wikitext.txt"
    monkeypatch.setattr(evaluation, "ROWS_PER_BATCH", 5)
    scores = evaluate(model.eval(), tokenizer, text, length=32, pairs=4)
    store = TextStore.from_documents(read_documents(text), tokenizer)
    rows = all_rows(store, RowMaker(tokenizer.cls_token_id, tokenizer.sep_token_id), 32)
    assert len(rows) == 16
    generator = torch.Generator().manual_seed(0)
    hits, hits_5, total, loss = 0, 0, 0, 0.0
    for first in range(0, len(rows), 5):
        part = rows[first : first + 5]
        batch = collate(part, CorruptionRecipe(), tokenizer, replacement_ids(tokenizer), generator)
        with torch.inference_mode():
            logits = model(batch.input_ids, batch.attention_mask, batch.token_type_ids).prediction_logits
        for row, labels in zip(logits.log_softmax(-1), batch.labels, strict=True):
            for scored, label in zip(row, labels.tolist(), strict=True):
                if label != IGNORED_LABEL:
                    rank = int((scored > scored[label]).sum())
                    hits, hits_5, total = hits + (rank == 0), hits_5 + (rank < 5), total + 1
                    loss -= float(scored[label])
    assert 0 < hits < hits_5 < total == scores.tokens
    assert (scores.top_1, scores.top_5) == (hits / total, hits_5 / total)
    assert scores.mlm_loss == pytest.approx(loss / total, rel=1e-4)


def test_every_token_of_the_text_is_in_one_row(tokenizer: PreTrainedTokenizerBase, corpus: Path) -> None:
    store = TextStore.from_documents(read_documents(corpus / "wikitext.txt"), tokenizer)
    rows = all_rows(store, RowMaker(tokenizer.cls_token_id, tokenizer.sep_token_id), 16)
    assert [token for row in rows for token in row.input_ids[1:-1]] == store.ids.tolist()
    assert max(len(row.input_ids) for row in rows) == 16


def test_the_measure_is_the_same_each_time_and_leaves_the_model_training(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, monotonous: Path
) -> None:
    model.train()
    first = evaluate(model, tokenizer, monotonous, length=32, pairs=10)
    assert model.training
    assert evaluate(model.eval(), tokenizer, monotonous, length=32, pairs=10) == first
    assert not model.training


def test_a_text_of_one_document_says_what_is_missing(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text("One book. Without an empty line. It goes on.")
    with pytest.raises(BadInputError, match="two documents"):
        evaluate(model, tokenizer, tmp_path / "text.txt", pairs=2)


def test_scores_print_in_percent() -> None:
    text = str(
        Scores(top_1=0.5, top_5=0.75, mlm_loss=2.0, tokens=8, pair_accuracy=0.25, sentence_pair_accuracy=0.5, pairs=4)
    )
    assert text.startswith("MLM top-1 50.00%, top-5 75.00%, loss 2.000 nats over 8 tokens; NSP 25.00% over 4 pairs")
    assert text.endswith("50.00% over as many pairs of single sentences")


def test_the_fifty_sentences_have_one_blank_and_an_answer_of_one_token_each(tokenizer: PreTrainedTokenizerBase) -> None:
    assert len(cloze.SENTENCES) == len({sentence for sentence, _ in cloze.SENTENCES}) == 50
    for sentence, accepted in cloze.SENTENCES:
        assert sentence.count("[MASK]") == 1
        assert any(len(tokenizer.tokenize(word)) == 1 for word in accepted.split())


def test_the_report_counts_leaders_and_those_among_five(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rig(model, *ids_of(tokenizer, "key tea east days cow"))
    monkeypatch.setattr(cloze, "load", lambda _: (model.eval(), tokenizer))
    monkeypatch.setattr(
        cloze, "SENTENCES", (("A [MASK].", "key lock"), ("The [MASK].", "coffee east"), ("[MASK].", "x"))
    )
    cloze.report(Path("anywhere"))
    lines = capsys.readouterr().out.splitlines()
    assert [line[0] for line in lines[:3]] == ["*", " ", " "]
    assert "key 100.0%  tea 0.0%" in lines[0]
    assert lines[-1] == "an accepted answer leads in 1 of 3, is among five in 2"
