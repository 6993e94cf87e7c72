"""The model that is pruned, with a task's examples, its loss for each of them and its metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from explorer.compress.asking import BY_CLASS, Asked, Kind, ask, asked_of, example_losses, kind_of
from explorer.compress.cuts import Cut, Shape
from explorer.compress.removal import masked, remove, shape_of, why_not_removed
from explorer.errors import BadInputError
from explorer.models.heads import head_at
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.metrics import METRICS
from explorer.tasks.task import TaskData
from explorer.tuning.adapted import Adapted
from explorer.tuning.merging import as_loaded, as_mask_filler, merged
from explorer.tuning.reading import Scale, decide, precision
from explorer.tuning.rows import ordered_batches
from explorer.tuning.spec import LONGEST_ROW
from explorer.wanted import go_on

TOKENS_AT_ONCE = 2048
"""Tokens of a batch whose gradients are computed."""


@dataclass(frozen=True)
class Subject:
    """One model to prune. It is shared by all visitors who ask about it, and never changed.

    model: a plain model of its family, frozen; adapters are merged if they can be. examples: those on which importance
    is measured. held_out: those on which the metric is measured. fixed: why no part can be removed; None if parts can.
    take: turns a batch into the inputs that the model accepts.
    """

    name: str
    loaded: LoadedModel
    model: PreTrainedModel
    kind: Kind
    data: TaskData
    examples: Asked
    held_out: Asked
    scale: Scale
    fixed: str | None
    take: Callable[[dict[str, Tensor]], dict[str, Tensor]]

    @property
    def shape(self) -> Shape:
        """The numbers of the whole model's parts."""
        return shape_of(self.model, self.loaded.architecture)

    @property
    def metric(self) -> str:
        """The metric's name in explorer.tasks.metrics."""
        return self.data.task.metrics[0] if self.kind is BY_CLASS else self.kind.metric

    def scores(self, model: Any, inputs: dict[str, Tensor]) -> Tensor:
        """Return (rows, classes) or (rows, length, classes). Raises UnwantedError where nobody waits for them."""
        go_on()
        return self.kind.scores(self.loaded, model(**self.take(inputs)))

    def answers(self, model: Any, inputs: dict[str, Tensor], labels: Tensor) -> Tensor:
        """Return (rows, classes), or (asked, classes) at the tokens alone that `labels`, (rows, length), asks for."""
        asked = asked_of(labels)
        if asked is None:
            return self.scores(model, inputs)
        with head_at(model, asked):
            return self.scores(model, inputs)[0]

    def losses(self, model: Any, places: list[int], loss: str) -> Tensor:
        """Return the loss of each of these examples, (rows,)."""
        inputs, labels = self.examples.batch(places, self.loaded.device)
        return example_losses(self.answers(model, inputs, labels), labels, loss, self.scale.mean, self.scale.spread)

    @torch.inference_mode()
    def measure(self, model: Any, quick: bool = True) -> float | None:
        """Return the metric on all held-out examples; None if it is not defined on them.

        quick: with bfloat16 products if the processor has them (explorer.tuning.reading.precision).
        """
        truths: list[float] = []
        guesses: list[float] = []
        for places in ordered_batches(self.held_out.rows.lengths):
            inputs, labels = self.held_out.batch(places, self.loaded.device)
            with self.precision() if quick else nullcontext():
                scores = self.answers(model, inputs, labels).float().cpu()
            asked = asked_of(labels)
            labels = labels if asked is None else labels[asked]
            truths += [float(label) for label in labels.tolist()]
            guesses += decide(self.data.task if self.kind is BY_CLASS else _CLASSES, scores, self.scale)
        return METRICS[self.metric].compute(truths, guesses)

    def precision(self) -> AbstractContextManager[object]:
        """Return a context with bfloat16 products if the processor has them and the family's code can use them."""
        return precision(self.loaded.device, self.loaded.architecture)

    def tree(self) -> PreTrainedModel:
        """Return the model in modules of the caller's own, over the same tensors."""
        return private_tree(self.model)

    def batch(self, size: int) -> dict[str, Tensor]:
        """Return the first `size` held-out examples, repeated if there are too few, padded to the longest of them."""
        places = [place % len(self.held_out) for place in range(size)]
        return self.held_out.batch(places, self.loaded.device)[0]

    @contextmanager
    def without(self, cut: Cut) -> Iterator[PreTrainedModel]:
        """Yield the model without the parts of a cut: removed if possible, else masked."""
        if self.can_remove(cut):
            yield remove(self.model, self.loaded.architecture, cut).model
            return
        tree = self.tree()
        with masked(tree, self.loaded.architecture, cut, self.shape):
            yield tree

    def having(self, model: PreTrainedModel) -> Subject:
        """Return the same questions to a model with other weights."""
        return replace(self, model=model)

    def on_cpu(self) -> Subject:
        """Return the same questions, for models that are on the CPU."""
        return replace(self, loaded=replace(self.loaded, device=torch.device("cpu")))

    def can_remove(self, cut: Cut) -> bool:
        """Return whether these parts can be removed."""
        return self.why_not(cut) is None

    def why_not(self, cut: Cut) -> str | None:
        """Return why they cannot be removed; None if they can."""
        if self.fixed is not None:
            return self.fixed
        return why_not_removed(self.model, self.loaded.architecture) if any(cut.heads) else None


class _Classes:
    """Stands in for a task of classes: decide() asks a task only whether it is a regression."""

    is_regression = False


_CLASSES: Any = _Classes()


def of_model(loaded: LoadedModel, data: TaskData, examples: int, held_out: int) -> Subject:
    """Return a pretrained model on a task's texts, without their labels."""
    kind = kind_of(loaded)
    train, held = (ask(loaded, kind, part, LONGEST_ROW) for part in _parts(data, examples, held_out))
    return Subject(loaded.model_id, loaded, loaded.model, kind, data, train, held, Scale(), None, lambda inputs: inputs)


def of_run(adapted: Adapted, name: str, data: TaskData, scale: Scale, examples: int, held_out: int) -> Subject:
    """Return a fine-tuned classifier on its task, or a student on plain text as the masked language model that it is.

    Must be called outside of inference mode. Raises BadInputError for a method with virtual tokens, and for a task with
    another number of classes.
    """
    if adapted.method.fills_masks:
        return of_model(as_mask_filler(adapted, name), data, examples, held_out)
    adapted.require_classes()
    opened = as_loaded(adapted, name)
    outputs = int(adapted.fork.config.num_labels or 1)
    if data.task.outputs != outputs:
        raise BadInputError(
            f"{name} tells {outputs} classes apart, and {data.task.title} has {data.task.outputs}. Take the run's own task."
        )
    if len(data.task.labels) == 1:
        raise BadInputError(f"{data.task.title} has one class only, so nothing can be told apart. Take another task.")
    reason = adapted.method.unmergeable
    model = _normal(opened.model) if reason else merged(adapted)
    fixed = None if not reason else f"{adapted.method.title} cannot be merged into the weights: {reason}"
    longest = min(LONGEST_ROW, adapted.longest)
    train, held = (ask(opened, BY_CLASS, part, longest) for part in _parts(data, examples, held_out))
    return Subject(name, opened, model, BY_CLASS, data, train, held, scale, fixed, adapted.taken)


def _normal(model: PreTrainedModel) -> PreTrainedModel:
    """Return the same tensors, but copies of those that were made in inference mode, which have no gradients."""
    tree = private_tree(model)
    for module in tree.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter.is_inference():
                module._parameters[name] = torch.nn.Parameter(parameter.clone(), requires_grad=False)
    return tree.requires_grad_(False)


def _parts(data: TaskData, examples: int, held_out: int) -> tuple[Any, Any]:
    return data.train[:examples], next(iter(data.validation.values()))[:held_out]
