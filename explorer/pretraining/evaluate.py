"""What a pretrained model can do, measured on text that it never saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm
from transformers import AutoTokenizer, BertForPreTraining, PreTrainedTokenizerBase

from explorer.maths.corruption import CorruptionRecipe
from explorer.pretraining.batches import Row, RowMaker, TextStore, collate
from explorer.pretraining.corpus import read_documents

ROWS_PER_BATCH = 32


@dataclass(frozen=True)
class Scores:
    """Accuracies in [0, 1] and the mean loss in nats; `tokens` and `pairs` are how many were measured.

    pair_accuracy is for pairs of segments that fill the row, as BERT draws them; sentence_pair_accuracy is for as many
    pairs of one sentence each, as visitors type them.
    """

    top_1: float
    top_5: float
    mlm_loss: float
    tokens: int
    pair_accuracy: float
    sentence_pair_accuracy: float
    pairs: int

    def __str__(self) -> str:
        return (
            f"MLM top-1 {self.top_1:.2%}, top-5 {self.top_5:.2%}, loss {self.mlm_loss:.3f} nats "
            f"over {self.tokens} tokens; NSP {self.pair_accuracy:.2%} over {self.pairs} pairs of segments, "
            f"{self.sentence_pair_accuracy:.2%} over as many pairs of single sentences"
        )


def evaluate(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    text: Path,
    length: int = 128,
    pairs: int = 2000,
    most_rows: int = 100_000,
) -> Scores:
    """Measure MLM (15% chosen, 80/10/10) and NSP (50/50 pairs) on a text file.

    Every token of the file is seen once, in rows of `length` inside one document; a fixed seed chooses the masked ones.
    """
    store = TextStore.from_documents(read_documents(text), tokenizer)
    maker = RowMaker(int(tokenizer.cls_token_id), int(tokenizer.sep_token_id))
    was_training = model.training
    model.eval()
    rows = all_rows(store, maker, length)[:most_rows]
    hits_1, hits_5, loss, tokens, _ = _run(model, tokenizer, rows, CorruptionRecipe())
    right = []
    for short_share in (0.0, 1.0):
        rng = np.random.default_rng(0)
        pair_rows = [maker.pair(store, length, rng, short_share) for _ in range(pairs)]
        *_, correct = _run(model, tokenizer, pair_rows, CorruptionRecipe(rate=0.0))
        right.append(correct / max(1, pairs))
    model.train(was_training)
    return Scores(hits_1 / tokens, hits_5 / tokens, loss / tokens, tokens, right[0], right[1], pairs)


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


@torch.inference_mode()
def _run(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    rows: list[Row],
    recipe: CorruptionRecipe,
) -> tuple[int, int, float, int, int]:
    """Hits at 1 and at 5, summed loss, tokens measured, and pairs classified rightly."""
    generator = torch.Generator().manual_seed(0)
    special = set(tokenizer.all_special_ids)
    replacements = torch.tensor([i for i in range(len(tokenizer)) if i not in special])
    hits_1 = hits_5 = tokens = right = 0
    loss = 0.0
    for first in tqdm(range(0, len(rows), ROWS_PER_BATCH), unit="batch", leave=False):
        batch = collate(rows[first : first + ROWS_PER_BATCH], recipe, tokenizer, replacements, generator)
        states = model.bert(
            batch.input_ids.to(model.device),
            attention_mask=batch.attention_mask.to(model.device),
            token_type_ids=batch.token_type_ids.to(model.device),
        )
        chosen = batch.labels >= 0
        truth = batch.labels[chosen].to(model.device)
        if len(truth):
            logits = model.cls.predictions(states.last_hidden_state[chosen.to(model.device)]).float()
            loss += float(torch.nn.functional.cross_entropy(logits, truth, reduction="sum"))
            best = logits.topk(5).indices
            hits_1 += int((best[:, 0] == truth).sum())
            hits_5 += int((best == truth[:, None]).sum())
            tokens += len(truth)
        pair = model.cls.seq_relationship(states.pooler_output).argmax(-1).cpu()
        right += int((pair == batch.pair_labels).sum())
    return hits_1, hits_5, loss, tokens, right


def load(folder: Path) -> tuple[BertForPreTraining, PreTrainedTokenizerBase]:
    """An exported model and its tokenizer, ready to measure in float32."""
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32)
    return model.eval(), AutoTokenizer.from_pretrained(folder)
