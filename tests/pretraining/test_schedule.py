"""Stages, learning rate and the stream of batches."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerBase

from explorer.maths.corruption import IGNORED_LABEL
from explorer.objectives.batches import Batch
from explorer.objectives.rows import Drawer
from explorer.objectives.text import TextStore
from pretraining import stream as streaming
from pretraining.recipes import RECIPES, Stage, TrainingRecipe
from pretraining.schedule import rate_factor, stage_at
from pretraining.store import load_stores
from pretraining.stream import BatchStream

TEXT_ONLY = Stage(share=0.5, length=32, text=1.0, sentence=0.0, pair=0.0)
SENTENCES_ONLY = Stage(share=0.25, length=64, text=0.0, sentence=1.0, pair=0.0)
PAIRS_ONLY = Stage(share=0.25, length=48, text=0.0, sentence=0.0, pair=1.0)
RECIPE = TrainingRecipe(
    name="tiny",
    stages=(TEXT_ONLY, SENTENCES_ONLY, PAIRS_ONLY),
    source_weights={"wikitext": 0.9, "books": 0.1},
    tokens_per_step=480,
    sentence_length=16,
    warmup_share=0.1,
)


@pytest.fixture(scope="module")
def stores(
    corpus: Path, tokenizer: PreTrainedTokenizerBase, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, TextStore]:
    return load_stores(corpus, tokenizer, tmp_path_factory.mktemp("tokens"))


@pytest.fixture
def stream(stores: dict[str, TextStore], tokenizer: PreTrainedTokenizerBase) -> BatchStream:
    return BatchStream(RECIPE, stores, tokenizer)


@pytest.mark.parametrize(
    ("progress", "stage"),
    [(0.0, 0), (0.49, 0), (0.5, 1), (0.74, 1), (0.75, 2), (0.999, 2), (1.0, 2), (1.5, 2)],
)
def test_stages_follow_each_other_by_their_shares(progress: float, stage: int) -> None:
    assert stage_at(RECIPE, progress) is RECIPE.stages[stage]


def test_the_learning_rate_rises_to_its_peak_and_falls_to_zero_in_straight_lines() -> None:
    assert [rate_factor(RECIPE, progress) for progress in (0.0, 0.05, 0.1, 0.55, 1.0)] == pytest.approx(
        [0.0, 0.5, 1.0, 0.5, 0.0]
    )
    factors = [rate_factor(RECIPE, progress) for progress in np.linspace(0, 1, 201)]
    assert max(factors) == pytest.approx(1.0)
    assert min(factors) >= 0.0


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_shares_of_a_published_recipe_add_up(recipe: TrainingRecipe) -> None:
    assert sum(stage.share for stage in recipe.stages) == pytest.approx(1.0)
    for stage in recipe.stages:
        assert stage.text + stage.sentence + stage.pair == pytest.approx(1.0)
        assert stage.length <= 512
    assert sum(recipe.source_weights.values()) == pytest.approx(1.0)


def test_bert_mini_begins_with_mlm_alone_and_ends_with_long_rows_that_are_mostly_pairs() -> None:
    recipe = RECIPES["bert-mini"]
    assert (recipe.start, recipe.learning_rate, recipe.corruption.rate) == ("minilm", 6e-4, 0.3)
    first, *_, last = recipe.stages
    assert (first.pair, last.length) == (0.0, 128)
    assert last.pair > 0.5


def same(first: Batch, second: Batch) -> bool:
    return all(torch.equal(value, vars(second)[name]) for name, value in vars(first).items())


@pytest.mark.parametrize("stage", RECIPE.stages, ids=["text", "sentence", "pair"])
def test_a_draw_depends_on_seed_and_step_alone(
    stream: BatchStream, stores: dict[str, TextStore], tokenizer: PreTrainedTokenizerBase, stage: Stage
) -> None:
    later, third = stream.draw(9, stage), stream.draw(3, stage)
    torch.manual_seed(99)
    np.random.seed(99)
    fresh = BatchStream(RECIPE, stores, tokenizer)
    assert same(third, fresh.draw(3, stage))
    assert same(later, fresh.draw(9, stage))
    assert not same(third, later)
    other = BatchStream(dataclasses.replace(RECIPE, seed=1), stores, tokenizer)
    assert not torch.equal(originals(third)[0], originals(other.draw(3, stage))[0])


def originals(batch: Batch) -> torch.Tensor:
    """The text before its corruption."""
    return torch.where(batch.labels >= 0, batch.labels, batch.input_ids)


def test_every_step_of_every_seed_is_corrupted_by_draws_of_its_own(
    stores: dict[str, TextStore], tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(streaming, "collate", lambda *given: seeds.append(given[-1].initial_seed()))
    for seed in (0, 1):
        stream = BatchStream(dataclasses.replace(RECIPE, seed=seed), stores, tokenizer)
        for step in range(5):
            stream.draw(step, TEXT_ONLY)
    assert len(set(seeds)) == 10


def test_a_step_has_as_many_rows_as_fit_its_tokens(stream: BatchStream) -> None:
    assert len(stream.draw(0, TEXT_ONLY).input_ids) == 480 // 32
    assert len(stream.draw(0, SENTENCES_ONLY).input_ids) == 480 // 16
    assert len(stream.draw(0, PAIRS_ONLY).input_ids) == 480 // 48
    for stage, longest in ((TEXT_ONLY, 32), (SENTENCES_ONLY, 16), (PAIRS_ONLY, 48)):
        assert all(stream.draw(step, stage).input_ids.shape[1] <= longest for step in range(20))


def test_only_pairs_have_pair_labels(stream: BatchStream) -> None:
    assert set(stream.draw(0, TEXT_ONLY).pair_labels.tolist()) == {IGNORED_LABEL}
    assert set(stream.draw(0, SENTENCES_ONLY).pair_labels.tolist()) == {IGNORED_LABEL}
    labels = [label for step in range(10) for label in stream.draw(step, PAIRS_ONLY).pair_labels.tolist()]
    assert set(labels) == {0, 1}


def test_a_mixed_stage_draws_every_kind_about_as_often_as_it_says(stream: BatchStream) -> None:
    mixed = Stage(share=1.0, length=32, text=0.5, sentence=0.25, pair=0.25)
    batches = [stream.draw(step, mixed) for step in range(120)]
    paired = sum(bool((batch.pair_labels >= 0).all()) for batch in batches)
    short = sum(len(batch.input_ids) == 30 for batch in batches)
    assert 15 <= paired <= 45
    assert 15 <= short <= 45


def test_rows_of_text_are_of_every_kind_about_as_often_as_a_stage_says(
    stores: dict[str, TextStore], tokenizer: PreTrainedTokenizerBase
) -> None:
    drawn: list[str] = []

    def drawer(kind: str) -> Drawer:
        return lambda maker, store, length, rng: drawn.append(kind) or maker.running(store, length, rng)

    kinds = ("text", "new_names", "twice", "pair")
    stream = BatchStream(RECIPE, stores, tokenizer, {kind: drawer(kind) for kind in kinds})
    stage = dataclasses.replace(TEXT_ONLY, text=0.8, pair=0.2, new_names=0.4, twice=0.2)
    for step in range(200):
        stream.draw(step, stage)
    text = [kind for kind in drawn if kind != "pair"]
    assert len(text) / len(drawn) == pytest.approx(0.8, abs=0.15)
    assert [text.count(kind) / len(text) for kind in kinds] == pytest.approx([0.4, 0.4, 0.2, 0.0], abs=0.05)


def test_single_sentences_are_told_from_running_text_by_their_documents(
    stream: BatchStream, stores: dict[str, TextStore]
) -> None:
    assert stream.short == [stores["tatoeba"]]
    assert stream.long == [stores["books"], stores["wikitext"]]
    assert stream.weights == pytest.approx([0.1, 0.9])


def test_a_corpus_of_one_source_serves_for_everything(
    stores: dict[str, TextStore], tokenizer: PreTrainedTokenizerBase
) -> None:
    for name in ("books", "tatoeba"):
        stream = BatchStream(RECIPE, {name: stores[name]}, tokenizer)
        assert len(stream.draw(0, TEXT_ONLY).input_ids) == 15
        assert len(stream.draw(0, SENTENCES_ONLY).input_ids) == 30
