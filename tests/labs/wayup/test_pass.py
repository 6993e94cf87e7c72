"""The whole way up for every family: equal to the model's own states, attentions and answer, and to the parts' own maths."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from torch.nn.functional import cosine_similarity

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.wayup import figures
from explorer.labs.wayup.jobs import whole_pass
from explorer.labs.wayup.schema import MOST_DRAWN, PassParams, PassResult
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES, Capability
from explorer.models.inside import depth_of, heads_of, modules_with_role, private_tree, read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.models.whole_pass import WholePass
from explorer.models.whole_pass import whole_pass as follow
from explorer.settings import Settings
from tests.models.tiny import save
from tests.rows import each_row

FAMILIES = [entry.family for entry in ARCHITECTURES]
TEXT = "the cat sat on the mat ."
PLACE = 3


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save(tmp_path_factory.mktemp("way") / "model", request.param, initializer_range=0.3)
    return load_model(str(folder), Settings(device="cpu"))


@pytest.fixture(scope="module")
def small() -> LoadedModel:
    return load_model("bert-small", Settings(device="cpu"))


@torch.inference_mode()
def passed(loaded: LoadedModel, text: str = TEXT, **asked: Any) -> PassResult:
    return whole_pass(loaded, PassParams(text, **asked))


@torch.inference_mode()
def followed(loaded: LoadedModel) -> tuple[WholePass, Any]:
    inputs = encode(loaded, TEXT).inputs
    return follow(loaded, inputs, [PLACE]), read(loaded, inputs)


def able(loaded: LoadedModel) -> bool:
    return bool(loaded.capabilities & {Capability.MLM, Capability.RTD, Capability.CAUSAL})


def close(one: torch.Tensor, other: torch.Tensor, atol: float = 1e-5) -> None:
    torch.testing.assert_close(one, other.detach().float(), atol=atol, rtol=1e-5)


def test_states_and_attentions_are_the_models_own(opened: LoadedModel) -> None:
    found, own = followed(opened)
    depth = depth_of(opened.model)
    assert len(found.states) == depth + 1
    assert len(found.attended) == depth == len(found.layers)
    for number in range(depth):  # what some families call their last state has gone through one more norm
        close(found.states[number], own.hidden_states[number][0])
    for attended, weights in zip(found.attended, own.attentions, strict=True):
        close(attended.weights, weights[0])
        close(attended.weights.sum(-1), torch.ones_like(attended.weights[..., 0]))


def test_each_part_follows_from_the_one_before(opened: LoadedModel) -> None:
    found, _ = followed(opened)
    norm_first = opened.architecture.norm_first
    for attended, parts in zip(found.attended, found.layers, strict=True):
        close((attended.weights @ attended.value).transpose(0, 1).flatten(1), parts.joined)
        close(parts.before + parts.attended, parts.first_sum)
        close((parts.first_sum if norm_first else parts.ffn_reads) + parts.ffn, parts.second_sum)
        if norm_first:
            close(parts.second_sum, parts.after, 1e-4)
        else:  # what a norm gives is centred and scaled, and at first its gain is 1 and its bias 0
            for normed, of in ((parts.ffn_reads, parts.first_sum), (parts.after, parts.second_sum)):
                close(torch.nn.functional.layer_norm(of, of.shape[-1:]), normed, 1e-3)


def test_what_a_head_moves_adds_up_to_what_attention_says(opened: LoadedModel) -> None:
    found, _ = followed(opened)
    heads = heads_of(opened.model)
    outward: Any = modules_with_role(private_tree(opened.model), opened.architecture, "output")
    for number, (attended, parts) in enumerate(zip(found.attended, found.layers, strict=True)):
        module = outward[number % len(outward)]
        weight = module.weight.T if opened.architecture.layers.transposed else module.weight
        by_head = weight.detach().unflatten(-1, (heads, -1))  # (width, heads, size)
        brought = torch.einsum("hns,whs->hnw", attended.value, by_head)
        close(attended.brought, brought.norm(dim=-1))
        said = torch.einsum("hij,hjw->iw", attended.weights, brought)
        bias = getattr(module, "bias", None)
        close(said if bias is None else said + bias.detach(), parts.attended, 1e-4)


def test_the_top_of_the_column_is_the_models_answer(opened: LoadedModel) -> None:
    if not able(opened):
        with pytest.raises(MissingCapabilityError):
            passed(opened)
        return
    result = passed(opened, position=PLACE)
    head = next(one for one in (Capability.MLM, Capability.RTD, Capability.CAUSAL) if one in opened.capabilities)
    with torch.inference_mode():
        logits = opened.logits(head, opened.model(**encode(opened, TEXT).inputs))[0, PLACE].double()
    last = result.rungs[-1].guesses[0]
    share = (
        logits.softmax(-1).max()
        if head is not Capability.RTD
        else torch.maximum(logits.sigmoid(), 1 - logits.sigmoid())
    )
    assert last.probability == pytest.approx(float(share), abs=1e-6)
    assert len(result.rungs) == result.build.depth + 1


def test_a_dot_is_how_far_a_layer_turned_the_state(small: LoadedModel) -> None:
    result = passed(small)
    with torch.inference_mode():
        states = small.model(**encode(small, TEXT).inputs, output_hidden_states=True).hidden_states
    for layer, before, after in zip(result.layers, states, states[1:], strict=False):
        turned = 1 - cosine_similarity(before[0], after[0], dim=-1)
        assert layer.turned == pytest.approx(turned.tolist(), abs=1e-5)


def test_what_is_hidden_is_hidden_and_its_probability_told(small: LoadedModel) -> None:
    result = passed(small, also_mask=("cat",))
    hidden = [token.position for token in result.tokens if token.state == "masked"]
    assert hidden == [result.position]
    assert result.hidden == "cat"
    typed = passed(small, "the [MASK] sat on the mat .")
    assert [rung.guesses for rung in typed.rungs] == [rung.guesses for rung in result.rungs]
    assert typed.hidden == ""
    assert typed.rungs[-1].truth is None
    assert 0 < (result.rungs[-1].truth or 0) < 1


def test_the_drawn_head_moves_most_from_a_word_unless_one_is_chosen(small: LoadedModel) -> None:
    result = passed(small, also_mask=("cat",))
    inputs = encode(small, "the [MASK] sat on the mat .").inputs
    with torch.inference_mode():
        found = follow(small, inputs, [2])
    others = [t.position for t in result.tokens if t.state != "special" and t.position != result.position]
    for layer, attended in zip(result.layers, found.attended, strict=True):
        moved = attended.moved[:, result.position][:, others]  # (heads, words)
        assert moved[layer.head].max() == moved.max()
        assert layer.top is not None
        assert layer.top[0] == others[int(moved[layer.head].argmax())]
    chosen = passed(small, also_mask=("cat",), head=5)
    assert {layer.head for layer in chosen.layers} == {5}
    assert chosen.chosen


def test_an_opened_layer_is_that_layer(small: LoadedModel) -> None:
    result = passed(small, layer=2, head=3, position=PLACE)
    with torch.inference_mode():
        own = small.model(**encode(small, TEXT).inputs, output_hidden_states=True)
    opened_layer = result.opened
    assert opened_layer is not None
    assert (opened_layer.layer, opened_layer.head) == (2, 3)
    assert opened_layer.vectors["before"] == pytest.approx(own.hidden_states[2][0, PLACE].tolist(), abs=1e-5)
    assert opened_layer.vectors["after"] == pytest.approx(own.hidden_states[3][0, PLACE].tolist(), abs=1e-5)
    assert opened_layer.exact
    assert not any(map(any, opened_layer.unseen))
    assert opened_layer.active == sum(one > 0 for one in opened_layer.vectors["inner"])
    scores = torch.tensor(opened_layer.scores)
    close(scores.softmax(-1), torch.tensor(opened_layer.weights))


@each_row(
    ("asked", "sentence"),
    [
        ({"layer": 99}, "6 layers, 0 to 5: there is no layer 99"),
        ({"head": 40}, "12 heads, 0 to 11: there is no head 40"),
        ({"position": 200}, "there is no position 200"),
        ({"also_mask": ("dog",)}, "The text has no 'dog' to mask"),
        ({"text": "cat " * MOST_DRAWN}, f"the picture has room for {MOST_DRAWN}. Take one sentence of it"),
        ({"text": ""}, "Type a sentence first"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(
    small: LoadedModel, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInputError, match=sentence):
        passed(small, **asked)


def test_a_picture_of_32_tokens_with_a_layer_open_is_below_300_kilobytes(small: LoadedModel) -> None:
    result = passed(small, " ".join(["the cat sat on the mat and"] * 4) + " slept .", layer=0)
    assert len(result.tokens) == 32
    sent = json.dumps([figures.way(result), figures.opened(result), figures.pass_chips(result)])
    assert len(sent) < 300_000


def test_the_arcs_to_a_token_are_shares_of_all_that_is_moved_to_it(small: LoadedModel) -> None:
    result = passed(small, also_mask=("cat",))
    for layer, seen in zip(figures.way(result)["layers"], result.layers, strict=True):
        for place, arcs in enumerate(layer["arcs"]):
            moved = seen.moved(place)
            assert sum(arcs.values()) <= 1000 + len(arcs)  # each is rounded by itself
            assert all(share == round(1000 * moved[int(source)] / sum(moved)) for source, share in arcs.items())


class TestSentence:
    def test_it_says_since_when_the_answer_leads(self, small: LoadedModel) -> None:
        result = passed(small, also_mask=("cat",))
        for settles in range(result.build.depth + 1):
            led = self.leading_from(result, settles)
            assert led.settles == settles
            said = figures.pass_sentence(led).striptags()
            if settles == 0:
                assert said.endswith("It leads before any layer, from the embeddings on.")
            elif settles == result.build.depth:
                assert "after the last layer only" in said
            else:
                assert f"from layer {settles} on" in said
            assert ("before the first layer it was" in said) == (settles == 1)

    def leading_from(self, result: PassResult, settles: int) -> PassResult:
        answer = result.rungs[-1].guesses
        other = (replace(answer[0], token="zzz"),)
        rungs = tuple(replace(r, guesses=answer if r.layer >= settles else other) for r in result.rungs)
        return replace(result, rungs=rungs)

    def test_the_hidden_word_is_named_only_where_it_is_the_guess(self, small: LoadedModel) -> None:
        result = passed(small, also_mask=("cat",))
        right = replace(result, hidden=result.rungs[-1].guesses[0].token)
        assert "the word that was hidden" in figures.pass_sentence(right)
        assert "the word that was hidden" not in figures.pass_sentence(replace(result, hidden="zzz"))

    def test_several_blanks_are_counted(self, small: LoadedModel) -> None:
        assert "Of 2 blanks" in figures.pass_sentence(passed(small, also_mask=("cat", "mat")))
        assert figures.pass_sentence(passed(small)).startswith("In place of the followed token it has")


def test_what_differs_from_bert_is_said_of_those_that_do(opened: LoadedModel) -> None:
    if not able(opened):
        return
    result = passed(opened)
    said, family = " ".join(figures.differences(result)), opened.architecture.family
    assert ("one layer, used" in said) == (family == "ALBERT")
    assert ("none that comes later" in said) == (Capability.CAUSAL in opened.capabilities)
    assert ("two further terms" in said) == opened.architecture.disentangled
    assert ("norms stand before" in said) == opened.architecture.norm_first
    if family == "BERT":
        assert said == ""


def test_each_stage_says_a_sentence_with_the_models_own_numbers(opened: LoadedModel) -> None:
    if not able(opened):
        return
    stages = figures.stages(passed(opened))
    assert len(stages) == 9
    assert all(stage["says"].endswith(".") and "{" not in stage["says"] for stage in stages)


def test_a_stage_leads_on_with_the_sentence_as_that_page_reads_it(small: LoadedModel) -> None:
    result = passed(small, also_mask=("cat",), layer=2, head=3)
    to = [unquote_plus(stage["to"]) for stage in figures.stages(result)]
    assert to[0] == f"inputs#model=bert-small&text={TEXT}"
    assert to[2] == f"attention#tab=neurons&model=bert-small&sentence_a={TEXT}&layer=2&head=3"
    assert to[7] == "context#tab=lens&model=bert-small&text=the [MASK] sat on the mat ."
    assert to[8] == f"masking#model=bert-small&text={TEXT}&also_mask=2"
