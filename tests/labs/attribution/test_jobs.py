"""The work goes on in small pieces, shows what it has, stops when told, and takes as many steps as it needs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.attribution import jobs as planning
from explorer.labs.attribution.jobs import attribute
from explorer.labs.attribution.methods import BY_SLUG
from explorer.labs.attribution.params import AttributeParams
from explorer.labs.attribution.schema import STEPS, AttributionResult, PathParams
from explorer.models.loaded_model import LoadedModel
from tests.labs.attribution.bench import AtHand, asked_of, last, shown
from tests.rows import each_row

TEXT = "the cats [MASK] on a mat ."
THREE = ("integrated_gradients", "saliency", "occlusion")


def answered(loaded: LoadedModel, **changes: Any) -> AttributionResult:
    values: dict[str, Any] = {"text": TEXT, "method": THREE, **changes}
    result = last(attribute(AtHand(loaded), AttributeParams("any", **values)))
    assert isinstance(result, AttributionResult)
    return result


def test_all_that_was_chosen_is_there_in_one_order_with_the_rollout_last(bert: LoadedModel) -> None:
    result = answered(bert, method=["occlusion", "saliency", "integrated_gradients"])
    assert [part.method for part in result.parts] == [*THREE, "rollout"]
    assert result.progress is None
    for part in result.parts:
        assert part.done
        assert len(part.values) == len(result.units)
        assert None not in part.values


@each_row("method", BY_SLUG)
def test_every_method_ends_alone(bert: LoadedModel, method: str) -> None:
    result = answered(bert, method=method)
    assert [part.method for part in result.parts] == list(dict.fromkeys([method, "rollout"]))
    assert all(part.done for part in result.parts)
    layers = result.parts[0].layers
    assert bool(layers) == (method == "conductance")
    assert all(len(layer) == len(result.units) for layer in layers)


def test_the_sum_is_close_to_the_difference_and_the_delta_says_how_close(bert: LoadedModel) -> None:
    result = answered(bert, method=["integrated_gradients", "conductance"], baseline="zero")
    for part in result.chosen:
        assert part.steps in STEPS
        assert part.delta is not None
        assert abs(part.delta) <= result.asked.tolerance
    assert result.parts[0].delta == pytest.approx(result.parts[0].total - result.asked.change, abs=1e-9)
    layers = next(part for part in result.parts if part.layers)
    assert abs(layers.delta or 0) == pytest.approx(
        max(abs(math.fsum(row) - result.asked.change) for row in layers.layers), abs=1e-9
    )


def test_steps_are_raised_until_the_sum_is_close_enough(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = AtHand(bert)
    params = AttributeParams("any", TEXT, baseline="zero")
    asked = asked_of(bert, TEXT)

    def path(block: PathParams) -> tuple[float, ...]:
        """A method whose sum is wrong by 10 / steps of the difference, found in blocks."""
        share = (block.last - block.first) / block.steps
        return (share * asked.change * (1 + 10 / block.steps), *[0.0] * (len(asked.tokens) - 1))

    plain = engine.once

    def once(key: Any, make: Any) -> Any:
        name, block = key
        if name != "path_block":
            return plain(key, make)
        engine.asked.append(key)
        return path(block)

    monkeypatch.setattr(engine, "once", once)
    monkeypatch.setattr(planning, "STEPS", (20, 50, 100, 200, 400, 800))
    tolerance = asked.tolerance / abs(asked.change)
    result = last(attribute(engine, params))
    expected = next(steps for steps in (20, 50, 100, 200, 400, 800) if 10 / steps <= tolerance)
    assert result.parts[0].steps == expected
    taken = [block for name, block in engine.asked if name == "path_block"]
    assert sorted({block.steps for block in taken}) == [s for s in (20, 50, 100, 200, 400, 800) if s <= expected]
    for steps in {block.steps for block in taken}:
        ends = [(block.first, block.last) for block in taken if block.steps == steps]
        assert [first for first, _ in ends] == [0, *[stop for _, stop in ends[:-1]]], "every node once"
        assert ends[-1][1] == steps


def test_steps_that_are_asked_for_are_those_that_are_taken(bert: LoadedModel) -> None:
    result = answered(bert, method="integrated_gradients", steps=3, baseline="zero")
    assert result.parts[0].steps == 3
    assert result.parts[0].done


def test_words_are_sums_of_their_tokens_and_occluded_whole(bert: LoadedModel) -> None:
    tokens, words = (answered(bert, by=by, baseline="pad") for by in ("tokens", "words"))
    assert len(words.units) == len(tokens.units) - 1
    word = next(unit for unit in words.units if len(unit.positions) == 2)
    assert word.shown == "cats"
    place = words.units.index(word)
    for one, other in zip(tokens.parts, words.parts, strict=True):
        pieces = [one.values[position] or 0.0 for position in word.positions]
        if one.method == "occlusion":
            assert other.values[place] != pytest.approx(sum(pieces), abs=1e-6)
        else:
            assert other.values[place] == pytest.approx(sum(pieces), abs=1e-9)


def test_results_come_method_after_method_and_nothing_is_taken_back(bert: LoadedModel) -> None:
    results = shown(attribute(AtHand(bert), AttributeParams("any", TEXT, method=THREE)))
    done = [sum(part.done for part in result.parts) for result in results]
    assert done == sorted(done)
    assert done[0] == 0
    assert done[-1] == 4
    shares = [result.progress.done / result.progress.total for result in results if result.progress]
    assert all(0 <= share <= 1 for share in shares)
    assert results[-1].progress is None


def test_an_error_reaches_the_visitor_in_its_own_words(bert: LoadedModel) -> None:
    with pytest.raises(BadInputError, match=r"write \[MASK\]"):
        last(attribute(AtHand(bert), AttributeParams("any", "the cat")))
