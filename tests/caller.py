"""Scripts and notebooks that call the app."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

from gradio_client import Client


class Caller(Client):
    """gradio_client's own, which reads of the app only what can be called.

    The pages' thousand other events are looked up in two thousand components each, which takes it most of a second.
    With `other` it is told what that one has learned of the same app, and is a visitor of its own nevertheless.
    """

    def __init__(self, address: str, other: Caller | None = None, **options: Any) -> None:
        self._other = other
        super().__init__(address, verbose=False, analytics_enabled=False, httpx_kwargs={"timeout": 300}, **options)

    def _get_config(self) -> Any:
        if self._other:
            return self._other.config
        config = super()._get_config()
        return config | {"dependencies": [end for end in config["dependencies"] if end["api_visibility"] != "private"]}

    def _get_api_info(self) -> Any:
        return self._other._info if self._other else super()._get_api_info()

    def predict(self, *given: Any, **named: Any) -> Any:
        """As gradio_client's, and once more where the stream of the answer before was just closing, which loses a question."""
        try:
            return super().predict(*given, **named)
        except CancelledError:
            return super().predict(*given, **named)

    def follow(self, *given: Any, **named: Any) -> Iterator[Any]:
        """Yield what a long action shows, and end it where nobody looks any more. A question that is lost, as in `predict`, is
        asked once more: a job of gradio_client's, walked over by itself, waits for its first answer for ever.
        """
        seen = 0
        try:
            for shown in self._shown(*given, **named):
                seen += 1
                yield shown
        except CancelledError:
            if seen:
                raise
            yield from self._shown(*given, **named)

    def _shown(self, *given: Any, **named: Any) -> Iterator[Any]:
        job, seen = self.submit(*given, **named), 0
        try:
            while True:
                ended = job.done()
                for shown in job.outputs()[seen:]:
                    seen += 1
                    yield shown
                if ended:
                    break
                time.sleep(0.01)
            job.result()
        finally:
            if not job.done():
                job.cancel()
