"""What a run from nothing may be asked."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.runs.record import RunRecord
from explorer.scratch.spec import MOST_PROBES, ScratchSpec
from tests.engine.records import record
from tests.rows import each_row
from tests.scratch.small import small


@each_row(
    ("asked", "said"),
    [
        ({"hidden": 128, "heads": 3}, "heads cannot share"),
        ({"objective": "mlm_nsp", "row_format": "full_sentences"}, "no second part"),
        ({"objective": "mlm_sop", "row_format": "doc_sentences"}, "no second part"),
        ({"batch_size": 512, "length": 512}, "A step would read 262,144 tokens"),
        ({"layers": 24, "hidden": 1024, "heads": 16}, "about 305 million parameters"),
        ({"objective": "guess"}, "objective"),
        ({"rate": 0.95}, "rate"),
        ({"method": "lora"}, "method"),
        ({"steps": 0}, "steps"),
        ({"layers": "many"}, "layers"),
    ],
)
def test_what_cannot_be_trained_is_said(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        ScratchSpec(**asked)


def test_short_rows_come_first_in_nine_of_ten_steps() -> None:
    """BERT: 90% of the steps at 128 tokens, 10% at 512 (Devlin et al. 2019, A.2): a quarter of the length."""
    spec = small(schedule="short", length=128, steps=100)
    assert [spec.length_at(step) for step in (0, 89, 90, 99)] == [32, 32, 128, 128]
    assert {small(length=128).length_at(step) for step in range(6)} == {128}


def test_questions_are_lines_and_not_too_many() -> None:
    assert small(probes=" A [MASK].\n\n B [MASK]. ").questions == ("A [MASK].", "B [MASK].")
    assert len(small(probes="A [MASK].\n" * 50).questions) == MOST_PROBES


def test_a_record_of_one_comes_back_from_its_json() -> None:
    kept = record(spec=small(objective="rtd", row_format="full_sentences"))
    back = RunRecord.from_json(kept.to_json())
    assert back == kept
    assert back.from_nothing
    assert not record().from_nothing


def test_shares_of_the_chosen_tokens_stay_within_all_of_them() -> None:
    assert ScratchSpec(mask_share=0.9, random_share=0.1).mask_share == 0.9
    with pytest.raises(BadInputError, match="more than all of them"):
        ScratchSpec(mask_share=0.95, random_share=0.1)
