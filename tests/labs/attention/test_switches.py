"""Heads switched off, for every question and every family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.kinds import parse_heads
from explorer.labs.attention.switch import (
    AblateParams,
    AblateResult,
    EachHeadParams,
    ablate_table,
    each_head_table,
    off_text,
)
from explorer.labs.attention.switch_jobs import ablate_heads, each_head
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save


@torch.inference_mode()
def ask(loaded: LoadedModel, text: str, **changes: Any) -> AblateResult:
    return ablate_heads(loaded, AblateParams(text, **changes))


def text_for(loaded: LoadedModel) -> str:
    return "the [MASK] sat on a mat" if Capability.MLM in loaded.capabilities else "the cat sat on a mat"


def test_all_heads_on_changes_nothing_and_any_one_off_does(opened: LoadedModel) -> None:
    plain = ask(opened, text_for(opened))
    assert plain.off == ()
    assert plain.divergence == 0.0
    assert all(change.before == change.after for change in plain.answers)
    for layer in range(plain.layers):
        for head in range(plain.heads):
            gone = ask(opened, text_for(opened), heads=[[layer, head]])
            assert gone.off == ((layer, head),)
            assert gone.divergence > 0.0
            assert any(change.before != change.after for change in gone.answers)
            before = {(c.position, c.answer): c.before for c in plain.answers}
            for change in gone.answers:
                assert before.get((change.position, change.answer), change.before) == pytest.approx(change.before)


def test_the_answers_are_probabilities_of_the_model_itself(opened: LoadedModel) -> None:
    result = ask(opened, text_for(opened), top_k=20)
    if result.question == "mask":
        inputs = opened.tokenizer(text_for(opened).replace("[MASK]", opened.tokenizer.mask_token), return_tensors="pt")
        with torch.inference_mode():
            output = opened.model(**{n: inputs[n] for n in opened.tokenizer.model_input_names if n in inputs})
        row = opened.logits(Capability.MLM, output)[0, 2].softmax(-1)
        best = row.topk(3)
        assert [c.before for c in result.answers[:3]] == pytest.approx(best.values.tolist(), abs=1e-5)
    assert sum(change.before for change in result.answers if change.position == result.answers[0].position) <= 1 + 1e-5


def test_pairs_are_judged_by_the_head_that_the_model_has(albert: LoadedModel, loaded: LoadedModel) -> None:
    order = ask(albert, "the cat", sentence_b="a mat", heads="0.0")
    assert [change.answer for change in order.answers] == ["in_order", "swapped"] or [
        change.answer for change in order.answers
    ] == ["swapped", "in_order"]
    assert sum(change.after for change in order.answers) == pytest.approx(1.0)
    following = ask(
        loaded, "She went to the bakery.", sentence_b="She bought two loaves.", heads=[(5, h) for h in range(12)]
    )
    assert following.question == "next"
    assert {change.answer for change in following.answers} == {"is_next", "not_next"}


def test_a_shared_layer_is_switched_at_one_depth_or_at_all(albert: LoadedModel) -> None:
    text = "the [MASK] sat"
    one, every = ask(albert, text, heads="1.0"), ask(albert, text, heads="1.0", everywhere=True)
    assert one.shared
    assert one.off == ((1, 0),)
    assert every.off == ((0, 0), (1, 0), (2, 0))
    assert one.divergence != every.divergence
    assert every.answers == ask(albert, text, heads=[(0, 0), (1, 0), (2, 0)]).answers


def test_a_model_without_shared_layers_ignores_everywhere(loaded: LoadedModel) -> None:
    result = ask(loaded, "Paris is in [MASK].", heads="1.0", everywhere=True)
    assert not result.shared
    assert result.off == ((1, 0),)


@torch.inference_mode()
def test_each_head_alone_is_what_switching_it_off_says(opened: LoadedModel) -> None:
    together = each_head(opened, EachHeadParams(text_for(opened)))
    for layer, row in enumerate(together.after):
        for head, after in enumerate(row):
            alone = ask(opened, text_for(opened), heads=[(layer, head)], top_k=20)
            said = [c for c in alone.answers if c.position == together.position]
            assert min(abs(c.after - after) for c in said) < 1e-5
    assert len(each_head_table(together).rows) == len(together.after) * len(together.after[0])


def test_the_table_and_the_way_back(loaded: LoadedModel) -> None:
    result = ask(loaded, "The capital of [MASK] is [MASK].", heads="4.3, 0.11", top_k=3)
    table = ablate_table(result)
    assert table.columns == ("position", "token", "probability_before", "probability_after")
    assert {row[0] for row in table.rows} == {4, 6}
    assert parse_heads(off_text(result)) == result.off == ((0, 11), (4, 3))


@pytest.mark.parametrize(
    "value",
    [
        [[0, 1], [2, 3]],
        ((0, 1), (2, 3)),
        "0.1, 2.3",
        "2.3;0.1",
        "[[0, 1], [2, 3]]",
        "[(0, 1), (2, 3)]",
        ["0.1", "2.3"],
        [[0, 1], [0, 1], [2, 3]],
    ],
)
def test_heads_are_named_in_several_ways(value: Any) -> None:
    assert parse_heads(value) == ((0, 1), (2, 3))


@pytest.mark.parametrize(
    "value", [5, "a.b", "1", [[1]], [[1, 2, 3]], [[0, -1]], [None], "1.2.3", [[0, 10**9]], [[0, 0]] * 6000]
)
def test_and_refused_in_others(value: Any) -> None:
    with pytest.raises(BadInputError):
        AblateParams("a [MASK]", heads=value)


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        ("the cat", {}, r"write \[MASK\]"),
        ("", {}, "Type a sentence first"),
        ("a [MASK]", {"heads": "6.0"}, "no layer 6"),
        ("a [MASK]", {"heads": "0.12"}, "no head 12"),
        ("a [MASK]", {"top_k": 0}, "top_k must be"),
        ("cat " * 600 + "[MASK]", {}, "reads at most 512"),
    ],
)
def test_what_cannot_be_asked_is_named(loaded: LoadedModel, text: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        ask(loaded, text, **changes)


def test_a_long_text_is_too_much_for_every_head(loaded: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="at most 227 tokens"):
        each_head(loaded, EachHeadParams("The cat sat. " * 100 + "[MASK]"))


def test_a_model_without_heads_says_so(opened: LoadedModel) -> None:
    bare = LoadedModel(**{**vars(opened), "capabilities": frozenset()})
    with pytest.raises(MissingCapabilityError, match="no pretrained head"):
        ask(bare, "the cat")


def test_a_model_that_continues_a_text_is_asked_up_to_its_blank(tmp_path: Path) -> None:
    causal = load_model(str(save(tmp_path / "model", "GPT-2")), Settings(device="cpu"))
    cut, plain = (ask(causal, text, heads="0.0") for text in ("the cat [MASK] on a mat.", "the cat"))
    assert cut.answers == plain.answers
    with torch.inference_mode():
        every = [each_head(causal, EachHeadParams(text)).after for text in ("the cat [MASK] on a mat.", "the cat")]
    assert every[0] == every[1]
