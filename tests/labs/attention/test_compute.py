"""One head and all heads, for every family."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoModel

from explorer.errors import BadInputError
from explorer.labs.attention.head import AttentionParams, AttentionResult, StatisticsParams
from explorer.labs.attention.head_figures import MOST_ROWS, attention_table, page_table, statistics_table
from explorer.labs.attention.head_jobs import attention, statistics_of_heads
from explorer.models.loaded_model import LoadedModel

TEXT, SECOND = "the cat sat on a mat", "a cat"


@torch.inference_mode()
def ask(loaded: LoadedModel, *texts: str, **changes: Any) -> AttentionResult:
    return attention(loaded, AttentionParams(*texts, **changes))


def can_mask(loaded: LoadedModel) -> bool:
    return loaded.tokenizer.mask_token_id is not None


def test_rows_sum_to_one_and_so_do_the_rollout_s(opened: LoadedModel) -> None:
    for texts in ((TEXT,), (TEXT, SECOND)):
        result = ask(opened, *texts, layer=1, head=1)
        for matrix in (result.weights, result.rollout):
            for place in range(matrix.size):
                assert sum(matrix.row(place)) == pytest.approx(1.0, abs=1e-5)
        assert (result.second_starts is not None) == (len(texts) == 2)


def test_the_weights_are_those_of_transformers(opened: LoadedModel) -> None:
    result = ask(opened, TEXT, SECOND, layer=1, head=0)
    model = AutoModel.from_pretrained(opened.model_id, attn_implementation="eager").eval()
    inputs = opened.tokenizer(TEXT, SECOND, return_tensors="pt")
    read = slice(0, -1 if opened.architecture.ends_texts else None)
    with torch.inference_mode():
        output = model(
            **{name: inputs[name][:, read] for name in opened.tokenizer.model_input_names if name in inputs},
            output_attentions=True,
        )
    theirs = output.attentions[1][0, 0]
    assert torch.tensor(result.weights.values).view_as(theirs) == pytest.approx(theirs, abs=1e-5)


def test_masking_a_token_changes_the_weights_and_keeps_the_others_beside(opened: LoadedModel) -> None:
    if not can_mask(opened):
        with pytest.raises(BadInputError, match="no mask token"):
            ask(opened, TEXT, masked=(2,))
        return
    plain, hidden = ask(opened, TEXT), ask(opened, TEXT, masked="2")
    assert hidden.before is not None
    assert plain.before is None
    assert list(hidden.before.values) == pytest.approx(list(plain.weights.values), abs=1e-5)
    assert list(hidden.weights.values) != pytest.approx(list(plain.weights.values), rel=1e-3, abs=0.0)
    assert [token.position for token in hidden.tokens if token.masked] == [2]


def test_statistics_of_every_head(opened: LoadedModel) -> None:
    with torch.inference_mode():
        result = statistics_of_heads(opened, StatisticsParams(TEXT, SECOND))
    config = opened.model.config
    table = statistics_table(result)
    assert table.columns == ("layer", "head", "statistic", "value")
    names = {str(row[2]) for row in table.rows}
    assert len(table.rows) == config.num_hidden_layers * config.num_attention_heads * len(names)
    for layer, head, name, value in table.rows:
        if str(name).startswith("to_"):
            assert 0.0 <= float(value or 0) <= 1.0
        single = dict(ask(opened, TEXT, SECOND, layer=layer, head=head).facts.statistics)
        assert single[str(name)] == pytest.approx(value, abs=1e-5)


def test_the_table_has_every_pair_and_the_page_s_may_leave_some_out(loaded: LoadedModel) -> None:
    result = ask(loaded, "The cat sat on the mat because it was tired.", layer=4, head=2)
    table = attention_table(result)
    assert table.columns == ("from", "to", "weight")
    assert len(table.rows) == len(result.tokens) ** 2
    assert page_table(result) == table
    long = ask(loaded, "The cat sat on the mat. " * 30)
    shown = page_table(long)
    assert len(shown.rows) == MOST_ROWS < len(long.tokens) ** 2
    weights = sorted(long.weights.values, reverse=True)
    assert [row[2] for row in shown.rows] == weights[:MOST_ROWS]


@torch.inference_mode()
def test_the_bundled_model_has_a_head_in_which_it_looks_at_the_cat(loaded: LoadedModel) -> None:
    """What the page opens with."""
    result = ask(loaded, "The cat sat on the mat because it was tired.", layer=4, head=2)
    names = [token.shown for token in result.tokens]
    assert result.weights.row(names.index("it"))[names.index("cat")] > 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layer": 9}, r"2 layers, 0 to 1: there is no layer 9"),
        ({"head": 2}, r"2 heads, 0 to 1"),
        ({"layer": -1}, "layer must be a whole number"),
        ({"layer": "x"}, "layer must be a whole number"),
        ({"masked": (0,)}, "Position 0 holds no token"),
        ({"masked": "99"}, "Position 99 holds no token"),
        ({"masked": "cat"}, "masked must be a whole number"),
        ({"masked": 5}, "masked takes token positions"),
        ({"sentence_a": ""}, "Type a sentence first"),
        ({"sentence_a": "the cat " * 40}, "tokens long"),
        ({"sentence_a": "a" * 10**7}, "10,000,000 characters"),
        ({"sentence_b": 3}, "sentence_b takes a text"),
    ],
)
def test_what_cannot_be_asked_is_named(albert: LoadedModel, changes: dict[str, Any], message: str) -> None:
    if "layers" in message:
        message = message.replace("2 layers, 0 to 1", "3 layers, 0 to 2")
    with pytest.raises(BadInputError, match=message):
        attention(albert, AttentionParams(**{"sentence_a": TEXT, **changes}))
