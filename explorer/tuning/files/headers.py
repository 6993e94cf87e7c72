"""Reads a safetensors file's header, and checks it before any tensor is read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
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
