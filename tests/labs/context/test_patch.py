"""Activation patching: all tokens carried over give the other answer, none change nothing, and plain hooks agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.context.patch import (
    EXAMPLE,
    PARTS,
    Carried,
    PatchParams,
    PatchResult,
    patch_figure,
    patch_notes,
    patch_sentence,
    patch_table,
)
from explorer.labs.context.patch_jobs import patch_activations
from explorer.models.encoding import asked_texts, encode
from explorer.models.families import ARCHITECTURES, Capability
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.models.questions import question, scores
from explorer.models.whole_pass import patched, values_of, whole_pass
from explorer.settings import Settings
from tests.models.tiny import save

FAMILIES = [entry.family for entry in ARCHITECTURES]
TEXTS = ("the cat sat on the [MASK] .", "the mat sat on the [MASK] .")


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save(tmp_path_factory.mktemp("patch") / "model", request.param, initializer_range=0.3)
    return load_model(str(folder), Settings(device="cpu"))


@pytest.fixture(scope="module")
def small() -> LoadedModel:
    return load_model("bert-small", Settings(device="cpu"))


@torch.inference_mode()
def carried(loaded: LoadedModel, *texts: str, **asked: Any) -> PatchResult:
    return patch_activations(loaded, PatchParams(*(texts or EXAMPLE[:2]), **asked))


def asked_of(loaded: LoadedModel) -> Any:
    slug = "mask" if Capability.MLM in loaded.capabilities else "continue"
    return question(slug)


@torch.inference_mode()
def of_rows(loaded: LoadedModel, part: str, layer: int, where: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The logits of both texts, and of the first with the second's states at some tokens."""
    asked = asked_of(loaded)
    base, source = (encode(loaded, asked_texts(loaded, text)[0]) for text in TEXTS)
    place = asked.places(loaded, base)[0]
    passes = [whole_pass(loaded, one.inputs, [place]) for one in (base, source)]
    rows = where.expand(-1, len(base.tokens))
    output = patched(loaded, base.inputs, part, layer, rows, values_of(passes[1], part, layer), place)
    return *(scores(asked, loaded, one.output)[-1, 0] for one in passes), scores(asked, loaded, output)[:, 0]


@pytest.mark.parametrize("part", PARTS)
def test_none_carried_over_change_nothing(opened: LoadedModel, part: str) -> None:
    if not opened.capabilities & {Capability.MLM, Capability.CAUSAL}:
        with pytest.raises(MissingCapabilityError):
            carried(opened, *TEXTS)
        return
    for layer in range(depth_of(opened.model)):
        own, _, rows = of_rows(opened, part, layer, torch.zeros(2, 1, dtype=torch.bool))
        torch.testing.assert_close(rows, own.expand_as(rows), atol=1e-5, rtol=1e-5)


def test_all_states_carried_over_give_the_other_answer(opened: LoadedModel) -> None:
    if not opened.capabilities & {Capability.MLM, Capability.CAUSAL}:
        return
    for layer in range(depth_of(opened.model)):
        own, other, rows = of_rows(opened, "residual", layer, torch.ones(1, 1, dtype=torch.bool))
        torch.testing.assert_close(rows[0], other, atol=1e-5, rtol=1e-5)
        assert not torch.allclose(own, other, atol=1e-3)


@torch.inference_mode()
def test_plain_hooks_on_the_model_itself_agree(small: LoadedModel) -> None:
    result = carried(small, answers="is, are")
    model, tokenizer = small.model, small.tokenizer
    base, source = (tokenizer(text, return_tensors="pt") for text in EXAMPLE[:2])
    pair = tokenizer.convert_tokens_to_ids(["is", "are"])
    states = model(**source, output_hidden_states=True).hidden_states

    def apart(inputs: Any) -> float:
        logits = model(**inputs).prediction_logits[0, result.place]
        return float(logits[pair[1]] - logits[pair[0]])

    start, end = apart(base), apart(source)
    for layer, position in ((0, 3), (3, 3), (4, 7), (5, 7)):

        def swap(module: Any, given: Any, layer: int = layer, position: int = position) -> Any:
            changed = given[0].clone()
            changed[0, position] = states[layer][0, position]
            return (changed, *given[1:])

        handle = model.bert.encoder.layer[layer].register_forward_pre_hook(swap)
        share = (apart(base) - start) / (end - start)
        handle.remove()
        assert result.layers[layer].shares[position] == pytest.approx(share, abs=1e-4)


def test_the_worked_example_goes_from_the_word_to_the_blank(small: LoadedModel) -> None:
    result = carried(small, answers=EXAMPLE[2])
    word = result.changed[0]
    assert result.best(result.layers[0]) == word
    assert result.best(result.layers[-1]) == result.place
    assert result.layers[0].shares[word] == pytest.approx(1, abs=1e-4)
    assert result.layers[-1].shares[result.place] > 0.5 > result.loudest
    assert result.likelihoods[0][0] > result.likelihoods[0][1]
    assert result.likelihoods[1][1] > result.likelihoods[1][0]
    table = patch_table(result)
    assert len(table.rows) == len(result.layers) * len(result.tokens)


@pytest.mark.parametrize(
    ("texts", "asked", "sentence"),
    [
        (("the cat [MASK] .", "the cat sat [MASK] ."), {}, "tokens, so their states have no common places"),
        (("the cat sat .", "the mat sat ."), {}, "Nothing is asked yet: put"),
        (("the cat [MASK] .", "the cat [MASK] ."), {}, "are the same. Change a word"),
        (("the [MASK] cat .", "the cat [MASK] ."), {}, "same place in both"),
        (EXAMPLE[:2], {"answers": "is"}, "Two answers are compared, and 1 came"),
        (EXAMPLE[:2], {"answers": "is, unbelievable"}, "take another word"),
        (("cat [MASK] " * 2, "mat [MASK] " * 2), {"answers": "is, are"}, ""),
        (("cat " * 40 + "[MASK]", "mat " * 40 + "[MASK]"), {}, "32 are the most"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(
    texts: tuple[str, str], asked: dict[str, Any], sentence: str, small: LoadedModel
) -> None:
    if not sentence:  # several blanks: the first is asked
        assert carried(small, *texts, **asked).place == 2
        return
    with pytest.raises(BadInputError, match=sentence):
        carried(small, *texts, **asked)


class TestSentence:
    RESULT = PatchResult(
        "m",
        "residual",
        ("a", "key", "[MASK]"),
        ("a", "keys", "[MASK]"),
        (1,),
        2,
        ("is", "are"),
        ((0.8, 0.1), (0.1, 0.7)),
        (Carried(0, (0.0, 1.0, 0.0), (0.0, 0.02, 0.01)), Carried(1, (0.1, 0.2, 0.9), (0.0, -0.05, 0.0))),
    )

    def test_it_goes_from_where_the_answer_begins_to_where_it_ends(self) -> None:
        said = patch_sentence(self.RESULT).striptags()
        assert said == (
            "Carried over into layer 1, “keys” brings 100% of the other answer across; into layer 2 the blank brings 90.0%."
        )
        assert "moves the answer by 5.00% at most" in patch_notes(self.RESULT).striptags()

    def test_what_a_layer_adds_is_named_where_most_comes_across(self) -> None:
        said = patch_sentence(replace(self.RESULT, part="attention", layers=self.RESULT.layers[1:])).striptags()
        assert said.endswith("what attention adds at the blank in layer 2: 90.0%.")

    @pytest.mark.parametrize(("share", "beyond"), [(0.05, False), (0.051, True)])
    def test_what_noise_does_as_well_is_not_said_of_a_state(self, share: float, beyond: bool) -> None:
        layers = (Carried(0, (share, 0.0, 0.0), (0.05, 0.0, 0.0)),)
        said = patch_sentence(replace(self.RESULT, layers=layers)).striptags()
        assert said.startswith("No state brings more across than noise") != beyond

    def test_the_figure_names_the_changed_word_by_both(self) -> None:
        drawn = patch_figure(self.RESULT)
        assert any("key → keys" in str(name) for name in drawn["data"][0]["x"])


def test_a_model_without_words_is_refused(tmp_path: Path) -> None:
    loaded = load_model(str(save(tmp_path / "electra", "ELECTRA discriminator")), Settings(device="cpu"))
    with pytest.raises(MissingCapabilityError):
        carried(loaded, *TEXTS)
