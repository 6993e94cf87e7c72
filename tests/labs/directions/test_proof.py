"""The proof by training says what its numbers say."""

from __future__ import annotations

import pytest

from explorer.labs.directions.answer_figures import READ_OFF, proof_sentence, proof_table
from explorer.labs.directions.jobs import next_token_proof
from explorer.labs.directions.schema import LossCurve, ProofParams, ProofResult


def test_without_a_mask_the_answer_is_read_off_and_with_one_it_is_not() -> None:
    result = next_token_proof(ProofParams())
    free, causal = (curve.points[-1][1] for curve in result.curves)
    assert free < READ_OFF < 4 < causal
    assert "reads each answer off" in proof_sentence(result)
    assert {row[0] for row in proof_table(result).rows} == {"none", "causal"}


@pytest.mark.parametrize(("loss", "said"), [(READ_OFF - 0.001, True), (READ_OFF, False)])
def test_reading_off_is_said_only_near_zero(loss: float, said: bool) -> None:
    curves = (LossCurve("none", ((1, loss, 0.9),)), LossCurve("causal", ((1, 5.0, 0.1),)))
    assert ("reads each answer off" in proof_sentence(ProofResult(curves))) is said
