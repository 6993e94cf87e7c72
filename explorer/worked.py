"""What tabs open with: answers that were computed beforehand, shown only if they belong to the weights that are here.

`python -m explorer.labs` computes them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from explorer.settings import BUNDLED_MODELS, BUNDLED_RUNS, BUNDLED_TASKS, PROBES, ROOT

FOLDER = ROOT / "assets" / "worked"


def _whole(result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Opening:
    """A tab's question as the page puts it at first, and what answers it.

    params: the action's. result: the type of the answer. model: the one that is asked, for an action whose parameters
    name none. reads: other bundled models and runs that the answer depends on. kept: returns the part of an answer that
    is kept.
    """

    params: Any
    result: Any
    model: str = ""
    reads: tuple[str, ...] = ()
    kept: Callable[[Any], Any] = _whole

    @property
    def of(self) -> str:
        """The model that is asked; "" where a run says which."""
        return self.model or ("" if getattr(self.params, "run", "") else getattr(self.params, "model", ""))


@dataclass(frozen=True)
class Known:
    """A result with its provenance. made: the date, and on what."""

    result: Any
    made: str


def known(name: str, openings: Sequence[Opening], model: str, params: Any) -> Known | None:
    """Return the answer of an action that was computed beforehand.

    None for another question, or if the weights or the examples have changed since.
    """
    for number, opening in enumerate(openings):
        if _same(opening, model, params):
            return _read(file_of(name, number), opening)
    return None


def file_of(name: str, number: int) -> Path:
    """Return the file that keeps the answer to an action's opening of this number, from 0."""
    return FOLDER / (f"{name}-{number}.json" if number else f"{name}.json")


def _read(path: Path, opening: Opening) -> Known | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["belongs_to"] != digest(opening):
            return None
        return Known(_adapter(opening.result).validate_python(kept["result"]), str(kept["made"]))
    except (OSError, ValueError, KeyError, ValidationError):
        return None


def _same(opening: Opening, model: str, params: Any) -> bool:
    asked = opening.params
    if getattr(asked, "run", "") and hasattr(asked, "model"):
        # A run says which model it changes, so the page's model has no say beside one.
        return bool(replace(params, model=asked.model) == asked)
    return bool(params == asked) and model == opening.model


@cache
def _adapter(result: Any) -> TypeAdapter[Any]:
    return TypeAdapter(result)


def keep(name: str, number: int, opening: Opening, result: Any, made: str) -> Path:
    """Write a result with the digest of what it belongs to. Returns the file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = {
        "made": made,
        "command": f"python -m explorer.labs {name}",
        "belongs_to": digest(opening),
        "result": _adapter(opening.result).dump_python(opening.kept(result), mode="json"),
    }
    path = file_of(name, number)
    path.write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def digest(opening: Opening) -> str:
    """Return a digest of everything that the answer depends on: the question, and for each model, run and task that it
    names the weights, the tokenizer, the record and the examples.
    """
    named = {opening.model, *opening.reads, *_texts(opening.params)}
    files = sorted({path for name in sorted(named) for path in _files(name)})
    # Size and time are the cache's key: a file is read again only once it has changed.
    known_files = tuple((str(path), *_state(path)) for path in files)
    return hashlib.sha256(f"{opening.params!r} {opening.model} {_digest(known_files)}".encode()).hexdigest()


def _texts(params: Any) -> Iterator[str]:
    """Yield every text among the parameters, those in lists too."""
    for field in fields(params):
        value = getattr(params, field.name)
        yield from (one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, str))


def _files(name: str) -> Iterator[Path]:
    """Yield the files of a bundled model, run or task, of a run's model, task and teacher, and a probe's sentences. Nothing for
    any other word.
    """
    if not name or Path(name).name != name:  # a path could lead out of the assets
        return
    if (BUNDLED_MODELS / name).is_dir():
        yield from (BUNDLED_MODELS / name).glob("*.safetensors")
        yield BUNDLED_MODELS / name / "tokenizer.json"
    if (BUNDLED_RUNS / name).is_dir():
        record = BUNDLED_RUNS / name / "record.json"
        yield from (record, *(BUNDLED_RUNS / name).rglob("*.safetensors"))
        spec = json.loads(record.read_text(encoding="utf-8"))["spec"]
        for other in (spec["model"], spec["task"], spec.get("teacher", "")):
            yield from _files(other)
    if (PROBES / f"{name}.jsonl").is_file():
        yield PROBES / f"{name}.jsonl"
    if (BUNDLED_TASKS / name).is_dir():
        yield from (path for path in (BUNDLED_TASKS / name).rglob("*") if path.is_file())


def _state(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


@cache
def _digest(files: tuple[tuple[str, int, int], ...]) -> str:
    """Return the digest of files, which are read once as long as they stay the same."""
    whole = hashlib.sha256()
    for name, *_ in files:
        path = Path(name)
        with path.open("rb") as file:
            whole.update(f"{path.parent.name}/{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
