"""DistilBERT (Sanh et al. 2019): a student of half the layers learns a teacher's guesses, the text and its states.

The loss is 5 T^2 KL(teacher/T || student/T) at the masked positions, T = 2, plus 2 MLM, plus 1 the cosine distance of the
last hidden states: the weights and the temperature of the published training code.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity
from transformers import DistilBertConfig, DistilBertForMaskedLM

from explorer.models.heads import before_decoder
from explorer.models.shortening import half_of, layers_kept
from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, TrueTokens, encode, masked_loss, tie
from pretraining.objectives.alignment import load_teacher
from pretraining.objectives.base import Place, Pretrainer
from pretraining.recipes import DistillationRecipe
from pretraining.starts.distilbert import LAYER_NAMES


class DistilbertPretrainer(Pretrainer[DistillationRecipe]):
    """The recipe's start is the teacher; it computes without gradients and is not exported."""

    model_class = DistilBertForMaskedLM
    word_embeddings = "distilbert.embeddings.word_embeddings.weight"

    def __init__(self, recipe: DistillationRecipe, place: Place) -> None:
        self.teacher = load_teacher(place, recipe.start)
        super().__init__(recipe, place)

    def go_on(self) -> DistilBertForMaskedLM:
        """The student, begun from half of its teacher's layers."""
        return student_of(self.teacher)

    def loss(self, batch: Batch, step: int) -> Loss:
        """The three terms, weighted as the recipe says."""
        recipe, chosen = self.recipe, batch.labels >= 0
        self.teacher.to(self.model.device)
        with torch.no_grad():
            taught = encode(self.teacher, batch).last_hidden_state
            wanted = before_decoder(self.teacher, taught, chosen)
        judge = SoftTargets(
            batch.labels[chosen].to(wanted.device), wanted, self.teacher.get_output_embeddings(), recipe
        )
        masked = masked_loss(self.model, batch, judge)
        seen = batch.attention_mask.bool().to(taught.device)
        cosine = cosine_distance(masked.output.last_hidden_state[seen], taught[seen])
        figures = judge.figures | {"cosine_loss": float(cosine.detach())}
        return Loss(masked.loss.total + recipe.cosine_weight * cosine, figures)


class SoftTargets(TrueTokens):
    """Judges by the true tokens and by a teacher's scores: mlm_weight * MLM + soft_weight * T^2 KL.

    wanted: (rows, width), what the teacher's `decoder` reads at the same positions.
    """

    def __init__(self, truth: Tensor, wanted: Tensor, decoder: nn.Linear, recipe: DistillationRecipe) -> None:
        super().__init__(truth)
        self.wanted, self.decoder, self.recipe = wanted, decoder, recipe
        self.mlm = self.soft = 0.0
        self.agreed = 0

    def __call__(self, rows: slice, logits: Tensor) -> tuple[float, Tensor]:
        """The divergence's gradient is T (softmax(student / T) - softmax(teacher / T))."""
        recipe = self.recipe
        with torch.no_grad():
            teacher = self.decoder(self.wanted[rows].to(self.decoder.weight.dtype)).float()
        mlm, gradient = super().__call__(rows, logits)
        soft, by_logits = softened_divergence(logits, teacher, recipe.temperature)
        self.mlm, self.soft = self.mlm + mlm, self.soft + soft
        self.agreed += int((logits.argmax(-1) == teacher.argmax(-1)).sum())
        loss = recipe.mlm_weight * mlm + recipe.soft_weight * soft
        return loss, gradient.mul_(recipe.mlm_weight).add_(by_logits, alpha=recipe.soft_weight)

    @property
    def figures(self) -> dict[str, float]:
        """The means over the rows: both losses, the share of right guesses and of those that are the teacher's."""
        rows = max(1, len(self.truth))
        return {
            "mlm_loss": self.mlm / rows,
            "mlm_accuracy": self.accuracy,
            "soft_loss": self.soft / rows,
            "agreement_accuracy": self.agreed / rows,
        }


def softened_divergence(student: Tensor, teacher: Tensor, temperature: float) -> tuple[float, Tensor]:
    """T^2 KL(softmax(teacher / T) || softmax(student / T)), summed over rows, and its gradient by the student's logits.

    Both are (rows, vocabulary). T^2 keeps the gradients' size as T grows (Hinton et al. 2015, section 2).
    """
    ours, wanted = ((logits / temperature).log_softmax(-1) for logits in (student, teacher))
    targets = wanted.exp()
    loss = float((targets * (wanted - ours)).sum()) * temperature**2
    return loss, (ours.exp_() - targets) * temperature


def cosine_distance(student: Tensor, teacher: Tensor) -> Tensor:
    """1 - cos of the angle between two states, the mean over tokens; both (tokens, width)."""
    return (1.0 - cosine_similarity(student.float(), teacher.float(), dim=-1)).mean()


@torch.no_grad()
def student_of(teacher: Any) -> DistilBertForMaskedLM:
    """Half of a BERT: half of its layers from first to last, no segment embeddings, no pooler, the same vocabulary and MLM head.

    The first segment's embedding is added to every position's: texts of one segment keep their sum.
    """
    config, depth = teacher.config, teacher.config.num_hidden_layers
    # Of bert-mini's six 0, 2 and 5: after 16 steps at a divergence of 0.53, where 0, 2, 4 are at 0.66 and 1, 3, 5 at 0.76.
    kept = layers_kept(depth, half_of(depth), "first_to_last")
    student = DistilBertForMaskedLM(
        DistilBertConfig(
            vocab_size=config.vocab_size,
            max_position_embeddings=config.max_position_embeddings,
            n_layers=len(kept),
            n_heads=config.num_attention_heads,
            dim=config.hidden_size,
            hidden_dim=config.intermediate_size,
            pad_token_id=config.pad_token_id,
        )
    )
    source, target = teacher.bert.embeddings, student.distilbert.embeddings
    target.word_embeddings.weight.copy_(source.word_embeddings.weight)
    target.position_embeddings.weight.copy_(source.position_embeddings.weight + source.token_type_embeddings.weight[0])
    target.LayerNorm.load_state_dict(source.LayerNorm.state_dict())
    for number, layer in enumerate(student.distilbert.transformer.layer):
        taken = teacher.bert.encoder.layer[kept[number]]
        for own, name in LAYER_NAMES.items():
            layer.get_submodule(own).load_state_dict(taken.get_submodule(name).state_dict())
    head = teacher.cls.predictions
    student.vocab_transform.load_state_dict(head.transform.dense.state_dict())
    student.vocab_layer_norm.load_state_dict(head.transform.LayerNorm.state_dict())
    student.vocab_projector.bias.copy_(head.bias)
    tie(student)
    return student
