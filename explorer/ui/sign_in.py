"""The button by which visitors of a Space sign in with their account of the hub, and find their runs on any browser."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.serving.visitors import HUB_PREFIX, signed_in
from explorer.ui.kit import QUIET
from explorer.ui.page import Page

SIGN_IN = "Sign in with Hugging Face"
SIGN_OUT = "Sign out ({})"


def sign_in_button(page: Page) -> gr.LoginButton:
    """Return Gradio's button, which leads to the hub and back to the page, or signs out; it tells who has signed in."""
    button = gr.LoginButton(SIGN_IN, SIGN_OUT, size="sm", scale=0, min_width=230)
    button.load_event_to_attach = (
        None  # Gradio's own look at who has signed in belongs to the last page, and is an endpoint
    )
    page.opened(label, None, [button], **QUIET)
    return button


def label(request: gr.Request) -> Any:
    """Return the button's label for this visitor."""
    name = signed_in(request).removeprefix(HUB_PREFIX)
    return gr.update(value=SIGN_OUT.format(name) if name else SIGN_IN)
