"""Writes train.py, a script that trains a run again at home with transformers and peft alone: of a run, and of settings
that no run has yet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from peft import PeftConfig
from peft import __version__ as peft_version

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import CLASSES, TaskData
from explorer.tuning.adapted import Adapted, build, check_method
from explorer.tuning.counting import empty_fork
from explorer.tuning.files.facts import ScriptFacts
from explorer.tuning.forks import pretrained
from explorer.tuning.kinds import kind_of, learning_rate
from explorer.tuning.methods import find_method
from explorer.tuning.methods.bottleneck import WithAdapter
from explorer.tuning.methods.by_peft import config_of
from explorer.tuning.methods.prefix import SHARED_START
from explorer.tuning.reading import Scale
from explorer.tuning.spec import RunSpec
from explorer.tuning.training import LARGEST_NORM, WARM_UP, WEIGHT_DECAY

_STANDARD = ("import dataclasses", "import re")
_TEMPLATES = Path(__file__).parent / "templates"
_OF_THE_MODEL = {"base_model_name_or_path", "peft_version", "auto_mapping", "revision", "inference_mode", "peft_type"}


@dataclasses.dataclass(frozen=True)
class _Parts:
    """What one method adds to the script: the names of its templates, its imports and its constants as code."""

    prepare: str
    save: str
    imports: tuple[str, ...]
    constants: Mapping[str, str]


def training_script(adapted: Adapted, facts: ScriptFacts, metrics: Sequence[str]) -> str:
    """Return the text of train.py, which reads data/train.tsv and data/validation*.tsv beside it, as export.py writes
    them.

    metrics: those that it prints, by their names in explorer.tasks.metrics.
    """
    parts = _parts(adapted)
    spec = facts.spec
    kind = adapted.kind
    # Everything that a visitor named is written as a Python literal, so that no name can become code.
    own = {"CLASSES": repr(list(facts.labels)), "MEAN, SPREAD": repr(facts.scale)[1:-1]}
    constants = {
        "RUN": repr(facts.name),
        "MODEL": repr(adapted.loaded.model_id),
        **(own if kind.slug == CLASSES else kind.constants),
        "LEARNING_RATE": repr(learning_rate(spec, kind)),
        "EPOCHS": repr(spec.epochs),
        "BATCH_SIZE": repr(spec.batch_size),
        "SEED": repr(spec.seed),
        "LONGEST": repr(min(kind.longest, adapted.longest)),
        "WARM_UP, WEIGHT_DECAY, LARGEST_NORM": f"{WARM_UP}, {WEIGHT_DECAY}, {LARGEST_NORM}",
        **parts.constants,
    }
    return _filled(
        kind.template,
        packages=f'"torch>={_release(torch.__version__)}" "transformers>={_release(transformers.__version__)}"'
        + (f' "peft>={_release(peft_version)}"' if config_of(adapted.model) else ""),
        standard="".join(f"{line}\n" for line in parts.imports if line in _STANDARD),
        imports="\n".join(line for line in parts.imports if line not in _STANDARD),
        constants="\n".join(f"{name} = {value}" for name, value in constants.items()),
        prepare=_template(f"prepare_{parts.prepare}"),
        save=_template(f"save_{parts.save}"),
        ending="\nThe run ends with the best step of its evaluations, this script with the last."
        if spec.keep_best
        else "",
        metrics="{" + ", ".join(f'"{name}": {name}' for name in metrics) + "}",
    )


def _new_modules(adapted: Adapted) -> tuple[str, ...]:
    """Return the beginnings of the names of modules that the base's checkpoint lacks; for methods that train no old matrix."""
    trained = [name for name in adapted.trainable() if name.endswith(".weight") and ".adapter." not in name]
    return tuple(dict.fromkeys(name.removesuffix("weight") for name in trained))


def _parts(adapted: Adapted) -> _Parts:
    config = config_of(adapted.model)
    if config is not None:
        return _peft_parts(adapted, config)
    plain = ("from safetensors.torch import save_file",)
    new = {"NEW": repr(_new_modules(adapted))}
    template = adapted.method.template(adapted.spec, adapted.layers)
    if template == "bottleneck":
        return _Parts(template, "plain", ("import re", *plain), {**new, **_bottleneck_constants(adapted)})
    if template == "chosen":
        endings = tuple(adapted.trainable()) if adapted.spec.last_layers else adapted.method.trained_endings
        return _Parts(template, "plain", plain, {**new, "ENDINGS": repr(endings)})
    return _Parts(template, "plain", plain, {})


def _bottleneck_constants(adapted: Adapted) -> dict[str, str]:
    adapters = {name: module for name, module in adapted.fork.named_modules() if isinstance(module, WithAdapter)}
    places = [place for name in adapters if (place := adapted.layers.locate(name)) is not None]
    roles, numbers = dict.fromkeys(role for _, role in places), sorted({layer for layer, _ in places})
    some = numbers if adapted.spec.last_layers else ()
    one = next(iter(adapters.values())).adapter
    return {
        "INNER": repr(one.down.out_features),
        "DROPOUT": repr(adapted.spec.dropout),
        "ACTIVATION": f"torch.nn.{type(one.activation).__name__}()",
        "PLACES": repr(adapted.layers.pattern(adapted.layers.matrices(roles).values(), some)),
    }


def _peft_parts(adapted: Adapted, config: PeftConfig) -> _Parts:
    used = [type(config).__name__, "get_peft_model"]
    constants = {"CONFIG": _as_code(config)}
    template = adapted.method.template(adapted.spec, adapted.layers)
    if template == "prompt_last" and adapted.kind.slug != CLASSES:  # what it works around is the classifier's
        template = "peft"
    if template == "pissa":
        imports = (
            "import dataclasses",
            _from_peft([*used, "get_peft_model_state_dict"]),
            "from safetensors.torch import save_file",
        )
        return _Parts(template, template, imports, constants)
    own = {"prefix": {"PREFIX_START": repr(SHARED_START)}, "prompt_last": {"BODY": repr(adapted.layers.body)}}
    return _Parts(template, "peft", (_from_peft(used),), {**constants, **own.get(template, {})})


def _from_peft(names: list[str]) -> str:
    return f"from peft import {', '.join(names)}"


def _as_code(config: PeftConfig) -> str:
    """Return the call that makes a configuration: the arguments that differ from peft's defaults, one on each line."""
    standard = type(config)()
    arguments = {
        field.name: _as_value(field.name, getattr(config, field.name))
        for field in dataclasses.fields(config)
        if field.init
        and field.name not in _OF_THE_MODEL
        and getattr(config, field.name) != getattr(standard, field.name)
    }
    lines = "".join(f"    {name}={value!r},\n" for name, value in arguments.items())
    return f"{type(config).__name__}(\n{lines})"


def _as_value(name: str, value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set):
        return sorted(value)
    return list(dict.fromkeys(value)) if name == "modules_to_save" and value else value


@cache
def _template(name: str) -> str:
    return (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8").strip("\n")


def _filled(name: str, **values: str) -> str:
    """Return a template with its {{names}} replaced."""
    pieces = _template(name).split("{{")  # in one pass, so that a value is never searched for names
    filled = [pieces[0]]
    for piece in pieces[1:]:
        key, _, rest = piece.partition("}}")
        filled.append(values[key] + rest)
    return "".join(filled) + "\n"


def _release(version: str) -> str:
    """Return the major and minor number: 2.13 of 2.13.0+cpu."""
    return ".".join(version.split("+")[0].split(".")[:2])


@dataclass(frozen=True)
class Settings:
    """The part of a run's record that the script reads, for settings without a run."""

    name: str
    spec: RunSpec
    labels: tuple[str, ...]
    scale: tuple[float, float]
    kind: str = CLASSES


def script_of_settings(loaded: LoadedModel, data: TaskData, spec: RunSpec) -> str:
    """Return the text of train.py, from the method on a model without weights (torch's meta device); nothing is
    trained.

    Empty for a student, which needs its teacher, for PiSSA, whose start is computed from the weights, and for a run
    that starts after another. Raises BadInputError where `adapt` would.
    """
    method = find_method(spec.method)
    check_method(loaded, spec, data.task.kind)
    if method.is_student or method.starts_elsewhere(spec) or spec.after:
        return ""
    layers = loaded.architecture.layers
    fork = empty_fork(loaded.model.config, layers, data.task.outputs, spec, pretrained(loaded).keys(), data.task.kind)
    with torch.device("meta"):
        adapted = Adapted(loaded, spec, *build(fork, spec, layers), kind_of(spec.method, data.task.kind))
    # The script normalises by the mean and spread of these alone.
    labels = torch.tensor([example.label for example in data.train[: spec.examples or None]])
    scale = Scale.of(labels, data.task)
    settings = Settings(
        f"{method.title} · {data.task.title}", spec, data.task.labels, (scale.mean, scale.spread), data.task.kind
    )
    return training_script(adapted, settings, data.task.metrics)
