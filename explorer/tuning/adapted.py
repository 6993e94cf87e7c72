"""A shared model with one run's adapter on it: how it is made, called, trained, saved and restored, whatever the method."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from explorer.errors import BadInputError
from explorer.models.families import Layers
from explorer.models.loaded_model import LoadedModel
from explorer.models.shortening import half_of, layers_kept
from explorer.tasks.task import CLASSES, MASKED, SPAN, WRITTEN
from explorer.tuning.deltas import Delta, base_weights, model_deltas, stored
from explorer.tuning.forks import head_alone, head_names, read_features
from explorer.tuning.kinds import Kind, kind_of
from explorer.tuning.methods import Method, find_method
from explorer.tuning.seeded import Seeded, SeededDropout
from explorer.tuning.spec import RunSpec

METHOD_STREAM = 2**32
"""Added to the seed for a method's own tensors, so that they are drawn apart from the head's, and all methods begin
with the same head.
"""

_ELSEWHERE = {
    MASKED: "This student fills masks and knows no classes. Ask it on the Distillation page, with [MASK] in a sentence.",
    WRITTEN: "This run writes texts and knows no classes. Ask it on the Generation page, with a meaning.",
    SPAN: "This run finds answers in a text and knows no classes. Ask it on the Fine-tune page, with a question and a text.",
}

START = "start."
"""Prefix of the names of PiSSA's initial factors in a state."""


def adapt(loaded: LoadedModel, outputs: int, spec: RunSpec, kind: str = CLASSES) -> Adapted:
    """Put a method on a model, ready to train; the result depends on the seed alone. `outputs` is the number of
    classes, or 1.

    kind: of the task, which decides the head (explorer.tuning.kinds).

    The model is shared and never changed. Raises BadInputError if the method is not possible on the family, or a
    setting does not fit its sizes.
    """
    check_method(loaded, spec, kind)
    kept = layers_of(loaded.model.config, spec)
    learned = kind_of(spec.method, kind)
    fork = learned.fork(loaded, outputs, spec.seed, kept)
    return Adapted(loaded, spec, *build(fork, spec, loaded.architecture.layers), learned)


def layers_of(config: PretrainedConfig, spec: RunSpec) -> tuple[int, ...]:
    """Return which of the model's layers a student has; empty for a method that keeps them all.

    Raises BadInputError for a student that is deeper than the model.
    """
    if not find_method(spec.method).is_student:
        return ()
    return layers_kept(config.num_hidden_layers, spec.student_layers or half_of(config.num_hidden_layers))


def check_method(loaded: LoadedModel, spec: RunSpec, kind: str = CLASSES) -> None:
    """Raise BadInputError if the method is not possible on the family, or its virtual tokens leave no room for a text."""
    method = find_method(spec.method)
    reason = method.unavailable(loaded.architecture, loaded.model.config.to_dict()) or kind_of(
        spec.method, kind
    ).refuses(method, loaded.architecture)
    if reason:
        raise BadInputError(f"{method.title} cannot be had on {loaded.model_id}: {reason}")
    _check_depth(loaded, spec, method)
    if method.has_virtual_tokens and spec.prefix_length > loaded.longest // 2:
        raise BadInputError(
            f"prefix_length is {spec.prefix_length}, and {loaded.model_id} reads {loaded.longest} tokens in all. "
            f"Take {loaded.longest // 2} or less, so that half of them are left for the text."
        )


def _check_depth(loaded: LoadedModel, spec: RunSpec, method: Method) -> None:
    """Raise BadInputError if the model has no last layers that can be trained alone, or if a random start leaves
    weights untrained.
    """
    if spec.start == "random" and not method.is_student and (method.slug != "full" or spec.last_layers):
        raise BadInputError(
            "From random numbers every weight has to be trained. Take method = full and last_layers = 0, or start with the "
            "pretrained weights (start = pretrained)."
        )
    if not spec.last_layers:
        return
    depth, names = loaded.model.config.num_hidden_layers, [name for name, _ in loaded.model.named_parameters()]
    reason = ""
    if "last_layers" not in method.options:
        reason = f"{method.title} is not put on single layers"
    elif spec.last_layers > depth:
        reason = f"{loaded.model_id} has {depth} layers, and last_layers is {spec.last_layers}"
    elif loaded.architecture.layers.count(names) < depth:
        reason = f"{loaded.model_id} has one layer that serves at every depth, so none of them is the last"
    if reason:
        raise BadInputError(f"{reason}. Set last_layers to 0, which is all of them.")


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> tuple[PreTrainedModel, nn.Module, frozenset[str]]:
    """Apply the method to a copy of the model that shares its weights (a fork). Returns the fork, the model to call,
    and the names of the parameters that were fresh before the method came.
    """
    fresh = frozenset(head_names(fork))  # before build, which renames and wraps them
    with Seeded(spec.seed + METHOD_STREAM):
        model = find_method(spec.method).build(fork, spec, layers)
    return fork, model, fresh


class Adapted:
    """One adapted model.

    fork: the *ForSequenceClassification inside (or the class that its task's kind needs), with the adapter's modules in
    it. model: what is called, the fork or peft's wrapper of it. Many threads may call `logits` at once; training,
    loading and `train` belong to one.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        spec: RunSpec,
        fork: PreTrainedModel,
        model: nn.Module,
        fresh: frozenset[str],
        kind: Kind | None = None,
    ) -> None:
        self.loaded, self.spec, self.fork, self.model = loaded, spec, fork, model
        self.kind = kind or kind_of(spec.method, CLASSES)
        self.layers = loaded.architecture.layers
        self.method = find_method(spec.method)
        self._body_is_whole = not any(name.startswith(f"{self.layers.body}.") for name in fresh)
        self._takes = _inputs_of(fork)
        self._start = self._initial_factors() if "variant" in self.method.options and spec.variant == "pissa" else {}
        self.eval()

    @property
    def longest(self) -> int:
        """The most tokens that a text may have, special ones included; virtual tokens take some of the model's."""
        taken = self.spec.prefix_length if self.method.has_virtual_tokens else 0
        return self.loaded.longest - taken

    def trainable(self) -> dict[str, nn.Parameter]:
        """Return the trained parameters by the name that they are saved under (peft's name if peft has the method)."""
        return {_saved_name(name): value for name, value in self.model.named_parameters() if value.requires_grad}

    def train(self) -> None:
        """Switch on the adapter's own dropout and nothing else: the body stays deterministic."""
        self.model.eval()
        for module in self.model.modules():
            if isinstance(module, SeededDropout):
                module.train()

    def eval(self) -> None:
        """Switch all dropout off."""
        self.model.eval()

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return (rows, outputs) for a batch: input_ids, attention_mask and token_type_ids, each (rows, length), the
        last two optional.

        Padding stands on the right and may be any token, as long as the mask is 0 there. Raises BadInputError for a
        student on plain text, which has no classes.
        """
        self.require_classes()
        scores: Tensor = self.model(**self.taken(inputs)).logits
        return scores

    def require_classes(self) -> None:
        """Raise BadInputError for a run that has no classes or scores; it names the page that asks such a run."""
        if self.kind.slug != CLASSES:
            raise BadInputError(_ELSEWHERE[self.kind.slug])

    def logits_and_states(self, inputs: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the logits, and the last layer's state that the classifier reads, (rows, width): at [CLS], or at
        GPT-2's last token.
        """
        taken = self.taken(inputs)
        output = self.model(**taken, output_hidden_states=True)
        hidden: Tensor = output.hidden_states[-1]
        if not self.layers.reads_last:
            return output.logits, hidden[:, 0]
        mask = taken.get("attention_mask", torch.ones_like(taken["input_ids"]))
        # The last place with mask 1. Virtual tokens lengthen the states but not the mask, hence the difference.
        places = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(-1) + hidden.shape[1] - mask.shape[1]
        return output.logits, hidden[torch.arange(len(hidden), device=hidden.device), places]

    def taken(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the inputs that the model accepts, with padding as its own padding token."""
        taken = {name: tensor for name, tensor in inputs.items() if name in self._takes}
        pad = self.fork.config.pad_token_id
        if "attention_mask" in taken and pad is not None:
            # GPT-2's classifier finds the last token by it, and not by the mask.
            taken["input_ids"] = taken["input_ids"].masked_fill(taken["attention_mask"] == 0, pad)
        return taken

    @property
    def frozen_body(self) -> bool:
        """Whether the body never changes, so that `body_output` may be kept: logits(x) equals head(body_output(x))."""
        # EuroBERT's head may answer at every token and average the answers ("late"): then no one state stands for the
        # text.
        late = getattr(self.fork.config, "classifier_pooling", "") == "late"
        return self.method.products == 1 and self._body_is_whole and not late

    def body_output(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return what the head reads of each text, (rows, width), without gradients. Valid only if `frozen_body`."""
        return read_features(self.fork, self.layers, self.taken(inputs))

    def head(self, features: Tensor) -> Tensor:
        """Return (rows, outputs) from the result of body_output. Valid only if `frozen_body`."""
        blank = torch.zeros(len(features), 1, dtype=torch.long, device=features.device)
        scores: Tensor = head_alone(self.fork, self.layers)(blank, inputs_embeds=features[:, None]).logits
        return scores

    def state(self) -> dict[str, Tensor]:
        """Return the trained tensors (and PiSSA's initial factors) as copies on the CPU; `load_state` needs nothing else."""
        kept = {**self.trainable(), **{START + name: tensor for name, tensor in self._start.items()}}
        return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in kept.items()}

    @torch.no_grad()
    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore a result of `state` into an adapted model of the same spec. Raises BadInputError if it does not fit."""
        trained = self.trainable()
        expected = {**trained, **{START + name: tensor for name, tensor in self._start.items()}}
        shapes = {name: tuple(tensor.shape) for name, tensor in expected.items()}
        given = {name: tuple(tensor.shape) for name, tensor in state.items()}
        if shapes != given:
            name = min(name for name in {**shapes, **given} if shapes.get(name) != given.get(name))
            raise BadInputError(
                f"These weights are not of a run like this one ({self.method.title} on {self.loaded.model_id}): {name} is "
                f"{given.get(name, 'missing')} and should be {shapes.get(name, 'absent')}."
            )
        for name, parameter in trained.items():
            parameter.copy_(state[name])
        for name in self._start:
            self._start[name] = state[START + name].to(self._start[name])
        for name in {name.rpartition(".")[0] for name in self._start}:
            self._take_away(name)

    def deltas(self) -> dict[tuple[int, str], Delta]:
        """Return ΔW of every matrix that is changed, by (layer, role); empty for methods that change no matrix.

        Raises BadInputError for a student, whose layers are not those of the model, and for a random start.
        """
        if self.method.is_student:
            raise BadInputError(
                "A student has layers of its own, so there is no ΔW from the model's. Choose another run."
            )
        if self.spec.start == "random":
            raise BadInputError(
                "This run began with random numbers, so there is no ΔW from the model's weights. Choose another run."
            )
        return model_deltas(self.fork, self.layers, base_weights(self.loaded), self._start)

    def _initial_factors(self) -> dict[str, Tensor]:
        """Return PiSSA's A₀ and B₀, by the name of their module in the fork."""
        start: dict[str, Tensor] = {}
        module: Any
        for name, module in self.fork.named_modules():
            if hasattr(module, "lora_A"):
                for side, factors in (("A", module.lora_A), ("B", module.lora_B)):
                    start[f"{name}.{side}"] = next(iter(factors.values())).weight.detach().clone()
        return start

    def _take_away(self, name: str) -> None:
        """Set PiSSA's frozen weight to W - s B₀A₀ of the original W."""
        module: Any = self.fork.get_submodule(name)
        place = self.layers.locate(name)
        assert place is not None
        scale = next(iter(module.scaling.values()))
        rest = base_weights(self.loaded)[place] - scale * (self._start[f"{name}.B"] @ self._start[f"{name}.A"])
        module.base_layer.weight.data = stored(rest, module.base_layer)


def _inputs_of(fork: PreTrainedModel) -> set[str]:
    """Return which inputs a model accepts."""
    # GPT-2's forward also takes token types, and would add word embeddings for them; none of its tokenizers gives
    # any.
    names = {"input_ids", "attention_mask"} | (
        {"token_type_ids"} if getattr(fork.config, "type_vocab_size", 0) else set()
    )
    return names & set(inspect.signature(fork.forward).parameters)


def _saved_name(name: str) -> str:
    """Return a parameter's name without the adapter's, as peft writes it to files."""
    for inside, saved in (
        (".modules_to_save.default", ""),
        (".lora_magnitude_vector.default.weight", ".lora_magnitude_vector"),
        ("prompt_encoder.default.embedding.weight", "prompt_embeddings"),
        (".default", ""),
    ):
        name = name.replace(inside, saved)
    return name
