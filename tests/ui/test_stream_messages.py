"""What a stream sends of an update never changes the one before it, which the browser may not have come to yet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from explorer.ui.streams import StreamingPages


def test_an_update_is_sent_whole_however_many_follow_each_other() -> None:
    pages, event = StreamingPages(), SimpleNamespace(outputs=["button"])

    def sent(value: dict[str, Any], final: bool = False) -> Any:
        return pages.handle_streaming_diffs(event, [value], session_hash="s", run="r", final=final)[0]

    shown, hidden, skipped = ({"__type__": "update", **more} for more in ({"visible": True}, {"visible": False}, {}))
    assert sent(hidden) == hidden
    for value in (shown, skipped, hidden, shown):
        assert sent(value) == [["replace", [], value]]
    assert sent(skipped, final=True) == shown, "Gradio repeats the last one at the end"
