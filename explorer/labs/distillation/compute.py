"""One sentence put to a teacher and to a student: logits and hidden states, whatever kind of model either is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.distillation.schema import BEFORE_BLANK
from explorer.models.encoding import Encoded, asked_texts, encode
from explorer.models.inside import depth_of, read
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import class_name, fitting_question, question, scores
from explorer.models.shortening import half_of, shortened
from explorer.runs.open import OpenRun, OpenRuns
from explorer.tuning.merging import as_mask_filler, merged


@dataclass(frozen=True)
class Said:
    """What one model says of one text.

    logits: (classes,), float64. place: where it is asked. first, mean: the last layer's state there, and its mean over the
    tokens, (width,) each. places: at how many positions it could be asked. name_of: a class in words.
    """

    name: str
    asked: str
    logits: Tensor
    place: int
    places: int
    first: Tensor
    mean: Tensor
    name_of: Callable[[int], str]
    shorten: Callable[[int], Said]


def ask(open_run: OpenRuns, model: str, run: str | None, text: str, second: str) -> Said:
    """Put a sentence to a fine-tuned run if one is named, else to a model's own head.

    Raises BadInputError for a run that gives a score, a pair without its second text, and a text that is too long.
    """
    if run:
        return _asked_run(open_run(run), text, second)
    loaded = open_run.model(model)
    return _asked_model(loaded, text, second)


def _asked_model(loaded: LoadedModel, text: str, second: str, place: int | None = None) -> Said:
    """Ask a model the question that the text puts. place: the teacher's, for a student that has to answer at the same
    one.
    """
    first, other, cut = asked_texts(loaded, text, second)
    encoded = encode(loaded, first, other or None)
    asked = fitting_question(loaded, encoded, bool(other))
    reading = read(loaded, encoded.inputs, attentions=False)
    logits = scores(asked, loaded, reading.output)[0].double().cpu()  # (T, classes), or (1, classes) for the whole text
    places = asked.places(loaded, encoded)
    if place is None:
        place = places[0]
        if asked.slug == "replaced":
            # The second class is "replaced".
            place = max(places, key=lambda position: float(logits[position].softmax(-1)[1]))
    hidden = reading.hidden_states[-1][0].double().cpu()  # (T, width)
    return Said(
        loaded.model_id,
        BEFORE_BLANK if cut else _title(asked.title, asked.slug, encoded, place),
        logits[place],
        place,
        len(places) if asked.slug == "mask" else 1,
        hidden[place],
        hidden.mean(0),
        lambda number: class_name(asked, loaded, number),
        # At the teacher's place, whatever this one would choose.
        lambda count: _asked_model(_cut(loaded, count), text, second, place),
    )


def _title(title: str, slug: str, encoded: Encoded, place: int) -> str:
    return f"was “{encoded.tokens[place].shown}” replaced" if slug == "replaced" else title


def _cut(loaded: LoadedModel, count: int) -> LoadedModel:
    return shortened(loaded, count or half_of(depth_of(loaded.model)))


def _asked_run(run: OpenRun, text: str, second: str) -> Said:
    run.require_weights()
    record, adapted = run.record, run.restore()
    if adapted.method.fills_masks:
        return _asked_model(as_mask_filler(adapted, record.name), text, second)
    if not record.labels:
        raise BadInputError(
            f"{record.name} gives a score. One number has no soft targets, since softmax makes it 1; its student learns from "
            "the score itself (L2). Choose a run on a task with classes."
        )
    pair = len(record.columns) == 2
    if pair and not second.strip():
        raise BadInputError(f"{record.task_title} reads two texts; type the second one as well.")
    encoded = encode(adapted.loaded, text, second if pair else None)
    if len(encoded.tokens) > adapted.longest:
        raise BadInputError(
            f"{record.name} reads at most {adapted.longest} tokens, and this has {len(encoded.tokens)}."
        )
    inputs = adapted.taken({name: tensor.to(adapted.loaded.device) for name, tensor in encoded.inputs.items()})
    output = adapted.model(**inputs, output_hidden_states=True)
    hidden = output.hidden_states[-1][0].double().cpu()

    def shorten(count: int) -> Said:
        if count == depth_of(adapted.fork):  # merging would round; with all of its layers it is the run itself
            return said
        plain = dataclasses.replace(adapted.loaded, model_id=record.name, model=merged(adapted))
        return _asked_short(_cut(plain, count), encoded, record.labels, adapted.layers.reads_last)

    place = -1 if adapted.layers.reads_last else 0  # the end of the text, or [CLS]
    said = Said(
        record.name, question("class").title, output.logits[0].double().cpu(), place, 1, hidden[place],
        # Without virtual tokens, which stand before the text.
        hidden[-len(encoded.tokens) :].mean(0), lambda number: record.labels[number], shorten,
    )  # fmt: skip
    return said


def _asked_short(loaded: LoadedModel, encoded: Encoded, labels: tuple[str, ...], reads_last: bool) -> Said:
    """Ask a classifier with fewer layers than its run's."""
    inputs = {name: tensor.to(loaded.device) for name, tensor in encoded.inputs.items()}
    # Any tokenizer may give token types, and this model has no table for them.
    if not getattr(loaded.model.config, "type_vocab_size", 0):
        inputs.pop("token_type_ids", None)
    output = loaded.model(**inputs, output_hidden_states=True)
    hidden = output.hidden_states[-1][0].double().cpu()
    place = -1 if reads_last else 0
    return Said(
        loaded.model_id, question("class").title, output.logits[0].double().cpu(), place, 1, hidden[place],
        hidden.mean(0), lambda number: labels[number],
        lambda count: _asked_short(_cut(loaded, count), encoded, labels, reads_last),
    )  # fmt: skip


def ranked(logits: Tensor, count: int) -> list[int]:
    """Return the likeliest classes, at most `count`."""
    return [int(number) for number in torch.topk(logits, min(count, len(logits))).indices]
