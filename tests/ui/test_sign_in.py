"""The button by which visitors of a Space sign in: there where the Space has it, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gradio as gr
import gradio.routes
import pytest

from explorer.errors import BadInputError
from explorer.settings import Settings
from explorer.ui import run_picker
from explorer.ui.run_picker import RunPicker
from explorer.ui.sign_in import label


def none(run_id: str) -> Any:
    raise BadInputError("No run is here.")


def built(monkeypatch: pytest.MonkeyPatch, has_login: bool) -> gr.Blocks:
    monkeypatch.setattr(run_picker, "settings", lambda: replace(Settings(), has_login=has_login))
    monkeypatch.setattr(gradio.routes, "attach_oauth", lambda app: None)  # whose library a Space has
    with gr.Blocks() as blocks:
        page: Any = SimpleNamespace(opened=blocks.load, engine=SimpleNamespace(runs=SimpleNamespace(get=none)))
        RunPicker(page).wire()
    return blocks


def buttons(blocks: gr.Blocks) -> list[gr.LoginButton]:
    return [one for one in blocks.blocks.values() if isinstance(one, gr.LoginButton)]


def asked(session: dict[str, Any]) -> Any:
    return SimpleNamespace(request=SimpleNamespace(scope={"session": session}))


def test_without_accounts_there_is_no_button_and_gradio_opens_no_login(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = built(monkeypatch, has_login=False)
    assert buttons(blocks) == []
    assert not blocks.expects_oauth


def test_where_there_are_the_button_is_looked_after_by_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = built(monkeypatch, has_login=True)
    (button,) = buttons(blocks)
    assert blocks.expects_oauth
    events = [event for event in blocks.fns.values() if button in event.outputs]
    assert [event.api_visibility for event in events] == ["private"]


def test_the_button_says_who_has_signed_in() -> None:
    session = {"oauth_info": {"userinfo": {"preferred_username": "ada"}}}
    assert label(asked(session))["value"] == "Sign out (ada)"
    assert label(asked({}))["value"] == "Sign in with Hugging Face"
