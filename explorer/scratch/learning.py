"""A model with its objective: the loss of a batch, the scores on held-out rows, and the parts that are saved."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import BertForMaskedLM, PreTrainedModel

from explorer.models.catalog import TRAINED_FOLDER
from explorer.objectives.batches import Batch
from explorer.objectives.electra import ElectraPair, electra_loss
from explorer.objectives.losses import Loss, causal_loss, masked_loss, with_pairs
from explorer.scratch.objectives import OBJECTIVES
from explorer.scratch.spec import ScratchSpec
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
