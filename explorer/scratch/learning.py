"""A model with its objective: the loss of a batch, the scores on held-out rows, the parts that are saved, and what it says
while it is still learning.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import BertForMaskedLM, BertLMHeadModel, PreTrainedModel, PreTrainedTokenizerBase

from explorer.models.catalog import TRAINED_FOLDER
from explorer.objectives.batches import Batch
from explorer.objectives.electra import ElectraPair, electra_loss
from explorer.objectives.losses import Loss, causal_loss, masked_loss, with_pairs
from explorer.scratch.spec import OBJECTIVES, Said, ScratchSpec
from explorer.text import MASK_SPELLINGS, up_to_blank
from explorer.tuning.reading import precision

NAMES = {"mlm_loss": "masked_loss", "mlm_accuracy": "accuracy", "next_accuracy": "accuracy"}
"""The names that runs use for some of the losses' figures; the others keep theirs."""

DRAWN = 7
"""A number in the key of ELECTRA's draws, which sets them apart from others with the same seed and step."""


class Learner:
    """Computes an objective on a model: a BertForPreTraining, a BertLMHeadModel or an ElectraPair, by the spec's objective."""

    def __init__(self, spec: ScratchSpec, model: nn.Module, device: torch.device) -> None:
        self.spec, self.device = spec, device
        self.model: Any = model.to(device)

    def loss(self, batch: Batch, step: int) -> Loss:
        """Return the objective's loss of one batch; what is drawn depends on the seed and the step alone."""
        with precision(self.device):
            if isinstance(self.model, ElectraPair):
                key = np.random.SeedSequence((self.spec.seed, DRAWN, step)).generate_state(1, np.uint64)[0]
                # >> 1: manual_seed takes 63 bits.
                found = electra_loss(self.model, batch, torch.Generator().manual_seed(int(key) >> 1))
            elif OBJECTIVES[self.spec.objective].predicts_next:
                found = causal_loss(self.model, batch)
            else:
                found = with_pairs(masked_loss(self.model, batch), self.model, batch)
        return Loss(found.total, {NAMES.get(name, name): value for name, value in found.figures.items()})

    @torch.no_grad()
    def measure(self, batches: list[Batch]) -> dict[str, float]:
        """Return the mean of each figure over some rows, each batch weighted by how much was asked in it: hidden
        tokens, or rows.
        """
        self.model.eval()
        sums: dict[str, float] = defaultdict(float)
        weights: dict[str, float] = defaultdict(float)
        for number, batch in enumerate(batches):
            figures = self.loss(batch, number).figures
            asked = {"pair": len(batch.pair_labels), "replaced": int(batch.attention_mask.sum())}
            tokens = int((batch.labels >= 0).sum()) or int(batch.attention_mask[:, 1:].sum())
            for name, value in figures.items():
                weight = asked.get(name.split("_")[0], tokens)
                sums[name] += weight * value
                weights[name] += weight
        return {name: total / weights[name] for name, total in sums.items()}

    def parts(self) -> dict[str, PreTrainedModel]:
        """Return the models to save, by folder: the model; for ELECTRA discriminator and generator."""
        if isinstance(self.model, ElectraPair):
            return {TRAINED_FOLDER: self.model.discriminator, "generator": self.model.generator}
        return {TRAINED_FOLDER: self._without_idle_heads()}

    def _without_idle_heads(self) -> PreTrainedModel:
        """Return the model without heads that have learned nothing and would answer at random: only NSP keeps that head
        and its pooler.
        """
        model = self.model
        if self.spec.objective == "mlm_nsp" or OBJECTIVES[self.spec.objective].predicts_next:
            return model  # type: ignore[no-any-return]
        plain: PreTrainedModel = BertForMaskedLM(model.config)
        plain.load_state_dict(model.state_dict(), strict=False)
        plain.tie_weights()
        return plain


TOP = 5
WRITTEN = 12
"""Tokens that a model of the next token adds."""


@torch.no_grad()
def say(model: Any, tokenizer: PreTrainedTokenizerBase, text: str, step: int, longest: int) -> tuple[Said, ...]:
    """Return one answer for each blank of a text, cut to `longest` tokens; one answer for a text that is to be continued."""
    if isinstance(model, ElectraPair):
        model = model.generator
    model.eval()
    if isinstance(model, BertLMHeadModel):
        return (_continued(model, tokenizer, text, step, longest),)
    given = tokenizer(MASK_SPELLINGS.sub("[MASK]", text), truncation=True, max_length=longest, return_tensors="pt").to(
        model.device
    )
    output = model(**given)
    logits = (output.prediction_logits if "prediction_logits" in output else output.logits)[0]
    blanks = (given["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    return tuple(Said(step, text, number, *_top(logits[position], tokenizer)) for number, position in enumerate(blanks))


def _top(logits: torch.Tensor, tokenizer: PreTrainedTokenizerBase) -> tuple[tuple[str, ...], tuple[float, ...]]:
    chances, ids = logits.float().softmax(-1).topk(TOP)
    return tuple(tokenizer.convert_ids_to_tokens(ids.tolist())), tuple(chances.tolist())


def _continued(model: Any, tokenizer: PreTrainedTokenizerBase, text: str, step: int, longest: int) -> Said:
    """Return the likeliest next tokens after the text before the first blank, and the greedy continuation."""
    prompt, _ = up_to_blank(text)
    kept = tokenizer(prompt, truncation=True, max_length=max(3, longest - WRITTEN))["input_ids"][:-1]  # without [SEP]
    ids = torch.tensor([kept], device=model.device)
    first: tuple[tuple[str, ...], tuple[float, ...]] | None = None
    for _ in range(min(WRITTEN, model.config.max_position_embeddings - len(kept))):
        logits = model(input_ids=ids).logits[0, -1]
        first = first or _top(logits, tokenizer)
        ids = torch.cat([ids, logits.argmax().view(1, 1)], dim=1)
    assert first is not None
    return Said(step, text, 0, *first, str(tokenizer.decode(ids[0, len(kept) :])))
