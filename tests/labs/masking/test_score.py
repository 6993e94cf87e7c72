"""Sentences scored: against plain transformers row by row, and against the true log-likelihood by its loss."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BertForMaskedLM, PreTrainedTokenizerBase

import explorer
from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.masking import score_jobs as jobs
from explorer.labs.masking.minimal import KINDS, PAIRS
from explorer.labs.masking.score import MOST_SENTENCES, MOST_TOKENS, ScoreParams, aligned, differences
from explorer.models import batching
from explorer.models.loaded_model import LoadedModel
from explorer.settings import BUNDLED_MODELS
from tests.labs.masking.samples import scored_sentence
from tests.rows import each_row

RARE = "She saw an orangutan."


def by_hand(model: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase, hidden: list[int], text: str) -> float:
    """ln p of the first hidden token, in a pass of its own."""
    inputs = tokenizer(text, return_tensors="pt")
    truth = int(inputs["input_ids"][0, hidden[0]])
    inputs["input_ids"][0, hidden] = tokenizer.mask_token_id
    with torch.no_grad():
        return float(model(**inputs).logits[0, hidden[0]].double().log_softmax(-1)[truth])


@pytest.mark.parametrize("masking", ["token", "rest_of_word"])
def test_every_token_is_what_one_pass_with_its_mask_says(
    loaded: LoadedModel, masked_lm: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase, masking: str
) -> None:
    tokens = jobs.scored(loaded, RARE, masking).tokens
    words = tokenizer(RARE).word_ids()
    assert [token.position for token in tokens] == list(range(1, len(words) - 1))
    assert any(token.joined for token in tokens)
    for token in tokens:
        later = [place for place in range(token.position + 1, len(words)) if words[place] == words[token.position]]
        hidden = [token.position, *(later if masking == "rest_of_word" else [])]
        assert token.log_probability == pytest.approx(by_hand(masked_lm, tokenizer, hidden, RARE), abs=1e-4)


def test_chunks_change_nothing(loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = jobs.scored(loaded, RARE, "token")
    monkeypatch.setattr(batching, "CHUNK_TOKENS", 20)
    parts = jobs.scored(loaded, RARE, "token")
    assert [t.log_probability for t in parts.tokens] == pytest.approx(
        [t.log_probability for t in whole.tokens], abs=1e-4
    )


def test_pieces_in_view_give_a_word_away(loaded: LoadedModel) -> None:
    alone, together = (jobs.scored(loaded, RARE, masking) for masking in ("token", "rest_of_word"))
    assert alone.total > together.total + 1
    for one, other in zip(alone.tokens, together.tokens, strict=True):
        if one.text in ("She", "saw", "an", "."):
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)


def test_a_model_that_writes_has_its_loss_as_true_log_likelihood() -> None:
    sentence = "The keys are on the table."
    answer = explorer.run("score_sentences", model="gpt2-mini", sentences=[sentence])
    scores = answer.result.own
    assert scores.causal
    assert answer.result.beside is None
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / "gpt2-mini")
    model = AutoModelForCausalLM.from_pretrained(BUNDLED_MODELS / "gpt2-mini", dtype=torch.float32).eval()
    ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(sentence)["input_ids"]]])
    with torch.no_grad():
        loss = float(model(input_ids=ids, labels=ids).loss)
    assert scores.sentences[0].total == pytest.approx(-loss * (ids.shape[1] - 1), rel=1e-4)
    assert scores.sentences[0].perplexity == pytest.approx(torch.tensor(loss).exp().item(), rel=1e-4)


def test_the_true_log_likelihood_stands_beside() -> None:
    both = explorer.run("score_sentences", sentences="The dog barked.\nThe dog sang.").result
    alone = explorer.run("score_sentences", model="gpt2-mini", sentences="The dog barked.\nThe dog sang.").result
    assert (both.own.model, both.beside.model) == ("bert-small", "gpt2-mini")
    assert both.beside == alone.own
    assert explorer.run("score_sentences", sentences="The dog barked.", beside="").result.beside is None


def test_what_is_aligned_adds_up_to_the_difference() -> None:
    first = scored_sentence("The man whom I met", -1, -2, -7, -1, -3)
    second = scored_sentence("The man I met there", -1.5, -2, -1, -3, -4)
    rows = aligned(first, second)
    assert [(a.text if a else "", b.text if b else "") for a, b in rows] == [
        ("The", "The"), ("man", "man"), ("whom", ""), ("I", "I"), ("met", "met"), ("", "there"),
    ]  # fmt: skip
    assert sum(differences(rows)) == pytest.approx(first.total - second.total)
    assert differences(rows)[2] == -7
    assert differences(rows)[5] == 4


def test_pairs_differ_in_one_thing_and_each_kind_has_ten() -> None:
    assert [sum(pair.kind == kind for pair in PAIRS) for kind in KINDS] == [10, 10, 10]
    assert len({sentence for pair in PAIRS for sentence in (pair.better, pair.worse)}) == 60
    for pair in PAIRS:
        better, worse = (sentence.lower().rstrip(".!?").split() for sentence in (pair.better, pair.worse))
        if pair.kind == "word order":
            assert sorted(better) == sorted(worse), pair
        else:
            assert sum(one != other for one, other in zip(better, worse, strict=True)) == 1, pair


def test_bert_small_ranks_most_minimal_pairs_right() -> None:
    answer = explorer.run("score_minimal_pairs")
    assert len(answer.table.rows) == 30
    assert answer.result.is_done
    assert answer.result.right() >= 24
    assert answer.result.right() == sum(row[-1] == "yes" for row in answer.table.rows)
    assert sum(answer.result.right(kind) for kind in KINDS) == answer.result.right()


@each_row(
    ("given", "said"),
    [
        ("", "Type a sentence first"),
        ("\n \n", "Type a sentence first"),
        ("One.\n" * (MOST_SENTENCES + 1), f"at most {MOST_SENTENCES}"),
        ("It rains.\nThe [MASK] sat.", "Sentence 2 has a blank"),
        (["It rains.", 5], "hand over a list"),
    ],
)
def test_sentences_that_have_no_score_are_refused(given: Any, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        ScoreParams(sentences=given)


def test_a_sentence_that_is_too_long_or_has_no_word_is_named(loaded: LoadedModel) -> None:
    with pytest.raises(BadInputError, match=f"Sentence 2 has .* at most {MOST_TOKENS}"):
        jobs.scored(loaded, "on and " * 40, "token", 2)
    with pytest.raises(BadInputError, match="special tokens only"):
        jobs.scored(loaded, "[SEP]", "token")


def test_a_model_without_such_a_head_is_refused() -> None:
    for given in ({"model": "electra-mini-discriminator"}, {"beside": "bert-mini"}):
        with pytest.raises(MissingCapabilityError):
            explorer.run("score_sentences", sentences="It rains.", **given)
