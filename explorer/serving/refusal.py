"""What an endpoint raises: the sentence, word for word, for clients, browsers and assistants."""

from __future__ import annotations

import gradio as gr

from explorer.errors import readable


class Refusal(gr.Error):
    """An error as a client shall read it. Nothing is printed on the server.

    Gradio's own says its message as a repr, quotes and all, which is what an assistant was told of it; a title would stand
    before the sentence there.
    """

    def __init__(self, error: Exception | str) -> None:
        said = error if isinstance(error, str) else str(readable(error))
        super().__init__(said, title="", print_exception=False)

    def __str__(self) -> str:
        return str(self.message)
