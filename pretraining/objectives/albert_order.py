"""Sentence order, taught to every token before [CLS] has to tell it.

What tells the order of two segments is faint: a linear model over the words of 60,000 pairs is right in 58% of new ones. One
label a row does not bring it to [CLS]: after 20,000 pairs its pooled state was the same for every row. So at first every
token says whether its segment comes first in the text, by one linear map: a hundred labels a row, and the rows' votes are
right as often as the linear model after 10,000 pairs. Then a copy of the model is held still and is the teacher: [CLS] learns
what its votes came to, which is distillation (Hinton et al. 2015) and has none of the noise that the labels have. A vote for
"mine comes first" means the opposite in the other segment, and a product of two features is found slowly where only the mean
of a hundred tells whether it is right: 340 steps found nothing. So each token is asked for its vote with its segment's sign
too, and after 230 steps [CLS] sides with the votes in 84% of the rows. The labels alone come last, which sets the probabilities
right. ALBERT (Lan et al. 2020) has only the label of each row, and 500 million rows.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss
from transformers import AlbertForPreTraining, PreTrainedModel

from explorer.errors import BadInputError
from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, encode, masked_loss, pair_logits, with_pairs
from explorer.objectives.rows import IN_ORDER, SWAPPED, USUAL_ROWS, RowMaker
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import AlbertOrderRecipe
from pretraining.starts.transplant import load

SEGMENTS_APART = 0.6
"""How long the difference of the two segments' embeddings is at first, beside word embeddings of about 1."""
SINGLE_SENTENCES = 0.1
"""The share of pairs of single sentences, which tell less."""
VOTE_SCALE = 4.0
"""The log-odds of a row's order are so many times the difference of its segments' mean votes."""


class Voters(nn.Module):
    """An ALBERT whose tokens vote, and the copy of it that is the teacher later."""

    def __init__(self, albert: AlbertForPreTraining) -> None:
        super().__init__()
        width = albert.config.hidden_size
        self.albert = albert
        self.first, self.signed, self.gathered = (nn.Linear(width, 1) for _ in range(3))
        self.teacher = copy.deepcopy(albert).requires_grad_(False)
        self.teacher_first = nn.Linear(width, 1).requires_grad_(False)

    @torch.no_grad()
    def hold_still(self) -> None:
        """Make the teacher what the model is now."""
        self.teacher.load_state_dict(self.albert.state_dict())
        self.teacher_first.load_state_dict(self.first.state_dict())


class AlbertOrderPretrainer(Pretrainer[AlbertOrderRecipe]):
    """MLM with the tokens' votes first, then with [CLS] by what they came to, then by the labels.

    The recipe's start is a model that knows its words.
    """

    model_class = AlbertForPreTraining
    drawers = {**USUAL_ROWS, "pair": partial(RowMaker.order, short_share=SINGLE_SENTENCES)}
    word_embeddings = "albert.albert.embeddings.word_embeddings.weight"
    new_parts = (
        "albert.sop_classifier.",
        "albert.albert.pooler.",
        "albert.albert.embeddings.token_type_embeddings.",
        "first.",
        "signed.",
        "gathered.",
    )

    @torch.no_grad()
    def go_on(self) -> Voters:
        """The recipe's start with a new pooler and with segments that differ: order cannot be told by who hardly sees them.

        One that has learned it already stays as it is. Raises BadInputError if no layer is left to gather the votes.
        """
        model: AlbertForPreTraining = load(self.recipe.start, self.place.models, AlbertForPreTraining)
        if self.recipe.further:
            return Voters(model)
        if self.recipe.after_layer >= model.config.num_hidden_layers:
            raise BadInputError(
                f"{self.recipe.start} has {model.config.num_hidden_layers} layers, and the tokens vote after layer "
                f"{self.recipe.after_layer}: take an earlier one, so that another can gather the votes."
            )
        torch.nn.init.normal_(model.albert.pooler.weight, std=0.05)
        torch.nn.init.zeros_(model.albert.pooler.bias)
        segments = model.albert.embeddings.token_type_embeddings.weight
        apart = torch.randn(segments.shape[1])
        segments[1] = segments[0] + SEGMENTS_APART * apart / apart.norm()
        return Voters(model)

    def loss(self, batch: Batch, step: int) -> Loss:
        """MLM, plus order by the part of the run that the step is in."""
        voted = round(self.recipe.voted_share * self.recipe.steps)
        taught = voted + round(self.recipe.taught_share * self.recipe.steps)
        if step == voted:
            self.model.hold_still()
        masked = masked_loss(self.model.albert, batch, output_hidden_states=True)
        if step >= taught:
            return with_pairs(masked, self.model.albert, batch)
        votes = told(self.model.first, masked.output.hidden_states[self.recipe.after_layer])
        further: dict[str, float] = {}
        if step < voted:
            order, verdicts = voting_loss(votes, batch)
        else:
            order, verdicts, further = self.gathering_loss(masked.output, votes, batch)
        truth = in_order(batch).to(votes.device)
        figures = {
            "pair_loss": float(binary_cross_entropy_with_logits(verdicts, truth)),
            "pair_accuracy": float(((verdicts > 0) == (truth > 0)).float().mean()),
        }
        return Loss(masked.loss.total + order, masked.loss.figures | figures | further)

    def gathering_loss(self, output: Any, votes: Tensor, batch: Batch) -> tuple[Tensor, Tensor, dict[str, float]]:
        """How far the model is from the teacher's votes, at each place on their way to [CLS].

        The votes where they were cast; at the next position, by another map, each with the sign of its segment, so that what
        [CLS] needs is their mean; that mean, which is the row's order, at the last position of every token; and what [CLS]
        says. With it the log-odds that [CLS] gives, and for the log in how many rows it sides with the teacher.
        """
        seen, states = batch.attention_mask.bool().to(votes.device), output.hidden_states
        taught = self.taught(batch)
        odds = row_log_odds(taught, batch)
        signed = taught * torch.where(batch.token_type_ids == 0, 1.0, -1.0).to(votes.device)
        by_row = odds[:, None].expand_as(votes)
        wanted = (
            (votes, taught),
            (told(self.model.signed, states[self.recipe.after_layer + 1]), signed),
            (told(self.model.gathered, states[-1]), by_row),
        )
        apart = torch.stack([misfit(own[seen], theirs[seen]) for own, theirs in wanted]).sum()
        verdicts = order_logits(self.model.albert, output.pooler_output)
        said = binary_cross_entropy_with_logits(verdicts, torch.sigmoid(self.recipe.sharpness * odds))
        agreed = float(((verdicts > 0) == (odds > 0)).float().mean())
        return apart + self.recipe.said_weight * said, verdicts.detach(), {"agreement_accuracy": agreed}

    @torch.no_grad()
    def taught(self, batch: Batch) -> Tensor:
        """The teacher's votes: (rows, length)."""
        states = encode(self.model.teacher, batch, output_hidden_states=True).hidden_states
        return told(self.model.teacher_first, states[self.recipe.after_layer])

    def models(self) -> dict[str, PreTrainedModel]:
        """The ALBERT alone."""
        return {self.recipe.name: self.model.albert}


def told(head: nn.Linear, states: Tensor) -> Tensor:
    """One number a token, by a map to one: states (rows, length, width); (rows, length)."""
    numbers: Tensor = head(states).squeeze(-1).float()
    return numbers


def misfit(own: Tensor, theirs: Tensor) -> Tensor:
    """The squared distance in units of their variance: 0 for the same, 1 for who says their mean everywhere."""
    return mse_loss(own, theirs) / theirs.var().clamp(min=1e-6)


def in_order(batch: Batch) -> Tensor:
    """1 for a row in order, 0 for a swapped one: (rows,)."""
    return (batch.pair_labels == IN_ORDER).float()


def comes_first(batch: Batch) -> Tensor:
    """For each token, whether its segment comes first in the text: (rows, length)."""
    return ((batch.token_type_ids == 0) == (batch.pair_labels[:, None] == IN_ORDER)).float()


def row_log_odds(votes: Tensor, batch: Batch) -> Tensor:
    """The log-odds that each row is in order, from votes (rows, length): the scaled difference of the segments' means."""
    seen = batch.attention_mask.bool()
    means = []
    for segment in (0, 1):
        own = ((batch.token_type_ids == segment) & seen).to(votes.device)
        means.append((votes * own).sum(1) / own.sum(1))
    return VOTE_SCALE * (means[0] - means[1])


def voting_loss(votes: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """How well each token and each row tells the order, from votes (rows, length); the rows' log-odds."""
    seen = batch.attention_mask.bool()
    by_token = binary_cross_entropy_with_logits(votes[seen.to(votes.device)], comes_first(batch)[seen].to(votes.device))
    verdicts = row_log_odds(votes, batch)
    return by_token + binary_cross_entropy_with_logits(verdicts, in_order(batch).to(votes.device)), verdicts.detach()


def order_logits(albert: AlbertForPreTraining, pooled: Tensor) -> Tensor:
    """The SOP head's log-odds that each row is in order: (rows,)."""
    logits = pair_logits(albert, pooled).float()
    return logits[:, IN_ORDER] - logits[:, SWAPPED]
