"""The rows of a run: by the seed and the step alone, with masks that are static or dynamic."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from explorer.maths.corruption import IGNORED_LABEL
from explorer.objectives.batches import Batch
from explorer.scratch.rows import Drawn
from explorer.scratch.spec import ScratchSpec
from tests.scratch.small import small, stories, vocabulary


def drawn(spec: ScratchSpec) -> Drawn:
    return Drawn(spec, stories(), vocabulary())


def same(one: Batch, other: Batch) -> bool:
    return all(torch.equal(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(Batch))


def by_row(rows: Drawn, steps: range) -> dict[str, tuple[list[int], ...]]:
    """Every row's original tokens (as a key) and all masks that it was read with."""
    found: dict[str, list[list[int]]] = {}
    for step in steps:
        batch = rows.batch(step)
        for original, labels in zip(batch.original_ids.tolist(), batch.labels.tolist(), strict=True):
            found.setdefault(str([one for one in original if one]), []).append(
                [place for place, label in enumerate(labels) if label != IGNORED_LABEL]
            )
    return {key: tuple(masks) for key, masks in found.items()}


def test_a_step_s_rows_depend_on_seed_and_step_alone() -> None:
    spec = small()
    assert same(drawn(spec).batch(3), drawn(spec).batch(3))
    assert not same(drawn(spec).batch(3), drawn(spec).batch(4))
    assert not same(drawn(spec).batch(3), drawn(small(seed=1)).batch(3))


@pytest.mark.parametrize(("masking", "repeats"), [("static", True), ("dynamic", False)])
def test_static_masks_come_again_and_dynamic_ones_do_not(masking: str, repeats: bool) -> None:
    rows = drawn(small(masking=masking, copies=1, row_format="doc_sentences", objective="mlm"))
    rows.an_epoch = 16  # two steps
    read = by_row(rows, range(6))
    thrice = [masks for masks in read.values() if len(masks) == 3 and len(masks[0]) > 1]
    assert len(thrice) > 8
    assert all((masks[0] == masks[1] == masks[2]) is repeats for masks in thrice)


def test_ten_copies_are_ten_masks_and_then_the_first_again() -> None:
    rows = drawn(small(masking="static", copies=2, row_format="doc_sentences", objective="mlm"))
    rows.an_epoch = 8  # one step
    batches = [rows.batch(step) for step in range(4)]
    assert sorted(map(str, batches[0].input_ids.tolist())) == sorted(map(str, batches[2].input_ids.tolist()))
    assert sorted(map(str, batches[0].input_ids.tolist())) != sorted(map(str, batches[1].input_ids.tolist()))


@pytest.mark.parametrize("row_format", ["segment_pair", "sentence_pair"])
def test_pairs_have_a_class_and_two_segments(row_format: str) -> None:
    batch = drawn(small(row_format=row_format)).batch(0)
    assert batch.paired
    assert set(batch.token_type_ids.unique().tolist()) == {0, 1}


@pytest.mark.parametrize("row_format", ["segment_pair", "full_sentences", "doc_sentences"])
def test_a_model_that_judges_no_pairs_gets_no_class(row_format: str) -> None:
    assert not drawn(small(row_format=row_format, objective="mlm")).batch(0).paired


def test_what_is_hidden_follows_the_objective() -> None:
    mask = vocabulary().mask_token_id
    causal = drawn(small(objective="causal")).batch(0)
    assert not (causal.labels >= 0).any()
    replaced = drawn(small(objective="rtd", row_format="full_sentences")).batch(0)
    chosen = replaced.labels >= 0
    assert (replaced.input_ids[chosen] == mask).all()
    bert = drawn(small(rate=0.4, batch_size=64)).batch(0)
    chosen = bert.labels >= 0
    share = float((bert.input_ids[chosen] == mask).float().mean())
    assert 0.75 < share < 0.85


def test_held_out_rows_are_of_held_out_documents_and_of_no_seed() -> None:
    one, other = (drawn(small(seed=seed)).measured() for seed in (0, 1))
    assert all(same(a, b) for a, b in zip(one, other, strict=True))
    rows = drawn(small())
    held = set(rows.held_out.ids.tolist())
    asked = {token for batch in rows.measured() for token in batch.original_ids[batch.labels >= 0].tolist()}
    assert asked <= held


def test_the_chosen_may_all_be_masks_or_none() -> None:
    for mask_share, random_share in ((1.0, 0.0), (0.0, 0.0)):
        spec = small(objective="mlm", mask_share=mask_share, random_share=random_share)
        batch, mask = drawn(spec).batch(0), vocabulary().mask_token_id
        chosen = batch.labels != IGNORED_LABEL
        assert chosen.any()
        seen = batch.input_ids[chosen]
        assert (seen == mask).all() if mask_share else torch.equal(seen, batch.original_ids[chosen])
