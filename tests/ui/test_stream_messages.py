"""What a stream sends of an update never changes the one before it, which the browser may not have come to yet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from explorer.serving.stream_diffs import StreamingPages


def test_an_update_is_sent_whole_however_many_follow_each_other() -> None:
    pages, event = StreamingPages(), SimpleNamespace(outputs=["button"])

    def sent(value: dict[str, Any], final: bool = False) -> Any:
        return pages.handle_streaming_diffs(event, [value], session_hash="s", run="r", final=final)[0]

    shown, hidden, skipped = ({"__type__": "update", **more} for more in ({"visible": True}, {"visible": False}, {}))
    assert sent(hidden) == hidden
    for value in (shown, skipped, hidden, shown):
        assert sent(value) == [["replace", [], value]]
    assert sent(skipped, final=True) == shown, "Gradio repeats the last one at the end"


def test_lists_that_become_shorter_inside_each_other_are_sent_whole() -> None:
    """Gradio's own edits for this leave what should be gone: it counts each deletion once for every list around it."""
    pages, event = StreamingPages(), SimpleNamespace(outputs=["figure"])

    def sent(value: dict[str, Any]) -> Any:
        return pages.handle_streaming_diffs(event, [value], session_hash="s", run="r", final=False)[0]

    figures: list[dict[str, Any]] = [
        {"data": [{"x": list(range(count))} for count in counts]} for counts in ((4, 5), (2, 1), (3,))
    ]
    assert sent(figures[0]) == figures[0]
    for figure in figures[1:]:
        assert sent(figure) == [["replace", [], figure]]
    longer = {"data": [{"x": [0, 1, 2, 3]}]}
    assert sent(longer) == [["replace", [], longer]]  # of the type that an untouched value has
    assert sent({"data": [{"x": [0, 1, 2, 3, 4]}]}) == [["add", ["data", 0, "x", 4], 4]]
