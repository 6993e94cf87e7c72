"""The choice of a model stands on the pages that ask for it, and on no other."""

from __future__ import annotations

import gradio as gr

from explorer.home import HOME
from explorer.labs import LABS

UNASKED = {"models", "agrees", "directions"}
"""Pages on models of their own, which they name."""


def test_pages_that_ask_for_no_model_hide_the_picker(blocks: gr.Blocks) -> None:
    pickers = [block for block in blocks.blocks.values() if getattr(block, "elem_id", None) == "model-picker"]
    pages = [lab.slug for lab in (HOME, *LABS)]
    hidden = {slug for slug, picker in zip(pages, pickers, strict=True) if picker.visible == "hidden"}
    assert hidden == UNASKED
