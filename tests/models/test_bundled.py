"""The bundled model keeps what its card promises: its size, its ties, both heads, and some everyday knowledge."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer, BertForPreTraining

from explorer.pretraining.cloze import SENTENCES
from explorer.settings import BUNDLED_MODELS

FOLDER = BUNDLED_MODELS / "bert-small"
BERTS = ("bert-small", "bert-mini")
MEGABYTE = 1e6


@pytest.fixture(scope="module")
def model() -> BertForPreTraining:
    loaded, report = AutoModelForPreTraining.from_pretrained(FOLDER, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    return loaded.eval()


def by_formula(vocabulary: int, layers: int, wide: int, inner: int, positions: int) -> int:
    """BERT's parameters, part by part, as the card's table writes them."""
    embeddings = (vocabulary + positions + 2) * wide + 2 * wide
    layer = 4 * (wide**2 + wide) + 2 * wide * inner + inner + wide + 4 * wide
    pooler = wide**2 + wide
    mlm_head = wide**2 + wide + 2 * wide + vocabulary
    return embeddings + layers * layer + pooler + mlm_head + 2 * wide + 2


@pytest.mark.parametrize("name", BERTS)
def test_the_card_the_formula_and_the_count_agree(name: str) -> None:
    model = BertForPreTraining.from_pretrained(BUNDLED_MODELS / name)
    config = model.config
    formula = by_formula(
        config.vocab_size,
        config.num_hidden_layers,
        config.hidden_size,
        config.intermediate_size,
        config.max_position_embeddings,
    )
    assert formula == sum(parameter.numel() for parameter in model.parameters())
    assert f"{formula:,}" in (BUNDLED_MODELS / name / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BERTS)
def test_the_decoder_and_the_embeddings_are_one_storage(name: str) -> None:
    model = BertForPreTraining.from_pretrained(BUNDLED_MODELS / name)
    decoder, embeddings = model.cls.predictions.decoder.weight, model.bert.embeddings.word_embeddings.weight
    assert decoder.data_ptr() == embeddings.data_ptr()


def test_the_files_fit_into_a_repository() -> None:
    sizes = [path.stat().st_size for path in BUNDLED_MODELS.rglob("*") if path.is_file()]
    assert max(sizes) < 95 * MEGABYTE
    assert sum(sizes) < 310 * MEGABYTE


def test_the_two_share_a_vocabulary_so_that_soft_targets_compare() -> None:
    small, mini = (AutoTokenizer.from_pretrained(BUNDLED_MODELS / name) for name in BERTS)
    assert small.get_vocab() == mini.get_vocab()


@torch.inference_mode()
def test_most_everyday_blanks_have_a_sensible_word_among_the_five(model: BertForPreTraining) -> None:
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    found = 0
    for sentence, accepted in SENTENCES:
        batch = tokenizer(sentence, return_tensors="pt")
        place = int((batch["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
        best = model(**batch).prediction_logits[0, place].topk(5).indices.tolist()
        found += any(tokenizer.decode([token]) in accepted.split() for token in best)
    assert found >= 35


@torch.inference_mode()
def test_a_true_sequel_scores_above_a_foreign_sentence(model: BertForPreTraining) -> None:
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    first = "The band released its first album in 1994."
    seconds = ["It sold two million copies in the first year.", "Penguins cannot fly, but they swim well."]
    batch = tokenizer([first, first], seconds, return_tensors="pt", padding=True)
    sequel, foreign = model(**batch).seq_relationship_logits.softmax(-1)[:, 0].tolist()
    assert sequel > 0.5 > foreign
