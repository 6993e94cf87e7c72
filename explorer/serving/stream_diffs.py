"""Streams: each message is the difference from the last one, except where Gradio's difference would be wrong."""

from __future__ import annotations

import itertools
from typing import Any

import gradio as gr


class _Update(dict[str, Any]):
    """An update of a component, rather than a value for it."""


class _NextUpdate(_Update):
    """An update one message later, as another type."""


class StreamingPages(gr.Blocks):
    """Pages whose streams keep what they have drawn.

    Gradio sends what has changed since a stream's last message, and the browser changes in place what it was sent
    before: the very object that a figure or a folded table holds, or an update that it has not come to yet. A change of
    an update ("show Stop", then "leave this as it is") would take away what the one before it said.
    """

    def handle_streaming_diffs(self, block_fn: Any, data: list[Any], *rest: Any, **named: Any) -> list[Any]:
        """Send differences as Gradio does, except that updates are sent whole, and so are values in which a list has
        become shorter.
        """
        session, run = (
            named.get("session_hash", rest[0] if rest else None),
            named.get("run", rest[1] if rest[1:] else None),
        )
        last = self.pending_diff_streams[session].get(run, ()) if session is not None else ()
        # Gradio's diff drops nested items twice when an inner list shrinks; a new type forces a full replacement.
        whole = [_whole(value, before) for value, before in itertools.zip_longest(data, last[: len(data)])]
        return super().handle_streaming_diffs(block_fn, whole, *rest, **named)


def _whole(value: Any, before: Any) -> Any:
    """Return what must be sent whole, in another type than what was sent before it; any other value unchanged."""
    if not isinstance(value, dict) or not ("__type__" in value or _shrinks(before, value)):
        return value
    return (_NextUpdate if type(before) is _Update else _Update)(value)


def _shrinks(before: Any, value: Any) -> bool:
    """Return whether any list in a value is shorter than it was."""
    if isinstance(before, dict) and isinstance(value, dict):
        return any(_shrinks(before[key], value[key]) for key in before.keys() & value.keys())
    if not (isinstance(before, list) and isinstance(value, list)):
        return False
    return len(value) < len(before) or any(map(_shrinks, before, value))
