"""Trains linear probes on the states of each layer, and on the control task beside each."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.context.probe import (
    LabelledWord,
    Probed,
    ProbedModel,
    ProbeParams,
    ProbeResult,
    ambiguous,
    control_labels,
    examples,
)
from explorer.maths.states import fitted, standardised
from explorer.models.batching import states_of_each
from explorer.models.encoding import Encoded, encode
from explorer.models.loaded_model import LoadedModel

AT_ONCE = 40
"""Sentences before others get a turn."""


@dataclass(frozen=True)
class _Data:
    """Of all words in order: the sentence, the word and its spelling, both labels as numbers, and whether it is held
    out and stands under several labels, (words,) each."""

    sentences: list[int]
    words: list[LabelledWord]
    labels: Tensor
    controls: Tensor
    classes: int
    held_out: Tensor
    ambiguous: Tensor


def probe_layers(resources: Resources, params: ProbeParams) -> Iterator[ProbeResult | None]:
    """Train a probe and a control on each layer of each model; each result adds a layer.

    Raises BadInputError for a model that cannot read a sentence.
    """
    data = _data(params.task, params.seed)
    counts = [int((data.held_out == one).sum()) for one in (False, True)]
    commonest = int(data.labels[~data.held_out].bincount(minlength=data.classes).argmax())
    guess = float((data.labels[data.held_out] == commonest).double().mean())
    result = ProbeResult(params.task, params.models, data.classes, counts[0], counts[1], guess, ())
    for name in params.models:
        states = yield from _states(resources.model(name), params.task, data)
        result = replace(result, probed=(*result.probed, ProbedModel(name, len(states) - 1, ())))
        for layer, found in enumerate(states):
            probed = _probed(layer, found, data, params.penalty)
            model = result.probed[-1]
            model = replace(model, layers=(*model.layers, probed))
            result = replace(result, probed=(*result.probed[:-1], model))
            yield result


def _data(task: str, seed: int) -> _Data:
    asked = [(place, example, word) for place, example in enumerate(examples(task)) for word in example.words]
    spelled = [example.text[word.start : word.stop].lower() for _, example, word in asked]
    words = [word for *_, word in asked]
    names = sorted({word.label for word in words})
    controls = control_labels(list(zip(spelled, words, strict=True)), seed)
    several = ambiguous(task)
    return _Data(
        [place for place, *_ in asked],
        words,
        torch.tensor([names.index(word.label) for word in words]),
        torch.tensor([names.index(label) for label in controls]),
        len(names),
        torch.tensor([example.held_out for _, example, _ in asked]),
        torch.tensor([spelling in several for spelling in spelled]),
    )


def _states(loaded: LoadedModel, task: str, data: _Data) -> Generator[None, None, Tensor]:
    """Return each word's state in each layer, (depth + 1, words, width): the mean of its pieces'. Yields between passes,
    so that others get a turn.
    """
    encoded = [encode(loaded, example.text) for example in examples(task)]
    words_of: dict[int, list[int]] = {}
    for number, sentence in enumerate(data.sentences):
        words_of.setdefault(sentence, []).append(number)
    found: dict[int, Tensor] = {}
    ordered = sorted(range(len(encoded)), key=lambda place: len(encoded[place].tokens))
    for at in range(0, len(ordered), AT_ONCE):
        places = ordered[at : at + AT_ONCE]
        for place, states in zip(places, states_of_each(loaded, [encoded[one].inputs for one in places]), strict=True):
            for number in words_of.get(place, ()):
                found[number] = states[:, _pieces(loaded, encoded[place], data.words[number])].mean(1)
        yield None
    return torch.stack([found[number] for number in range(len(data.words))], dim=1)


def _pieces(loaded: LoadedModel, encoded: Encoded, word: LabelledWord) -> list[int]:
    """Return the positions of the tokens that hold characters of a word."""
    found = [token.position for token in encoded.tokens if token.start < word.stop and token.stop > word.start]
    if not found:
        raise BadInputError(f"The tokenizer of {loaded.model_id} leaves nothing of some words. Choose another model.")
    return found


def _probed(layer: int, states: Tensor, data: _Data, penalty: float) -> Probed:
    """Train both probes on a layer's states, (words, width), and label the held-out words."""
    training, held_out = standardised(states[~data.held_out], states[data.held_out])
    right = []
    for labels in (data.labels, data.controls):
        weight, bias = fitted(training, labels[~data.held_out], data.classes, penalty)
        right.append(((held_out @ weight + bias).argmax(1) == labels[data.held_out]).double())
    several = data.ambiguous[data.held_out]
    return Probed(layer, float(right[0].mean()), float(right[1].mean()), float(right[0][several].mean()))
