"""Replaced tokens: how well a discriminator tells them from original ones, by the area under the ROC curve."""

from __future__ import annotations

from pathlib import Path

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor
from transformers import ElectraForMaskedLM

from explorer.errors import ModelUnavailableError
from explorer.maths.corruption import CorruptionRecipe
from explorer.maths.detection import sampled
from explorer.models.families.electra import generator_of
from explorer.models.hiding import Masker
from explorer.models.records import Measure
from explorer.objectives.batches import collate
from explorer.objectives.electra import fill, replaced_logits
from explorer.objectives.losses import encode, mlm_logits
from explorer.objectives.rows import row_maker
from pretraining.measures.masks import LENGTH, ROWS_PER_BATCH, all_rows
from pretraining.measures.measure import Subject

MASKS = CorruptionRecipe(rate=0.15, mask_share=0.85, random_share=0.0)
"""ELECTRA's own rate."""


def measure_replaced(subject: Subject) -> list[Measure]:
    """15% of the tokens are filled with samples of the model's own generator; the discriminator scores every token."""
    scores, replaced, filled = detections(subject)
    share = float(replaced.float().mean())
    return [
        Measure(
            "rtd_auc",
            "RTD, AUC of replaced tokens against original ones",
            float(roc_auc_score(replaced, scores)),
            "plain",
            f"{len(scores):,} tokens, {share:.1%} of them replaced",
        ),
        Measure(
            "rtd_auc_filled",
            "RTD, AUC among the filled positions: wrong samples against right ones",
            float(roc_auc_score(replaced[filled], scores[filled])),
            "plain",
            f"{int(filled.sum()):,} positions",
        ),
        Measure(
            "rtd_found",
            "RTD, replaced tokens that are found (score above 0)",
            float((scores[replaced] > 0).float().mean()),
            "share",
            f"{int(replaced.sum()):,} tokens",
        ),
        Measure(
            "rtd_false",
            "RTD, original tokens that are taken for replaced",
            float((scores[~replaced] > 0).float().mean()),
            "share",
            f"{int((~replaced).sum()):,} tokens",
        ),
    ]


@torch.inference_mode()
def detections(subject: Subject) -> tuple[Tensor, Tensor, Tensor]:
    """For every token between the special ones: its score, whether it was replaced, and whether it was filled at all.

    Three tensors (tokens,). Raises ModelUnavailableError if the generator is not beside the discriminator.
    """
    generator = _generator(subject.folder).to(subject.model.device)
    tokenizer, masker = subject.tokenizer, Masker(subject.tokenizer)
    masks, draws = (torch.Generator().manual_seed(seed) for seed in (0, 1))
    rows = all_rows(subject.store, row_maker(tokenizer), LENGTH)
    special = torch.tensor(tokenizer.all_special_ids)
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    for first in range(0, len(rows), ROWS_PER_BATCH):
        part = rows[first : first + ROWS_PER_BATCH]
        batch = collate(part, MASKS, masker, masks)
        chosen = batch.labels >= 0
        logits = mlm_logits(generator, encode(generator, batch).last_hidden_state, chosen)
        shown = fill(batch, sampled(logits, draws))
        scores = replaced_logits(subject.model, shown).cpu()
        seen = batch.attention_mask.bool()
        original = batch.original_ids[seen]
        inside = ~torch.isin(original, special)
        parts.append((scores[inside], (shown.input_ids[seen] != original)[inside], chosen[seen][inside]))
    scores, replaced, filled = (torch.cat(column) for column in zip(*parts, strict=True))
    return scores, replaced, filled


def _generator(folder: Path) -> ElectraForMaskedLM:
    place = Path(generator_of(str(folder)))
    try:
        generator: ElectraForMaskedLM = ElectraForMaskedLM.from_pretrained(place, dtype=torch.float32)
    except OSError as error:
        raise ModelUnavailableError(f"{place} holds no generator: it must stand beside its discriminator.") from error
    generator.eval()
    return generator
