"""The worked examples convince: the hidden word leads, and by far where the page opens with it."""

from __future__ import annotations

from explorer.labs.masking.jobs import fill_masks
from explorer.labs.masking.schema import EXAMPLES, OPENING_TEXT, TRY, FillParams
from explorer.models.loaded_model import LoadedModel
from tests.rows import each_row

CLEAR = 0.5
"""Of the first two: what leads is likelier than everything else together."""


@each_row("example", EXAMPLES[:6], ids=lambda example: example.hidden)
def test_the_hidden_word_leads(loaded: LoadedModel, example: tuple[str, str]) -> None:
    text, hidden = example
    (mask,) = fill_masks(loaded, FillParams(text, also_mask=(hidden,))).masks
    assert mask.hidden_rank == 1
    assert mask.predictions[0].probability > 1.4 * mask.predictions[1].probability


@each_row("example", EXAMPLES[:4], ids=lambda example: example.hidden)
def test_it_is_likelier_than_everything_else_together(loaded: LoadedModel, example: tuple[str, str]) -> None:
    text, hidden = example
    (mask,) = fill_masks(loaded, FillParams(text, also_mask=(hidden,))).masks
    assert mask.predictions[0].probability > CLEAR


def test_the_pairs_that_belong_together_are_one_press_away() -> None:
    tried = [example for _, example in TRY]
    assert {EXAMPLES[1], EXAMPLES[4], EXAMPLES[5]} <= set(tried)


def test_a_text_that_is_not_given_is_the_first_example(loaded: LoadedModel) -> None:
    result = fill_masks(loaded, FillParams())
    assert result.text == OPENING_TEXT == EXAMPLES[0].text.replace(" are ", " [MASK] ")
    assert result.masks[0].predictions[0].token == EXAMPLES[0].hidden
