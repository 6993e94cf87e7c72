"""Opens an adapter that a visitor uploads, without ever unpickling anything or writing to the disk.

A safetensors file's header is read and checked before any tensor is.
"""

from __future__ import annotations

import json
import lzma
import math
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from explorer.errors import BadInputError

LARGEST_SIDE = 2**18
LARGEST_RANK = 4096
LONGEST_NAME = 300
LARGEST_HEADER = 4_000_000
"""Bytes: more than ten thousand tensors need."""

SIDE = re.compile(r"\.lora_(?P<side>[AB])(?:\.[^.]+)??(?:\.weight)?$")
"""Matches the name of one factor of an update."""

_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_SPELT = {"I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8", "BOOL": "bool"}

Shapes = Mapping[str, tuple[int, ...]]


def read_header(name: str, stream: IO[bytes], size: int) -> tuple[bytes, Shapes]:
    """Return the bytes of a file's header and the shapes of its tensors, once these are found to be real numbers of
    usable sizes.

    name: of the file, for sentences. size: all its bytes. Raises BadInputError with what is wrong.
    """
    start = stream.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or not 2 <= length <= min(LARGEST_HEADER, size - 8):
        raise unreadable(name, "its header does not fit into it")
    text = stream.read(length)
    try:
        entries = json.loads(text)
        entries.pop("__metadata__", None)
        shapes = {tensor: tuple(entry["shape"]) for tensor, entry in entries.items()}
        kinds = {tensor: str(entry["dtype"]) for tensor, entry in entries.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(name, f"its header: {error}") from error
    for tensor, shape in shapes.items():
        _check(tensor, shape, kinds[tensor])
    needed = sum(math.prod(shape) * _FLOATS[kinds[tensor]] for tensor, shape in shapes.items())
    if needed != size - 8 - length:
        raise unreadable(name, f"it should hold {needed:,} bytes of numbers and holds {size - 8 - length:,}")
    return start + text, shapes


def unreadable(name: str, why: str) -> BadInputError:
    """Return the error for a file that is no safetensors, or is cut off."""
    return BadInputError(
        f"The weights in {name} are not readable as safetensors ({why[:120]}). The file is broken or cut off; save or "
        "download it again."
    )


def _check(name: str, shape: tuple[Any, ...], kind: str) -> None:
    if len(name) > LONGEST_NAME:
        raise BadInputError(
            f"A tensor's name is {len(name):,} characters long ({name[:60]}…); that is no module's name."
        )
    whole = all(isinstance(side, int) and not isinstance(side, bool) for side in shape)
    if kind not in _FLOATS or not whole or len(shape) > 8 or not all(1 <= side <= LARGEST_SIDE for side in shape):
        raise BadInputError(
            f"{name} is of type {_SPELT.get(kind, kind[:20])} and shape {str(tuple(shape))[:80]}. Weights are real numbers, "
            f"with 1 to {LARGEST_SIDE:,} a side."
        )
    match = SIDE.search(name)
    if match is not None and len(shape) == 2:
        rank = shape[0 if match["side"] == "A" else 1]
        if rank > LARGEST_RANK:
            raise BadInputError(
                f"{name} is of rank {rank:,}; an adapter of at most rank {LARGEST_RANK:,} can be imported."
            )


WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
FACTS = "spec.json"

LARGEST = 200_000_000
"""Bytes that a file may have, and all that a zip unpacks to."""

MOST_PACKED = 20
"""Weights hardly shrink when zipped; a zip that unpacks to more than this many times its size holds nothing but zeros."""

LARGEST_CONFIG = 1_000_000
MOST_MEMBERS = 1000
COMMAND = "python -m explorer.tuning convert SOURCE.bin TARGET.zip"
"""The command that turns an old pickle into safetensors, on its owner's own machine."""

_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_FOLDER_MARK = "data.pkl"  # the pickle in a zip that torch.save wrote
_OPENING = 9  # bytes: a safetensors header's length and its brace
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
)

Check = Callable[[Mapping[str, Any], Shapes], None]


@dataclass(frozen=True)
class AdapterFiles:
    """An adapter's files in memory. weights: the bytes of a safetensors file. facts: those of this app's own spec.json,
    else empty.
    """

    name: str
    weights: bytes
    config: Mapping[str, Any]
    facts: Mapping[str, Any]


def read_files(path: Path, check: Check = lambda config, shapes: None) -> AdapterFiles:
    """Read a zip, or a .safetensors file with its adapter_config.json beside it. Raises BadInputError with what is
    wrong.

    check: receives the settings and the shapes in the header, and may refuse them, before any weights are read.
    """
    if not path.is_file():
        raise BadInputError(f"There is no file {_shown(path.name)}.")
    if path.stat().st_size > LARGEST:
        raise BadInputError(f"{_shown(path.name)} is {_megabytes(path.stat().st_size)}; {_LIMIT}")
    with path.open("rb") as file:
        opening = file.read(_OPENING)
    _refuse_pickle(path.name, opening)
    if zipfile.is_zipfile(path):
        return _from_zip(path, check)
    if path.suffix.lower() != ".safetensors":
        raise BadInputError(
            f"{_shown(path.name)} is neither a zip nor safetensors. Choose a zip with {WEIGHTS} and {CONFIG} in it."
        )
    beside = path.with_name(CONFIG)
    if not beside.is_file():
        raise BadInputError(_no_config(path.name))
    if beside.stat().st_size > LARGEST_CONFIG:
        raise BadInputError(f"{CONFIG} is {_megabytes(beside.stat().st_size)}, far too large for settings.")
    config = parse_json(CONFIG, beside.read_bytes())
    with path.open("rb") as file:
        return AdapterFiles(path.name, _weights(path.name, file, path.stat().st_size, config, check), config, {})


def _weights(name: str, stream: IO[bytes], size: int, config: Mapping[str, Any], check: Check) -> bytes:
    """Return a safetensors file's bytes, once its header has been checked."""
    header, shapes = read_header(name, stream, size)
    check(config, shapes)
    return header + stream.read()


_LIMIT = "at most 200 MB can be imported. An adapter is a few; a whole model can be opened in the model picker."


def _from_zip(path: Path, check: Check) -> AdapterFiles:
    try:
        with zipfile.ZipFile(path) as archive:
            members = _checked_members(path.name, archive)
            weights = _weights_member(path.name, [member.filename for member in members])
            folder = PurePosixPath(weights).parent
            named = {member.filename: member for member in members}
            config = str(folder / CONFIG)
            if config not in named:
                raise BadInputError(_no_config(path.name))
            facts = named.get(str(folder / FACTS))
            settings = parse_json(CONFIG, _small(archive, named[config]))
            with archive.open(weights) as stream:
                content = _weights(path.name, stream, named[weights].file_size, settings, check)
            return AdapterFiles(
                path.name, content, settings, parse_json(FACTS, _small(archive, facts)) if facts else {}
            )
    except _UNREADABLE as error:
        raise BadInputError(f"{_shown(path.name)} is a broken zip ({error}). Make it again.") from error


def _checked_members(name: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the files of a zip, or raise BadInputError for any reason to refuse it. Sizes are checked before anything
    unpacks.
    """
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise BadInputError(f"{_shown(name)} holds {len(members):,} files; an adapter has about five.")
    for member in members:
        parts = re.split(r"[/\\]", member.filename)
        # external_attr holds Unix permissions in its upper half.
        if ".." in parts or parts[0] in ("", "~") or ":" in parts[0] or stat.S_ISLNK(member.external_attr >> 16):
            raise BadInputError(
                f"{_shown(name)} holds {_shown(member.filename)}, a path that leads out of the zip. It is refused; make "
                "the zip again from the adapter's folder."
            )
    size = sum(member.file_size for member in members)
    if size > LARGEST:
        raise BadInputError(f"{_shown(name)} unpacks to {_megabytes(size)}; {_LIMIT}")
    # A zip bomb: a small text may shrink more than weights, so a config's size is allowed on top.
    packed = sum(member.compress_size for member in members)
    if size > LARGEST_CONFIG + MOST_PACKED * packed:
        raise BadInputError(
            f"{_shown(name)} holds {_megabytes(packed)} that unpack to {_megabytes(size)}: weights do not shrink like that. Zip "
            "the adapter's own folder."
        )
    if any(PurePosixPath(member.filename).name == _FOLDER_MARK for member in members):
        raise BadInputError(_pickle_sentence(name))
    for member in members:
        with archive.open(member) as file:
            _refuse_pickle(member.filename, file.read(_OPENING))
    return members


def _weights_member(name: str, members: list[str]) -> str:
    """Return the name of the weights: peft's own if it is there, in the outermost folder; else the only safetensors file."""
    found = sorted((one for one in members if one.endswith(".safetensors")), key=lambda one: (one.count("/"), one))
    own = [one for one in found if PurePosixPath(one).name == WEIGHTS]
    if own or len(found) == 1:
        return (own or found)[0]
    if not found:
        raise BadInputError(f"{_shown(name)} holds no safetensors file. An adapter's zip has {WEIGHTS} and {CONFIG}.")
    raise BadInputError(
        f"{_shown(name)} holds {len(found)} safetensors files and none is called {WEIGHTS}. A whole model can be opened "
        f"in the model picker; for an adapter, give its file that name."
    )


def _small(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.file_size > LARGEST_CONFIG:
        raise BadInputError(f"{_shown(member.filename)} is {_megabytes(member.file_size)}, far too large for settings.")
    return archive.read(member)


def parse_json(name: str, text: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises BadInputError for anything else."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{name} is not readable as JSON ({str(error)[:120]}). Save the adapter again.") from error
    if not isinstance(values, dict):
        raise BadInputError(f"{name} should hold names and values, and holds a {type(values).__name__}.")
    return values


def _refuse_pickle(name: str, opening: bytes) -> None:
    """Raise BadInputError for a pickle, by its name or by its first bytes."""
    # Every pickle of protocol 2 and later begins with 0x80 and the protocol.
    by_content = len(opening) >= 2 and opening[0] == 0x80 and 2 <= opening[1] <= 5 and not _is_safetensors(opening)
    if by_content or name.lower().endswith(_PICKLED):
        raise BadInputError(_pickle_sentence(name))


def _is_safetensors(opening: bytes) -> bool:
    """Return whether a file begins as safetensors does: a header's length in eight bytes, which may look like a
    pickle's, and a brace.
    """
    return opening[8:] == b"{" and int.from_bytes(opening[:8], "little") < LARGEST


def _pickle_sentence(name: str) -> str:
    return (
        f"{_shown(name)} is a pickle. Unpickling runs whatever code its author put in, so this app never does. On your own "
        f"machine, turn it into safetensors, which hold numbers and nothing else: {COMMAND}"
    )


def _no_config(name: str) -> str:
    return (
        f"{_shown(name)} comes without {CONFIG}, which holds alpha and the rank's scale. "
        f"Put it and the weights into one zip and choose that."
    )


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else f"…{name[-79:]}")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
