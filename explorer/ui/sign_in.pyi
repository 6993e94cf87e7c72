"""The button by which visitors of a Space sign in with their account of the hub, and find their runs on any browser."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.ui.visitors import HUB_PREFIX, signed_in

from gradio.events import Dependency

class SignIn(gr.LoginButton):
    """Gradio's button. It leads to the hub and back to the page, or signs out."""

    def __init__(self) -> None:
        super().__init__("Sign in with Hugging Face", "Sign out ({})", size="sm", scale=0, min_width=230)

    def get_block_name(self) -> str:
        """What a browser shows it as."""
        return "button"

    def activate(self) -> None:
        """As Gradio's, but for its look at who has signed in: with several pages that belongs to the last one alone."""
        super().activate()
        self.load_event_to_attach = None

    def named(self, request: gr.Request) -> Any:
        """What it says to this visitor."""
        name = signed_in(request).removeprefix(HUB_PREFIX)
        return gr.update(value=self.logout_value.format(name) if name else self.value)
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component