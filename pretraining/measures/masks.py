"""Masked tokens: how often the true one leads, is among five, and what it costs in nats."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.maths.corruption import CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.models.records import Measure
from explorer.objectives.batches import collate
from explorer.objectives.losses import encode, mlm_logits
from explorer.objectives.rows import Row, RowMaker, row_maker
from explorer.objectives.text import TextStore
from pretraining.measures.measure import Subject

ROWS_PER_BATCH = 32
LENGTH = 128


def measure_masks(subject: Subject) -> list[Measure]:
    """MLM as BERT masks: 15% chosen, 80/10/10; every token of the text is seen once, in rows of 128."""
    top_1, top_5, loss, tokens = mask_scores(subject.model, subject.tokenizer, subject.store)
    over = f"{tokens:,} masked tokens"
    return [
        Measure("mlm_top_1", "MLM top-1", top_1, "share", over),
        Measure("mlm_top_5", "MLM top-5", top_5, "share", over),
        Measure("mlm_loss", "MLM loss", loss, "nats", over),
    ]


@torch.inference_mode()
def mask_scores(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    store: TextStore,
    length: int = LENGTH,
    recipe: CorruptionRecipe | None = None,
) -> tuple[float, float, float, int]:
    """Accuracy at 1 and at 5, mean loss in nats, and how many tokens were masked; a fixed seed chooses them."""
    recipe = recipe or CorruptionRecipe()
    generator, masker = torch.Generator().manual_seed(0), Masker(tokenizer)
    hits_1 = hits_5 = tokens = 0
    loss = 0.0
    rows = all_rows(store, row_maker(tokenizer), length)
    for first in tqdm(range(0, len(rows), ROWS_PER_BATCH), unit="batch", leave=False):
        batch = collate(rows[first : first + ROWS_PER_BATCH], recipe, masker, generator)
        chosen = batch.labels >= 0
        logits = mlm_logits(model, encode(model, batch).last_hidden_state, chosen).float()
        truth = batch.labels[chosen].to(logits.device)
        loss += float(cross_entropy(logits, truth, reduction="sum"))
        best = logits.topk(5).indices
        hits_1 += int((best[:, 0] == truth).sum())
        hits_5 += int((best == truth[:, None]).sum())
        tokens += len(truth)
    return hits_1 / max(1, tokens), hits_5 / max(1, tokens), loss / max(1, tokens), tokens


def all_rows(store: TextStore, maker: RowMaker, length: int) -> list[Row]:
    """Cut the whole store into rows: each holds as many tokens of one document as fit."""
    rows: list[Row] = []
    sentence = 0
    while sentence < store.sentences:
        end = store.document_end(sentence)
        for start in range(int(store.starts[sentence]), int(store.starts[end]), length - 2):
            stop = min(start + length - 2, int(store.starts[end]))
            ids = [maker.cls_id, *map(int, store.ids[start:stop]), maker.sep_id]
            rows.append(Row(ids, [0] * len(ids)))
        sentence = end
    return rows
