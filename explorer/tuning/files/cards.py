"""Writes the README.md of an export: what it is, how it was trained, what it scores, how to load it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from explorer.models.catalog import find_card, made_by
from explorer.tasks.formats.e2e import E2E
from explorer.tasks.formats.squad import SQUAD
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.task import CLASSES, MASKED, SPAN, WRITTEN
from explorer.tuning.files.facts import RealFacts, RunFacts
from explorer.tuning.kinds import KINDS, Kind, kind_of, learning_rate
from explorer.tuning.methods import Method, find_method

_ANSWERS = {
    MASKED: "a word for each mask",
    WRITTEN: "a text for a meaning",
    SPAN: "where an answer starts and ends",
}

ADAPTER_LIBRARY = "peft"
MODEL_LIBRARY = "transformers"

_SETTINGS = {
    "rank": "Rank r",
    "alpha": "Alpha",
    "dropout": "Dropout in the adapter",
    "targets": "Adapted matrices",
    "variant": "Variant",
    "prefix_length": "Virtual tokens",
    "bottleneck": "Width of an adapter",
    "teacher": "Teacher (a run's id)",
    "student_layers": "Layers",
    "start": "Started from",
    "last_layers": "Layers that it reaches, from the last (0: all)",
    "temperature": "Temperature T",
    "soft_loss": "Compared by",
    "soft_weight": "Weight of the soft targets",
    "hard_weight": "Weight of the labels",
    "cosine_weight": "Weight of the states' cosine",
    "labelled": "Examples that keep their label (0: all)",
}


def card(
    facts: RunFacts, model_id: str, library: str, load: str, notes: Sequence[str] = (), script: bool = True
) -> str:
    """Return Markdown with YAML front matter, like the hub's model cards. load: the Python code that loads it.

    Names that a visitor chose are quoted in the front matter and escaped in the text.
    """
    method = find_method(facts.spec.method)
    sections = [
        _front_matter(facts, model_id, library, method),
        f"# {_inline(facts.name)}\n\n{method.title} of {_code(model_id)} on {_inline(facts.task_title)}, trained with BERT "
        f"Explorer. {method.summary}",
        "## Results\n\n" + _results(facts),
        "## Settings\n\n" + _table(("Setting", "Value"), _settings(facts, method)),
        "## Load it\n\n"
        + "".join(f"{note}\n\n" for note in _notes(facts, model_id, notes))
        + f"```python\n{load}\n```",
    ]
    if script:
        sections.append(
            "## Train it again\n\n`python train.py` repeats the training on the examples in `data/`; the head of that file "
            "says what to install."
        )
    sections.append(f"Method: {method.source}.")
    return "\n\n".join(sections) + "\n"


def _front_matter(facts: RunFacts, model_id: str, library: str, method: Method) -> str:
    """Return the front matter. JSON values are YAML too, and quote whatever stands in a name."""
    kind = kind_of(method.slug, facts.kind).pipeline
    entries: dict[str, object] = {
        "base_model": model_id,
        "library_name": library,
        "pipeline_tag": kind,
        "tags": ["bert-explorer", method.slug],
    }
    if facts.outcome is not None:
        task = {"type": kind, "name": facts.task_title}
        own = facts.spec.task in {one.slug for one in (*TASKS, E2E, SQUAD)}  # "sst2" alone would name the hub's own
        dataset = f"bert-explorer/{facts.spec.task}" if own else facts.spec.task
        results = [
            {
                "task": task,
                "dataset": {"type": dataset, "name": facts.task_title, "split": split},
                "metrics": [{"type": name, "value": value} for name, value in scores.items() if value is not None],
            }
            for split, scores in facts.outcome.metrics.items()
        ]
        entries["model-index"] = [{"name": facts.name, "results": results}]
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in entries.items())
    return "\n".join(["---", *lines, "---"])


def _results(facts: RunFacts) -> str:
    if facts.outcome is None:
        return "Not measured."
    rows = [
        (split, facts.outcome.rows.get(split, 0), name, "undefined" if value is None else f"{value:.4f}")
        for split, scores in facts.outcome.metrics.items()
        for name, value in scores.items()
    ]
    examples = kind_of(facts.spec.method, facts.kind).unit.removeprefix("held-out ").capitalize()
    table = _table(("Held-out split", examples, "Metric", "Value"), rows)
    return "\n\n".join([table, *(_on_real_task(real) for real in facts.real)])


def _on_real_task(real: RealFacts) -> str:
    scores = [f"{name} {'undefined' if value is None else f'{value:.4f}'}" for name, value in real.metrics.items()]
    return (
        f"These sentences were written for BERT Explorer. On GLUE's own {_inline(real.title)} ({real.rows:,} examples of "
        f"{_code(real.file)}): {', '.join(scores)}; measured on {real.date} by {_code(real.command)}."
    )


def _settings(facts: RunFacts, method: Method) -> list[tuple[object, ...]]:
    spec = facts.spec
    own: list[tuple[object, ...]] = []
    for option in method.options:
        value = getattr(spec, option)
        own.append((_SETTINGS.get(option, option), ", ".join(value) if isinstance(value, tuple) else value))
    if spec.start == "random" and not method.is_student:
        own.append((_SETTINGS["start"], "random numbers"))
    labels = ", ".join(f"{number} = {label}" for number, label in enumerate(facts.labels)) or "one score"
    labels = _ANSWERS.get(kind_of(method.slug, facts.kind).slug, labels)
    return [
        ("Base model", model_name(spec.model)),
        ("Answers", labels),
        *own,
        ("Learning rate", learning_rate(spec, kind_of(method.slug, facts.kind))),
        ("Epochs", spec.epochs),
        ("Batch size", spec.batch_size),
        ("Training examples", spec.examples or "all"),
        ("Seed", spec.seed),
        (
            "Steps",
            f"{facts.step}, of which {facts.kept} are in these numbers: the best one is kept"
            if facts.kept
            else facts.step,
        ),
        ("Seconds", f"{facts.seconds:.1f}"),
        ("Trained parameters", f"{facts.trainable:,} of {facts.parameters:,}"),
    ]


def _notes(facts: RunFacts, model_id: str, notes: Sequence[str]) -> list[str]:
    said = list(notes)
    found = find_card(model_id)
    if run_id := made_by(model_id):
        said.append(
            f"`{model_id}` is what the run {run_id} of BERT Explorer made: take that run home as a model (kind = model on the "
            "Fine-tune page) and write its unpacked folder in this name's place (`python train.py --model FOLDER`)."
        )
    if found is not None and found.bundled:
        said.append(
            f"`{model_id}` comes with BERT Explorer and is not on the hub: write its folder, `assets/models/{model_id}`, in its "
            f"place (`python train.py --model FOLDER` for the script)."
        )
    if not facts.labels and kind_of(facts.spec.method, facts.kind).slug == CLASSES:
        mean, spread = facts.scale
        said.append(f"The score in the task's own unit is the model's number times {spread:g} plus {mean:g}.")
    return said


def model_name(model_id: str) -> str:
    """Return a model's id, or the last part of a folder."""
    return model_id.rstrip("/").rpartition("/")[2] if model_id.startswith(("/", "~", ".")) else model_id


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines: list[Sequence[object]] = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_inline(str(cell)) for cell in line) + " |" for line in lines)


def _inline(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged, in one line."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def load_adapter(model_id: str, outputs: int, extra: Sequence[str] = (), kind: Kind = KINDS[CLASSES]) -> str:
    """Return code that loads an adapter in peft's format from its unpacked folder. extra: lines after the base has been
    loaded.
    """
    return _code_block(
        ["from peft import PeftModel", _transformers(kind)],
        [
            *_base(model_id, outputs, kind),
            *extra,
            'model = PeftModel.from_pretrained(base, ".").eval()  # the unpacked folder',
        ],
        model_id,
        kind,
    )


def load_weights(
    model_id: str, outputs: int, extra: Sequence[str] = (), prepared: bool = False, kind: Kind = KINDS[CLASSES]
) -> str:
    """Return code that loads weights.safetensors. prepared: whether train.py's `prepare` puts the adapters in first."""
    return _code_block(
        [
            "from safetensors.torch import load_file",
            _transformers(kind),
            *(["from train import prepare"] if prepared else []),
        ],
        [
            *_base(model_id, outputs, kind),
            *extra,
            f"model = {'prepare(base)' if prepared else 'base'}.eval()",
            'model.load_state_dict(load_file("weights.safetensors"), strict=False)  # the rest stays as it is',
        ],
        model_id,
        kind,
    )


def load_merged(kind: Kind) -> str:
    """Return code that loads a whole checkpoint from its unpacked folder and runs it once."""
    if kind.slug == MASKED:
        return "\n".join(
            [
                "from transformers import pipeline",
                "",
                'fill = pipeline("fill-mask", model=".", tokenizer=".")  # the unpacked folder',
                'print(fill(f"The capital of France is {fill.tokenizer.mask_token}."))',
            ]
        )
    return _code_block(
        [_transformers(kind)],
        [f'model = {kind.model_class}.from_pretrained(".").eval()  # the unpacked folder'],
        ".",
        kind,
    )


def _transformers(kind: Kind) -> str:
    return f"from transformers import {kind.model_class}, AutoTokenizer"


def _base(model_id: str, outputs: int, kind: Kind) -> list[str]:
    named = f"num_labels={outputs}, " if kind.slug == CLASSES else ""
    return [
        f'base = {kind.model_class}.from_pretrained({json.dumps(model_id, ensure_ascii=False)}, {named}dtype="float32")'
    ]


_ASK = ('print(model(**tokenizer("A text to try.", return_tensors="pt")).logits)',)
_ASK_SPAN = (
    'row = tokenizer("Who found it?", "Ada found it.", return_tensors="pt")',
    "output = model(**row)",
    "start, end = output.start_logits.argmax(), output.end_logits.argmax()  # token 0: no answer",
    'print(tokenizer.decode(row["input_ids"][0, start : end + 1]))',
)


def _code_block(imports: Sequence[str], lines: Sequence[str], model_id: str, kind: Kind) -> str:
    tail = [
        f"tokenizer = AutoTokenizer.from_pretrained({json.dumps(model_id, ensure_ascii=False)})",
        *(_ASK_SPAN if kind.slug == SPAN else _ASK),
    ]
    return "\n".join([*imports, "", *lines, *tail])


def facts_of(facts: RunFacts) -> Mapping[str, object]:
    """Return what spec.json keeps, so that the app can import an export with its labels."""
    from dataclasses import asdict

    return {
        "spec": asdict(facts.spec),
        "name": facts.name,
        "task_title": facts.task_title,
        "labels": list(facts.labels),
        "columns": list(facts.columns),
        "scale": list(facts.scale),
        "kind": facts.kind,
    }
