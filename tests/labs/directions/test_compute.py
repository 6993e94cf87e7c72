"""One blank under three masks: what is hidden changes nothing, and each reader says what plain transformers says."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, BertForMaskedLM, BertLMHeadModel

from explorer.errors import BadInputError
from explorer.labs.directions.compute import added, hide, log_probabilities, read_blanks, sight_of
from explorer.labs.directions.examples import EXAMPLES, FIFTY, TRY
from explorer.labs.directions.jobs import answer_in_view, attention_of_directions, directions, directions_of_fifty
from explorer.labs.directions.schema import (
    DECODER,
    ENCODER,
    KINDS,
    READERS,
    DirectionsParams,
    FiftyParams,
    FiftyResult,
    SightParams,
)
from explorer.models.loaded_model import ModelStore
from explorer.settings import BUNDLED_MODELS, Settings
from tests.rows import each_row

TEXT = "The ship left the old harbour at dawn, and nobody saw it again."
PLACE = 6  # harbour
OTHERS = (100, 1500, 9000, 12_000)
"""Ids to put in place of words."""


@pytest.fixture(scope="module")
def resources() -> Any:
    return SimpleNamespace(model=ModelStore(Settings(device="cpu", offline=True)).get)


@pytest.fixture(scope="module")
def fifty(resources: Any) -> list[FiftyResult]:
    with torch.inference_mode():
        return list(directions_of_fifty(resources, FiftyParams()))


@pytest.fixture(scope="module")
def plain_bert() -> BertForMaskedLM:
    return BertForMaskedLM.from_pretrained(BUNDLED_MODELS / ENCODER, dtype=torch.float32).eval().requires_grad_(False)


def answer_after(resources: Any, reader: int, changed: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """ln p at the blank before and after the tokens at some positions become others."""
    seen = hide(resources, TEXT, PLACE).seen[reader]
    ids = seen.ids.clone()
    for number, place in enumerate(changed):
        ids[place] = OTHERS[number % len(OTHERS)]
    loaded = resources.model(READERS[reader][1])
    before, after = log_probabilities(loaded, [seen, dataclasses.replace(seen, ids=ids)])
    return before, after


@pytest.mark.parametrize("reader", [0, 1, 2])
def test_a_hidden_word_changes_nothing_at_the_blank(resources: Any, reader: int) -> None:
    seen = hide(resources, TEXT, PLACE).seen[reader]
    left, right = list(range(1, seen.place)), list(range(seen.place + 1, len(seen.ids)))
    hidden, open_to_see = (left, right) if READERS[reader][0] == "right" else (right, left)
    assert len(hidden) > 2
    before, after = answer_after(resources, reader, hidden)
    assert torch.allclose(before, after, atol=1e-5)
    for place in open_to_see:
        before, after = answer_after(resources, reader, [place])
        assert not torch.allclose(before, after, atol=1e-3), place


def test_with_both_sides_every_word_counts(resources: Any) -> None:
    length = len(hide(resources, TEXT, PLACE).seen[3].ids)
    for place in sorted({*range(length)} - {PLACE}):
        before, after = answer_after(resources, 3, [place])
        assert not torch.allclose(before, after, atol=1e-3), place


def test_each_mask_is_what_is_left_of_the_text(resources: Any, plain_bert: BertForMaskedLM) -> None:
    """Left: as transformers' own decoder of these weights, without the rest of the text. Right: without what stands before
    the blank, with the position numbers that the rest had. Both: as it is."""
    blank = hide(resources, TEXT, PLACE)
    ids, length = blank.seen[3].ids, len(blank.seen[3].ids)
    rows = log_probabilities(resources.model(ENCODER), blank.seen[1:])
    decoder = BertLMHeadModel.from_pretrained(BUNDLED_MODELS / ENCODER, is_decoder=True, dtype=torch.float32).eval()
    cut = decoder(input_ids=ids[None, : PLACE + 1]).logits[0, PLACE].detach()
    at = torch.tensor([[0, *range(PLACE, length)]])
    rest = plain_bert(input_ids=ids[at[0]][None], position_ids=at).logits[0, 1]
    whole = plain_bert(input_ids=ids[None]).logits[0, PLACE]
    for row, scores in zip(rows, (cut, rest, whole), strict=True):
        assert torch.allclose(row, scores.double().log_softmax(-1), atol=2e-4)


def test_the_decoder_answers_from_what_stands_before(resources: Any) -> None:
    model = AutoModelForCausalLM.from_pretrained(BUNDLED_MODELS / DECODER, dtype=torch.float32).eval()
    seen = hide(resources, TEXT, PLACE).seen[0]
    with torch.no_grad():
        scores = model(input_ids=seen.ids[None, : seen.place + 1]).logits[0, -1]
    (row,) = log_probabilities(resources.model(DECODER), [seen])
    assert torch.allclose(row, scores.double().log_softmax(-1), atol=2e-4)
    assert int(seen.ids[seen.place + 1]) == seen.truth
    assert resources.model(DECODER).tokenizer.decode([seen.truth]).strip() == "har"


def test_a_batch_gives_what_each_sentence_gives_alone(resources: Any) -> None:
    blanks = [hide(resources, text, int(place)) for _, text, place in EXAMPLES[:3]]
    together = read_blanks(resources, blanks)
    for blank, readings in zip(blanks, together, strict=True):
        (alone,) = read_blanks(resources, [blank])
        for one, other in zip(readings, alone, strict=True):
            assert (one.context, one.model, one.rank) == (other.context, other.model, other.rank)
            assert one.probability == pytest.approx(other.probability, rel=1e-3)
            assert one.entropy == pytest.approx(other.entropy, abs=1e-3)


def test_the_readings_are_of_one_distribution(resources: Any) -> None:
    result = directions(resources, DirectionsParams(TEXT, PLACE))
    assert tuple((one.context, one.model) for one in result.readings) == READERS
    assert (result.word, result.position, result.pieces) == ("harbour", PLACE, 1)
    for one in result.readings:
        shares = [guess.probability for guess in one.guesses]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1
        assert 0 < one.entropy < torch.log(torch.tensor(float(one.vocabulary)))
        if one.rank <= len(shares):
            assert one.probability == pytest.approx(shares[one.rank - 1])


def test_of_a_word_in_pieces_all_are_hidden_and_the_first_is_asked_for(resources: Any) -> None:
    text, place = TRY["A word in pieces"]
    results = [directions(resources, DirectionsParams(text, int(place) + shift)) for shift in (0, 1)]
    assert results[0] == results[1]
    assert (results[0].word, results[0].pieces, results[0].position) == ("raincoat", 2, int(place))
    assert [chip.shown for chip in results[0].chips if chip.asked] == ["rain", "coat"]
    blank = hide(resources, text, int(place))
    mask = resources.model(ENCODER).tokenizer.mask_token_id
    assert blank.seen[1].ids.tolist().count(mask) == 2


def test_without_a_position_the_word_after_the_middle_is_hidden(resources: Any) -> None:
    assert directions(resources, DirectionsParams()).word == "are"
    assert directions(resources, DirectionsParams("Rain!")).word == "Rain"


@each_row(("title", "text", "place"), EXAMPLES)
def test_the_examples_hide_the_word_they_name(resources: Any, title: str, text: str, place: str) -> None:
    word = directions(resources, DirectionsParams(text, int(place))).word
    assert word in ("are", "bird", "doctor", "word", "House", "nor")


@each_row(
    ("given", "says"),
    [
        ({"text": ""}, "Type a sentence first"),
        ({"text": "The [MASK] sat."}, "Write the word itself"),
        ({"text": "word " * 60}, "62 tokens long, and 40 are the most"),
        ({"text": "The cat sat.", "position": 0}, "Position 0 holds no word"),
        ({"text": "The cat sat.", "position": 40}, "at positions 1 to 4"),
        ({"text": "😀"}, "knows no word"),
        ({"text": "A 😀 sat.", "position": 2}, "does not know the word at position 2"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(resources: Any, given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        directions(resources, DirectionsParams(**given))


def test_both_sides_beat_left_and_right_in_most_of_the_fifty(fifty: list[FiftyResult]) -> None:
    done = fifty[-1]
    assert [len(result.told) for result in fifty] == [10, 20, 30, 40, 50]
    assert done.total == len(FIFTY) == 50
    assert [sum(one.kind == kind for one in done.told) for kind in KINDS] == [20, 20, 10]
    assert done.leading >= 40
    assert all(one.text[one.start :].startswith(one.word) for one in done.told)
    assert len({one.text for one in done.told}) == 50


@pytest.mark.parametrize(("kind", "side", "other"), [("right", 2, 1), ("left", 1, 2)])
def test_the_side_that_is_said_to_tell_tells_more(fifty: list[FiftyResult], kind: str, side: int, other: int) -> None:
    told = [one for one in fifty[-1].told if one.kind == kind]
    assert sum(one.readings[side].probability > one.readings[other].probability for one in told) >= 16


@pytest.mark.parametrize("layer", [0, 3, 5])
def test_attention_is_shown_where_it_may_go_and_nowhere_else(resources: Any, layer: int) -> None:
    result = attention_of_directions(resources, SightParams(TEXT, PLACE, layer))
    assert [sight.layer for sight in result.sights] == [min(layer, 3), layer, layer, layer]
    for sight, (context, _) in zip(result.sights, READERS, strict=True):
        allowed = sight_of(context, len(sight.tokens), sight.place)
        assert [[weight is not None for weight in row] for row in sight.weights] == allowed.tolist()
        assert [sum(filter(None, row)) for row in sight.weights] == pytest.approx([1.0] * len(sight.weights), abs=1e-5)
    with pytest.raises(BadInputError, match="Its layers are 0 to 5"):
        attention_of_directions(resources, SightParams(TEXT, PLACE, 6))


def test_a_masked_weight_is_exactly_0(resources: Any) -> None:
    from explorer.models.inside import read

    for reader, seen in enumerate(hide(resources, TEXT, PLACE).seen):
        inputs = {"input_ids": seen.ids[None], "attention_mask": added(seen.sight)[None, None]}
        for layer in read(resources.model(READERS[reader][1]), inputs).attentions:
            assert float(layer[0][:, ~seen.sight].abs().sum()) == 0


def test_the_next_word_reaches_its_prediction_unless_a_causal_mask_forbids_it(resources: Any) -> None:
    result = answer_in_view(resources, DirectionsParams(TEXT, PLACE))
    free, causal = result.paths
    assert (free.mask, causal.mask) == ("none", "causal")
    assert min(*free.direct, *free.reach, *free.moved, free.detour) > 0
    assert {*causal.direct, *causal.reach, *causal.moved, causal.detour} == {0.0}
    assert free.reach[0] == pytest.approx(free.direct[0] / 2, rel=1e-4)
    assert result.seen > result.masked > 0
    for flow in causal.flows:
        assert all(share == 0 for i, row in enumerate(flow) for share in row[i + 1 :])
    for paths in result.paths:
        assert [sum(row) for row in paths.flows[-1]] == pytest.approx([1.0] * len(result.chips), abs=1e-4)


def test_the_rollout_is_that_of_the_layers_multiplied(resources: Any) -> None:
    from transformers import BertModel

    model = BertModel.from_pretrained(BUNDLED_MODELS / ENCODER, dtype=torch.float32, attn_implementation="eager").eval()
    ids = resources.model(ENCODER).tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.no_grad():
        means = [layer[0].mean(0) for layer in model(input_ids=ids, output_attentions=True).attentions]
    half = [(mean + torch.eye(len(mean))) / 2 for mean in means]
    free = answer_in_view(resources, DirectionsParams(TEXT, PLACE)).paths[0]
    two = half[1] @ half[0]
    assert free.reach[1] == pytest.approx(float(two[PLACE - 1, PLACE]), abs=1e-5)
    straight = sum(float(half[1][PLACE - 1, k] * half[0][k, PLACE]) for k in (PLACE - 1, PLACE))
    assert free.detour == pytest.approx(free.reach[1] - straight, abs=1e-5)
    assert free.direct == pytest.approx([float(mean[PLACE - 1, PLACE]) for mean in means], abs=1e-5)
