"""How much to mask: each rate against transformers' own loss, the counts, what is refused, and how it is shown."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

import explorer
from explorer.errors import ExplorerError
from explorer.labs.masking import rate_figures as figures
from explorer.labs.masking import rate_jobs
from explorer.labs.masking.rate import (
    BERTS,
    COMPARED,
    IN_A_ROW,
    RATES,
    SENTENCES,
    STORM,
    Measured,
    RatesResult,
    texts_of,
)
from explorer.labs.masking.rate_jobs import ENOUGH_TOKENS, MOST_DRAWS, _Reader
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.encoding import encode
from explorer.models.hiding import Masker
from explorer.models.loaded_model import LoadedModel
from explorer.text import split_sentences
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

TEXTS = (STORM, "The keys are on the table.")


def draws_of(loaded: LoadedModel, rows: list[Any], rate: float, seed: int) -> list[Any]:
    masker, generator = Masker(loaded.tokenizer), torch.Generator().manual_seed(seed)
    return [masker.corrupt(row.input_ids, CorruptionRecipe(rate, 1.0, 0.0), generator, row.word_ids) for row in rows]


@torch.inference_mode()
def test_a_rate_is_what_the_model_s_own_loss_and_whole_head_give(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_jobs, "ENOUGH_TOKENS", 300)
    monkeypatch.setattr(rate_jobs, "CHUNK_TOKENS", 120)
    reader = _Reader(loaded, TEXTS)
    assert len(reader.rows) > 2 * len(TEXTS), "in more than one pass"
    found = reader.at(0.4, seed=5)
    drawn = draws_of(loaded, reader.rows, 0.4, 5)
    shown = pad_sequence([one.input_ids for one in drawn], True, 0)
    labels = pad_sequence([one.labels for one in drawn], True, IGNORED_LABEL)
    seen = (torch.arange(shown.shape[1]) < torch.tensor([len(row.tokens) for row in reader.rows])[:, None]).long()
    output = loaded.model(input_ids=shown, attention_mask=seen, labels=None)
    loss = torch.nn.functional.cross_entropy(output.prediction_logits.flatten(0, 1), labels.flatten())
    chosen = labels != IGNORED_LABEL
    right = (output.prediction_logits.argmax(-1) == labels)[chosen].float().mean()
    assert set(shown[chosen].tolist()) == {loaded.tokenizer.mask_token_id}
    assert found.chosen == int(chosen.sum())
    assert found.loss == pytest.approx(float(loss), rel=1e-4)
    assert found.accuracy == pytest.approx(float(right))
    assert 0 < found.off < found.loss


@torch.inference_mode()
def test_with_more_of_it_hidden_less_is_named(loaded: LoadedModel) -> None:
    reader = _Reader(loaded, texts_of("")[:4])
    low, high = reader.at(BERTS, 0), reader.at(0.8, 0)
    assert high.loss > low.loss + 1
    assert high.accuracy < low.accuracy / 2
    assert high.cost < low.cost


def test_so_many_are_chosen_as_the_masker_rounds(tiny_model: str) -> None:
    text = "the cat sat on a mat . the cat sat on the mat"
    answer = explorer.run("masking_rates", models=tiny_model, text=text)
    assert answer.table.columns[:5] == ("model", "rate", "chosen", "accuracy", "loss")
    result = answer.result
    (count,) = {one.tokens for one in result.measured}
    own = count / MOST_DRAWS
    assert own == len(text.split())
    assert [one.rate for one in result.measured] == list(RATES)
    assert [one.chosen for one in result.measured] == [MOST_DRAWS * max(1, round(rate * own)) for rate in RATES]
    assert result.is_done


def test_a_low_rate_s_masks_are_among_those_of_a_higher_one(loaded: LoadedModel) -> None:
    rows = [encode(loaded, text) for text in TEXTS * 3]
    chosen = [[one.labels != IGNORED_LABEL for one in draws_of(loaded, rows, rate, 3)] for rate in RATES]
    for low, high in pairwise(chosen):
        assert all(bool((more | ~less).all()) for less, more in zip(low, high, strict=True))


def test_the_bundled_rows_are_long_enough_for_the_lowest_rate(loaded: LoadedModel) -> None:
    rows = texts_of("")
    assert len(rows) == SENTENCES / IN_A_ROW
    assert sum(len(split_sentences(row)) for row in rows) > 0.9 * SENTENCES
    counts = [sum(word is not None for word in encode(loaded, row).word_ids) for row in rows]
    assert min(counts) > 2 / RATES[0]
    assert sum(counts) == pytest.approx(ENOUGH_TOKENS, rel=0.1)


@each_row(
    ("given", "said"),
    [
        ({"models": ()}, "models takes one to 4 names"),
        ({"models": "a, b, c, d, e"}, "models takes one to 4 names"),
        ({"models": "gpt2-mini"}, "gpt2-mini cannot fill masks"),
        ({"models": "TINY", "text": "[MASK] [SEP]"}, "special tokens only"),
        ({"models": "TINY", "text": "the cat " * 400}, "tokens long"),
        ({"models": "TINY", "seed": -1}, "seed must be a whole number"),
    ],
)
def test_what_cannot_be_measured_is_refused(tiny_model: str, given: dict[str, Any], said: str) -> None:
    named = {key: tiny_model if value == "TINY" else value for key, value in given.items()}
    with pytest.raises(ExplorerError, match=said):
        explorer.run("masking_rates", **named)


def result_of(models: tuple[str, ...], rates: int) -> RatesResult:
    """Each model is a tenth worse than the one before it."""
    measured = [
        Measured(model, rate, round(1000 * rate), 0.5 - 0.1 * place - 0.3 * rate, 3 + place + 4 * rate, 1000, 0.1)
        for rate in RATES[:rates]
        for place, model in enumerate(models)
    ]
    return RatesResult(models, False, tuple(measured))


def test_figure_sentence_and_table_tell_the_same() -> None:
    result = result_of(COMPARED, len(RATES))
    said = figures.rates_sentence(result).striptags()
    assert (
        said == "Of the tokens that it reads, bert-small names most rightly at 80% masked, and not at BERT's own 15%."
    )
    notes = figures.rates_notes(result).striptags()
    assert notes.startswith(
        "bert-small names 45.5% of the hidden tokens at 15% (loss 3.60 nats) and 26.0% at 80% (6.20)."
    )
    assert "20 at 5%, 6.67 at 15%, 1.25 at 80%" in notes
    assert "Of every 100 tokens read bert-small names 6.82 rightly at 15% and 20.8 rightly at 80%. Of what it" in notes
    assert notes.endswith("Large models trained at 40% do better than at 15% (Wettig et al. 2023).")
    figure = assert_draws(figures.rates_figure(result))
    accuracy, _, cost, right, _ = figure.data
    assert tuple(accuracy.y) == pytest.approx([one.accuracy for one in result.of("bert-small")])
    assert tuple(right.y) == pytest.approx([100 * one.accuracy * one.rate for one in result.of("bert-small")])
    assert tuple(cost.y) == pytest.approx([1 / rate for rate in RATES])
    assert {shape.x0 for shape in figure.layout.shapes} == {BERTS}
    table = figures.rates_table(result)
    assert len(table.rows) == 2 * len(RATES)
    assert table.rows[0][:3] == ("bert-small", 0.05, 50)
    assert table.rows[0][-1] == pytest.approx(100 * table.rows[0][3] * 0.05)
    assert not figures.rates_bar(result)


def measured_at(*accuracies: float) -> RatesResult:
    """A model that was asked at every rate, with these accuracies."""
    pairs = zip(RATES, accuracies, strict=True)
    measured = tuple(Measured("bert-mini", rate, round(1000 * rate), right, 3.0, 1000, 0.1) for rate, right in pairs)
    return RatesResult(("bert-mini",), False, measured)


def test_the_sentence_says_where_most_is_named_rightly_and_the_notes_what_comes_close() -> None:
    result = measured_at(0.5, 0.5, 0.5, 0.4, 0.4, 0.28, 0.1, 0.05)  # 12 of 100 at 30%, 11.2 at 40%
    said, notes = figures.rates_sentence(result).striptags(), figures.rates_notes(result).striptags()
    assert said == "Of the tokens that it reads, bert-mini names most rightly at 30% masked, and not at BERT's own 15%."
    assert "names 7.5 rightly at 15% and 12 rightly at 30%. Of what it names rightly, 11.2 at 40% is within" in notes
    usual = measured_at(0.5, 0.5, 0.5, 0.1, 0.06, 0.05, 0.01, 0.01)
    said = "Of the tokens that it reads, bert-mini names most rightly at BERT's own 15%."
    assert figures.rates_sentence(usual).striptags() == said
    assert "bert-mini names 7.5 rightly at 15%. Large models" in figures.rates_notes(usual)
    assert "within the errors" not in figures.rates_notes(usual)
    nothing = measured_at(*[0.0] * len(RATES))
    assert "names 0.00% of the hidden tokens at BERT's own rate" in figures.rates_sentence(nothing).striptags()
    assert "within the errors" not in figures.rates_notes(nothing)
    assert figures.rates_notes(nothing).striptags().endswith("(Wettig et al. 2023).")


@pytest.mark.parametrize(
    ("accuracies", "said"),
    [
        (
            (0.1, 0.1, 0.4, 0.31, 0.1, 0.1, 0.1, 0.05),
            "names most rightly at 20% masked, hardly more than at BERT's own 15%.",
        ),
        ((0.1, 0.1, 0.4, 0.3, 0.2, 0.1, 0.1, 0.05), "names as many rightly at BERT's own 15% as at any other rate."),
        (
            (0.1, 0.1, 0.1, 0.1, 0.4, 0.3, 0.2, 0.1),
            "names most rightly at 30% masked already, and not at BERT's own 15%.",
        ),
    ],
)
def test_a_peak_that_others_share_is_not_said_to_be_alone(accuracies: tuple[float, ...], said: str) -> None:
    assert figures.rates_sentence(measured_at(*accuracies)).striptags().endswith(said)


@pytest.mark.parametrize("rates", [1, 3])
def test_what_has_come_so_far_is_shown(rates: int) -> None:
    result = result_of(("bert-mini",), rates)
    assert_draws(figures.rates_figure(result))
    assert f"at {RATES[rates - 1]:.0%}" in figures.rates_notes(result)
    reached = RATES[rates - 1]
    said = "at BERT's own rate" if reached >= BERTS else f"at a rate of {reached:.0%}."
    assert said in figures.rates_sentence(result).striptags()
    assert ("at the highest" in figures.rates_sentence(result)) is (reached > BERTS)
    assert "most" not in figures.rates_sentence(result), "the peak may be still to come"
    assert f"{rates} of {len(RATES)} rates" in figures.rates_bar(result)


@each_row("text", HOSTILE)
def test_a_model_s_name_stays_text(text: str) -> None:
    assert_safe(figures.rates_sentence(result_of((text,), 3)), "hidden tokens")
