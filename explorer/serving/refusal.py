"""The error that an endpoint raises: its sentence reaches clients, browsers and assistants word for word."""

from __future__ import annotations

import gradio as gr

from explorer.errors import readable


class Refusal(gr.Error):
    """An error in the words that a client is to read. Nothing is printed on the server."""

    def __init__(self, error: Exception | str) -> None:
        said = error if isinstance(error, str) else str(readable(error))
        super().__init__(said, title="", print_exception=False)  # a title would stand before the sentence

    def __str__(self) -> str:
        return str(self.message)  # Gradio's own is a repr, quotes and all, and an assistant is shown it
