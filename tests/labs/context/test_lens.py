"""The logit lens for every family with a head that scores tokens, against the model itself."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from transformers import BertForMaskedLM, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.labs.context.lens import (
    MOST_PLACES,
    LayerReading,
    LensParams,
    LensResult,
    Place,
    Standing,
    require_places,
)
from explorer.labs.context.lens_jobs import logit_lens
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES, Capability
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import WORDS, save, save_byte_level, save_reader

FAMILIES = [entry.family for entry in ARCHITECTURES]
TEXT = "the cat sat on [MASK] mat ."
DEPTH = 2
ALL = len(WORDS)


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save(tmp_path_factory.mktemp("lens") / "model", request.param, initializer_range=0.3)
    return load_model(str(folder), Settings(device="cpu"))


@torch.inference_mode()
def lens(loaded: LoadedModel, text: str = TEXT, top_k: int = 5, follow: str = "") -> LensResult:
    return logit_lens(loaded, LensParams(text, top_k, follow))


def head_of(loaded: LoadedModel) -> Capability:
    return next(c for c in (Capability.MLM, Capability.RTD, Capability.CAUSAL) if c in loaded.capabilities)


@torch.inference_mode()
def own_answer(loaded: LoadedModel, text: str) -> np.ndarray:
    """The model's own ln p at each position: (length, classes)."""
    logits = loaded.logits(head_of(loaded), loaded.model(**encode(loaded, text).inputs))[0].double().numpy()
    if head_of(loaded) is Capability.RTD:
        logits = np.stack([np.zeros_like(logits), logits], axis=-1)
    return np.asarray(log_softmax(logits, axis=-1))


def assert_last_layer_is_the_model_s(loaded: LoadedModel, text: str, read: str) -> LensResult:
    result, own = lens(loaded, text), own_answer(loaded, read)
    for place in result.places:
        row, last = own[place.position], place.layers[-1]
        assert last.answer.rank == 1
        assert last.answer.probability == pytest.approx(math.exp(row.max()), abs=1e-5)
        best = np.sort(np.exp(row))[::-1][: len(last.guesses)]
        assert [guess.probability for guess in last.guesses] == pytest.approx(list(best), abs=1e-5)
        assert last.divergence == 0
    return result


def test_the_last_layer_is_the_model_s_own_answer(opened: LoadedModel) -> None:
    causal = head_of(opened) is Capability.CAUSAL
    result = assert_last_layer_is_the_model_s(opened, TEXT, "the cat sat on" if causal else TEXT)
    assert result.depth == DEPTH
    assert result.cut == causal
    assert result.asked == {"MLM": "mask", "RTD": "replaced", "CAUSAL": "continue"}[head_of(opened).name]
    masks = [token.position for token in result.tokens if token.text == "[MASK]"]
    words = [token.position for token in result.tokens if not token.special]
    last = [result.tokens[-1].position]
    assert [place.position for place in result.places] == {"mask": masks, "replaced": words, "continue": last}[
        result.asked
    ]


def test_every_layer_is_a_distribution(opened: LoadedModel) -> None:
    result = lens(opened, top_k=ALL)
    for place in result.places:
        assert [reading.layer for reading in place.layers] == list(range(DEPTH + 1))
        for reading in place.layers:
            probabilities = [guess.probability for guess in reading.guesses]
            assert [guess.rank for guess in reading.guesses] == list(range(1, len(probabilities) + 1))
            assert probabilities == sorted(probabilities, reverse=True)
            assert len(probabilities) == result.classes
            assert sum(probabilities) == pytest.approx(1, abs=1e-6)
            assert reading.divergence >= 0
            found = reading.guesses[reading.answer.rank - 1]
            assert found.probability == pytest.approx(reading.answer.probability, abs=1e-9)


def test_the_divergence_is_kullback_and_leibler_s(opened: LoadedModel) -> None:
    """All classes of the tiny vocabulary are among the guesses, so the distributions can be rebuilt from them."""
    result = lens(opened, top_k=ALL)
    for place in result.places:
        rows = [{guess.token: guess.probability for guess in reading.guesses} for reading in place.layers]
        for reading, row in zip(place.layers, rows, strict=True):
            expected = sum(p * math.log2(p / row[token]) for token, p in rows[-1].items())
            assert reading.divergence == pytest.approx(expected, abs=1e-6)


def test_a_followed_word_has_its_rank_and_probability(opened: LoadedModel) -> None:
    result = lens(opened, top_k=ALL, follow="original" if head_of(opened) is Capability.RTD else "mat")
    assert result.refused == ""
    assert result.follow in ("mat", "original")
    for reading in (reading for place in result.places for reading in place.layers):
        assert reading.followed is not None
        assert 1 <= reading.followed.rank <= result.classes
        matching = [guess for guess in reading.guesses if guess.token == result.follow]
        assert matching[0].probability == pytest.approx(reading.followed.probability, abs=1e-9)


@pytest.mark.parametrize(
    ("word", "hint"), [("cats", "2 tokens here (cat, ##s)"), ("zebra", "unknown to this vocabulary")]
)
def test_a_word_that_no_place_holds_is_said_to_be_so(opened: LoadedModel, word: str, hint: str) -> None:
    result = lens(opened, follow=word)
    assert result.follow is None
    assert ("cannot be followed" if head_of(opened) is Capability.RTD else hint) in result.refused
    assert all(reading.followed is None for place in result.places for reading in place.layers)
    assert [place.layers for place in result.places] == [place.layers for place in lens(opened).places]


def test_all_masks_are_read(opened: LoadedModel) -> None:
    result = lens(opened, "a [MASK] cat [MASK] on the <mask>")
    if head_of(opened) is Capability.MLM:
        assert [place.position for place in result.places] == [2, 4, 7]
    assert [place.position for place in result.places] == [token.position for token in result.tokens if token.asked]


def test_a_byte_level_vocabulary_follows_a_word_with_its_space(tmp_path: Path) -> None:
    loaded = load_model(str(save_byte_level(tmp_path)), Settings(device="cpu"))
    result = lens(loaded, "the <mask>", follow="cat")
    assert result.follow == " cat"
    assert result.refused == ""


def test_when_the_answer_appears_and_leads(loaded: LoadedModel) -> None:
    """A loose fact: the bundled model names the plural verb late, after the noun that stands nearer has misled it."""
    place = lens(loaded, "The keys to the cabinet [MASK] on the table.", follow="is").places[0]
    assert place.answer == "are"
    assert 0 < place.first_among(5) <= place.leads_from() <= 6
    for reading in place.layers:
        assert (reading.answer.rank == 1) == (reading.guesses[0].token == "are")
        assert reading.layer < place.leads_from() or reading.answer.rank == 1
    assert place.layers[place.leads_from() - 1].answer.rank > 1


def test_bert_s_layers_are_its_head_on_its_hidden_states(
    loaded: LoadedModel, masked_lm: BertForMaskedLM, tokenizer: PreTrainedTokenizerBase
) -> None:
    """In another class of transformers, by hand."""
    text = "Paris is the [MASK] of France."
    batch = tokenizer(text, return_tensors="pt")
    states = masked_lm(**batch, output_hidden_states=True).hidden_states
    for reading, state in zip(lens(loaded, text).places[0].layers, states, strict=True):
        row = masked_lm.cls(state)[0, 4].softmax(-1)
        best = row.topk(2 * len(reading.guesses))
        theirs = dict(zip(map(tokenizer.decode, best.indices.tolist()), best.values.tolist(), strict=True))
        assert {guess.token: guess.probability for guess in reading.guesses} == pytest.approx(
            {guess.token: theirs[guess.token] for guess in reading.guesses}, abs=1e-4
        )
        assert [guess.probability for guess in reading.guesses] == pytest.approx(best.values[:5].tolist(), abs=1e-4)


def test_without_a_mask_the_text_is_shown_and_the_endpoint_refuses(opened: LoadedModel) -> None:
    result = lens(opened, "the cat sat")
    if head_of(opened) is Capability.MLM:
        assert result.places == ()
        assert len(result.tokens) == 5
        with pytest.raises(BadInputError, match=r"put \[MASK\] where"):
            require_places(result)
    else:
        require_places(result)
        assert result.places


def test_a_model_without_such_a_head_names_one_that_has_it(tmp_path: Path) -> None:
    loaded = load_model(save_reader("BertForNextSentencePrediction", tmp_path), Settings(device="cpu"))
    with pytest.raises(BadInputError, match="Choose bert-small"):
        require_places(lens(loaded))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[MASK] " * (MOST_PLACES + 1), f"17 masks, and the lens looks at {MOST_PLACES}"),
        ("the cat " * 20 + "[MASK]", "tokens long"),
    ],
)
def test_what_is_too_much_is_refused(tmp_path: Path, text: str, hint: str) -> None:
    loaded = load_model(str(save(tmp_path)), Settings(device="cpu"))
    with pytest.raises(BadInputError, match=hint):
        lens(loaded, text)


def test_a_left_to_right_model_needs_words_before_the_blank(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "GPT-2")), Settings(device="cpu"))
    with pytest.raises(BadInputError, match="before the blank"):
        lens(loaded, "[MASK] cat")
    assert not lens(loaded, "the cat").cut


def test_special_tokens_alone_hold_no_word(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "ELECTRA discriminator")), Settings(device="cpu"))
    with pytest.raises(BadInputError, match="special tokens only"):
        require_places(lens(loaded, "[MASK]"))


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script> [MASK]", "😀 [MASK] 东京", "[MASK]\x00\u2028", "$x$ %{y} [MASK]"]
)
def test_odd_texts_are_read(tiny_model: str, text: str) -> None:
    result = lens(load_model(tiny_model, Settings(device="cpu")), text)
    assert len(result.places) == 1


def test_a_text_as_long_as_the_model_reads(tiny_model: str) -> None:
    loaded = load_model(tiny_model, Settings(device="cpu"))
    result = lens(loaded, "and " * (loaded.longest - 3) + "[MASK]")
    assert result.places[0].position == loaded.longest - 2


def test_the_place_that_opens_is_the_likeliest_replaced_one(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path, "ELECTRA discriminator", initializer_range=0.5)), Settings(device="cpu"))
    result = lens(loaded, "the cat sat on a mat .")
    own = np.exp(own_answer(loaded, "the cat sat on a mat ."))[:, 1]
    words = [token.position for token in result.tokens if not token.special]
    assert result.opening().position == max(words, key=lambda place: own[place])


def test_places_are_found_by_position(opened: LoadedModel) -> None:
    result = lens(opened)
    assert result.at(result.places[-1].position) == result.places[-1]
    for position in (None, -1, 10**6):
        assert result.at(position) == result.opening()


def place_of(*ranks: int) -> Place:
    layers: Any = [LayerReading(layer, (), Standing(rank, 0.5), None, 0.0) for layer, rank in enumerate(ranks)]
    return Place(1, "x", tuple(layers))


@pytest.mark.parametrize(
    ("ranks", "leads", "among"),
    [((9, 1, 1), 1, 1), ((1, 4, 1), 2, 0), ((1, 1, 1), 0, 0), ((9, 8, 1), 2, 2), ((9, 5, 1), 2, 1)],
)
def test_leading_means_leading_to_the_end(ranks: tuple[int, ...], leads: int, among: int) -> None:
    place = place_of(*ranks)
    assert place.leads_from() == leads
    assert place.first_among(5) == among
