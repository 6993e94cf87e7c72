"""Exports a run as a zip: the adapter or the merged model, its card, and the script and examples to train it again."""

from __future__ import annotations

import copy
import csv
import dataclasses
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from peft import PeftConfig
from safetensors.torch import save as save_tensors
from torch import Tensor

from explorer.errors import BadInputError
from explorer.tasks.task import CLASSES, Example, TaskData
from explorer.tuning.adapted import START, Adapted
from explorer.tuning.deltas import LowRank
from explorer.tuning.files import cards
from explorer.tuning.files.archive import CONFIG, FACTS, WEIGHTS
from explorer.tuning.files.facts import RunFacts
from explorer.tuning.files.script import training_script
from explorer.tuning.files.zips import write_zip
from explorer.tuning.kinds import find_kind
from explorer.tuning.merging import merged
from explorer.tuning.methods.by_peft import config_of

OTHER_WEIGHTS = "weights.safetensors"
"""The file of the trained weights for methods that peft does not have."""

Members = dict[str, str | bytes | Path]


def export_adapter(adapted: Adapted, facts: RunFacts, data: TaskData | None, target: Path) -> Path:
    """Write `target`, a zip of what was trained, and return it.

    It is in peft's format for the methods that peft has (PiSSA as an ordinary LoRA of rank 2r on the original weights),
    else weights.safetensors. With it come a card, the settings, and, if `data` is given, train.py with the examples
    that were used. Data with another number of classes than the run's (an imported adapter's task may be misnamed) is
    left out.

    Raises BadInputError for a student, which is exported as a whole model.
    """
    if adapted.method.is_student:
        raise BadInputError("A student is a whole model and no adapter: take it home merged (kind = merged).")
    if data is not None and not _fits(adapted, facts, data):
        data = None
    config = config_of(adapted.model)
    model_id, outputs = adapted.loaded.model_id, len(facts.labels) or 1
    padding = _padding_line(adapted)
    members: Members = {}
    if config is not None:
        members[WEIGHTS] = save_tensors(_peft_tensors(adapted), metadata={"format": "pt"})
        members[CONFIG] = _peft_config(adapted, config)
        load = cards.load_adapter(model_id, outputs, padding, adapted.kind)
    else:
        members[OTHER_WEIGHTS] = save_tensors(adapted.state(), metadata={"format": "pt"})
        load = cards.load_weights(model_id, outputs, padding, adapted.method.own_modules, adapted.kind)
    library = cards.ADAPTER_LIBRARY if config is not None else cards.MODEL_LIBRARY
    members["README.md"] = cards.card(facts, model_id, library, load, _reading_notes(adapted), data is not None)
    members[FACTS] = json.dumps(cards.facts_of(facts), ensure_ascii=False, indent=2)
    if data is not None or adapted.method.own_modules:
        members["train.py"] = training_script(adapted, facts, facts.metrics or (data.task.metrics if data else ()))
    if data is not None:
        members |= _examples(facts, data)
    return write_zip(target, members)


def _fits(adapted: Adapted, facts: RunFacts, data: TaskData) -> bool:
    """Return whether a task is of the run's kind, with as many classes as its head has."""
    if data.task.kind != facts.kind:
        return False
    return facts.kind != CLASSES or data.task.outputs == (adapted.fork.config.num_labels or 1)


def export_merged(adapted: Adapted, facts: RunFacts, target: Path) -> Path:
    """Write `target`, a zip of a whole checkpoint with the update in its weights, its tokenizer and a card; returns it.

    transformers loads it without peft and without a network. Raises BadInputError for a method that cannot be merged.
    """
    model = merged(adapted)
    if facts.labels:
        model.config.id2label = dict(enumerate(facts.labels))
        model.config.label2id = {label: number for number, label in enumerate(facts.labels)}
    tokenizer = copy.deepcopy(adapted.loaded.tokenizer)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token  # a classifier that reads batches needs one, and GPT-2 has none
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        members: Members = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
        members["README.md"] = cards.card(
            facts, adapted.loaded.model_id, cards.MODEL_LIBRARY, cards.load_merged(adapted.kind), script=False
        )
        return write_zip(target, members)


def _peft_tensors(adapted: Adapted) -> dict[str, Tensor]:
    """Return the trained tensors under peft's names; PiSSA's factors are joined with their starts, so that s (B A - B₀
    A₀) is added to W.
    """
    state = {name: tensor for name, tensor in adapted.state().items() if not name.startswith(START)}
    if not adapted.method.starts_elsewhere(adapted.spec):
        return state
    deltas = adapted.deltas()
    for name in state:
        module, _, side = name.removesuffix(".weight").rpartition(".")
        place = adapted.layers.locate(module)
        delta = deltas.get(place) if place is not None else None
        if side in ("lora_A", "lora_B") and isinstance(delta, LowRank):
            state[name] = (delta.A if side == "lora_A" else delta.B).contiguous()
    return state


def _peft_config(adapted: Adapted, config: PeftConfig) -> str:
    """Return the text of adapter_config.json."""
    kept = copy.deepcopy(config)
    kept.base_model_name_or_path, kept.inference_mode = adapted.loaded.model_id, True
    values = {name: sorted(value) if isinstance(value, set) else value for name, value in kept.to_dict().items()}
    values["modules_to_save"] = list(dict.fromkeys(values["modules_to_save"] or ())) or None
    if adapted.method.starts_elsewhere(adapted.spec):
        # The rank doubles, and alpha with it, so that alpha / r stays.
        values |= {"r": 2 * values["r"], "lora_alpha": 2 * values["lora_alpha"], "init_lora_weights": True}
    return json.dumps(values, indent=2, sort_keys=True)


def _padding_line(adapted: Adapted) -> list[str]:
    """Return the line that gives the base model a padding token: GPT-2 has none, and its classifier needs one."""
    pad = adapted.fork.config.pad_token_id
    return [] if adapted.loaded.model.config.pad_token_id == pad else [f"base.config.pad_token_id = {pad}"]


def _reading_notes(adapted: Adapted) -> list[str]:
    if adapted.method.lengthens and adapted.layers.reads_last:
        return [
            "Give it one text at a time: after virtual tokens this classifier reads the end of the row, and padding would "
            "stand there (train.py shows how to read several)."
        ]
    return []


def _examples(facts: RunFacts, data: TaskData) -> Members:
    """Return the examples that the run was trained and measured on, as TSV files with a header."""
    if find_kind(data.task.kind).judges_texts:
        return _with_answers(facts, data)
    header = [*data.task.columns, "label"]
    members: Members = {"data/train.tsv": _separated(header, data.train[: facts.spec.examples or None], data)}
    for split, examples in data.validation.items():
        measured = facts.outcome.rows.get(split) if facts.outcome is not None else None
        members[f"data/{_held_out_name(data, split)}.tsv"] = _separated(header, examples[:measured], data)
    return members


def _held_out_name(data: TaskData, split: str) -> str:
    return "validation" if len(data.validation) == 1 else f"validation_{_plain(split)}"


def _with_answers(facts: RunFacts, data: TaskData) -> Members:
    """Return the examples as JSON lines: an answer may contain tabs and line breaks, and there may be several."""
    parts = {"train": data.train[: facts.spec.examples or None]}
    parts |= {_held_out_name(data, split): examples for split, examples in data.validation.items()}
    return {
        f"data/{name}.jsonl": "".join(
            json.dumps(dataclasses.asdict(example), ensure_ascii=False) + "\n" for example in examples
        )
        for name, examples in parts.items()
    }


def _separated(header: Sequence[str], examples: Sequence[Example], data: TaskData) -> str:
    file = io.StringIO()
    writer = csv.writer(file, "excel-tab")  # quotes a text that contains a tab or a line break
    writer.writerow(header)
    for example in examples:
        label = example.label if data.task.is_regression else int(example.label)
        writer.writerow([example.text, *([example.second] if data.task.is_pair else []), label])
    return file.getvalue()


def _plain(split: str) -> str:
    return "".join(character if character.isalnum() else "_" for character in split)[:40]
