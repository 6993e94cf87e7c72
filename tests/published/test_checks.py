"""Published figures: each is really computed, and counts agree with other ways to count."""

from __future__ import annotations

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from explorer.published import counts
from explorer.published.check import PAPERS, Check
from explorer.published.checks import CHECKS
from tests.rows import each_row

NO_PART = {
    *("vocab_size", "max_position_embeddings", "type_vocab_size", "n_positions", "intermediate_size"),
    *("position_buckets", "conv_kernel_size", "mask_share", "random_share"),
}
"""Sizes of a model that some method's count, or share of one fate, does not depend on."""

DEPTHS = {"num_hidden_layers", "n_layer"}


def named(check: Check) -> str:
    return f"{check.paper}-{check.place}-{check.quantity}"


def test_there_are_many_each_once_and_of_every_paper() -> None:
    assert len(CHECKS) >= 100
    assert len({named(check) for check in CHECKS}) == len(CHECKS)
    assert {check.paper for check in CHECKS} == set(PAPERS)


@pytest.mark.parametrize("check", CHECKS, ids=named)
def test_a_figure_is_computed_from_its_inputs(check: Check) -> None:
    """Another size, score or norm gives another figure; of a model of three layers, which takes a tenth of the time to count."""
    assert check.inputs
    small = {name: 3 if name in DEPTHS else value for name, value in check.inputs.items()}
    computed = check.computed(**small)
    changed = {
        name: check.computed(**small | {name: value * 0.7 if isinstance(value, float) or 0 < value < 1 else value + 1})
        for name, value in small.items()
    }
    without = {name for name, value in changed.items() if value == computed}
    assert without < set(check.inputs)
    of_any_depth = check.paper == "albert" or "top 2" in check.quantity or "classifier" in check.quantity
    assert without <= NO_PART | (DEPTHS if of_any_depth else set())


@each_row("check", CHECKS, ids=named)
def test_what_differs_says_why_and_what_agrees_is_the_same_text(check: Check) -> None:
    value = check.computed()
    assert check.rounded(check.value).replace("-", "−") == check.published
    assert (check.rounded(value) == check.published) == check.agrees(value)
    assert check.agrees(value) or check.reason
    assert "{" not in check.reason


def test_a_count_whose_width_was_found_by_it_is_called_no_check() -> None:
    """What of an adapter, a prefix or a rank the quoted tables do not give."""
    said = {check.quantity: check.reason for check in CHECKS if check.inferred}
    assert all("inferred from the count itself, so this row is no independent check" in why for why in said.values())
    sized = {check.quantity for check in CHECKS if {"bottleneck", "vectors"} & check.inputs.keys()}
    adapters = {check.quantity for check in CHECKS if check.compute is counts.adapters}
    assert sized | adapters < set(said)
    assert "RoBERTa-base, LoRA on query and value, r = 8" not in said, "the recipe gives this rank"


@each_row(
    ("published", "value", "agrees", "text"),
    [
        ("0.3M", 294_912, True, "0.3M"),
        ("0.35M", 393_216, False, "0.39M"),
        ("294,912", 294_912, True, "294,912"),
        ("294,912", 294_913, False, "294,913"),
        ("86.4", 86.35, True, "86.4"),
        ("86.4", 86.349, False, "86.3"),
        ("+2.2%", 0.0225, False, "+2.3%"),
        ("+2.2%", 0.02249, True, "+2.2%"),
        ("350 GB", 3.5049e11, True, "350 GB"),
        ("1.2 TB", 1.4e12, False, "1.4 TB"),
        ("−2", -1.99, True, "−2"),
        ("340M", 336e6, False, "336M"),
    ],
)
def test_a_figure_is_compared_to_the_digits_that_are_printed(
    published: str, value: float, agrees: bool, text: str
) -> None:
    check = Check("lora", "", "", published, "", float)
    assert check.agrees(value) == agrees
    assert check.rounded(value) == text


@pytest.mark.parametrize("published", ["about 3", "3 XB", ""])
def test_what_is_no_figure_is_refused(published: str) -> None:
    with pytest.raises(ValueError, match="no figure"):
        _ = Check("lora", "", "", published, "", float).value


def test_the_formulas_count_what_models_have() -> None:
    """GPT's and BitFit's formulas against a GPT-2 with weights; LoRA's and the adapters' against peft and our own modules."""
    config = GPT2Config(n_embd=24, n_layer=3, n_head=2, vocab_size=50, n_positions=16)
    model = GPT2LMHeadModel(config)
    assert counts.decoder_only(24, 3, 50, 16) == sum(parameter.numel() for parameter in model.parameters())
    biases = sum(parameter.numel() for name, parameter in model.named_parameters() if name.endswith("bias"))
    assert counts.biases(24, 3) == biases
    small = {**counts.ROBERTA, "hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64, "vocab_size": 40}
    for rank in (1, 4):
        by_peft = counts.trained("RoBERTa", "lora", "query", "value")(rank=rank, **small)
        assert counts.low_rank(2, rank, 32, 32, 2) == by_peft
    for method, a_layer in (("houlsby", 2), ("pfeiffer", 1)):
        inserted = counts.trained("RoBERTa", method)(bottleneck=5, **small)
        assert counts.adapters(a_layer, 5, 32, 2) == inserted
    norms = counts.adapters(1, 5, 32, 2, norms=1) - counts.adapters(1, 5, 32, 2)
    assert norms == sum(parameter.numel() for _ in range(2) for parameter in torch.nn.LayerNorm(32).parameters())
    assert counts.prefix_layer(32, 5, 2) == sum(torch.empty(5, 32).numel() for _ in range(2))


def test_sharing_takes_out_what_it_names() -> None:
    sizes = {**counts.ALBERT, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "vocab_size": 50}
    nothing, everything = (counts.albert(apart)(**sizes) for apart in ("all", ""))
    ffn_own, attention_own = (counts.albert(apart)(**sizes) for apart in ("ffn", "attention"))
    assert nothing - everything == (ffn_own - everything) + (attention_own - everything)
    assert attention_own - everything == 3 * (4 * (64 * 64 + 64) + 2 * 64)
    assert counts.albert()(**sizes) - counts.albert(pooler=False)(**sizes) == 64 * 64 + 64
