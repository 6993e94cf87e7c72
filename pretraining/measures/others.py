"""What is measured of some models only: a byte-level vocabulary's round trip, a student against its teacher."""

from __future__ import annotations

import json
import sys
from functools import partial

import torch
from transformers import BertForPreTraining, PreTrainedModel

from explorer.models.records import Measure
from explorer.models.timing import milliseconds
from pretraining.measures.masks import mask_scores
from pretraining.measures.measure import Subject
from pretraining.starts.transplant import load

STRING = 500
"""Characters of a string that is taken there and back."""
SPEED_ROWS, SPEED_LENGTH, SPEED_ROUNDS = 8, 128, 15


def measure_round_trip(subject: Subject) -> list[Measure]:
    """Every character of Unicode, in strings of 500: into ids and back. For vocabularies of bytes; none for others."""
    if "ByteLevel" not in str(subject.tokenizer.backend_tokenizer.pre_tokenizer):
        return []
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    strings = ["".join(characters[first : first + STRING]) for first in range(0, len(characters), STRING)]
    encoded = subject.tokenizer(strings, add_special_tokens=False, verbose=False)["input_ids"]
    back = subject.tokenizer.batch_decode(encoded, clean_up_tokenization_spaces=False)
    same = sum(one == other for one, other in zip(strings, back, strict=True))
    unknown = sum(ids.count(subject.tokenizer.unk_token_id) for ids in encoded)
    over = f"{len(strings):,} strings with all {len(characters):,} characters"
    return [
        Measure("round_trip", "Strings that come back unchanged", same / len(strings), "share", over),
        Measure("unknown_tokens", "Unknown tokens in them", unknown, "count", over),
    ]


def measure_student(subject: Subject) -> list[Measure]:
    """A distilled model beside its teacher, which training.json names: accuracy kept, and speed; none for others."""
    about = subject.folder / "training.json"
    if subject.model.config.model_type != "distilbert" or not about.exists():
        return []
    name = json.loads(about.read_text())["start"]
    teacher = load(name, subject.folder.parent, BertForPreTraining).eval().to(subject.model.device)
    ours, *_ = mask_scores(subject.model, subject.tokenizer, subject.store)
    theirs, *_, tokens = mask_scores(teacher, subject.tokenizer, subject.store)
    shape = f"encoder, {SPEED_ROWS} rows of {SPEED_LENGTH} tokens, best of {SPEED_ROUNDS}, {torch.get_num_threads()} threads"
    kept = Measure(
        "kept", f"Share of {name}'s top-1 that is kept", ours / max(theirs, 1e-9), "share", f"{tokens:,} masked tokens"
    )
    return [
        kept,
        Measure("speed", f"Speed against {name}", speed_ratio(teacher, subject.model), "times", shape),
    ]


def speed_ratio(slow: PreTrainedModel, fast: PreTrainedModel, rounds: int = SPEED_ROUNDS) -> float:
    """How many times as fast the second encoder is: the two take turns, and the quickest round of each counts.

    Other work on the machine only ever makes a round longer.
    """
    ids = torch.arange(1000, 1000 + SPEED_ROWS * SPEED_LENGTH, device=slow.device).view(SPEED_ROWS, SPEED_LENGTH)
    ids %= slow.config.vocab_size
    encoders = [partial(model.base_model, ids) for model in (slow, fast)]
    theirs, ours = milliseconds(encoders, slow.device, rounds)
    return theirs / ours
