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


def none(run_id: str) -> Any:
    raise BadInputError("No run is here.")


def built(monkeypatch: pytest.MonkeyPatch, has_login: bool) -> tuple[gr.Blocks, RunPicker]:
    monkeypatch.setattr(run_picker, "settings", lambda: replace(Settings(), has_login=has_login))
    monkeypatch.setattr(gradio.routes, "attach_oauth", lambda app: None)  # whose library a Space has
    with gr.Blocks() as blocks:
        page: Any = SimpleNamespace(opened=blocks.load, engine=SimpleNamespace(runs=SimpleNamespace(get=none)))
        picker = RunPicker(page)
        picker.wire()
    return blocks, picker


def asked(session: dict[str, Any]) -> Any:
    return SimpleNamespace(request=SimpleNamespace(scope={"session": session}))


def test_without_accounts_there_is_no_button_and_gradio_opens_no_login(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, picker = built(monkeypatch, has_login=False)
    assert picker.sign_in is None
    assert not blocks.expects_oauth


def test_it_says_who_has_signed_in_and_is_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, picker = built(monkeypatch, has_login=True)
    assert blocks.expects_oauth
    assert picker.sign_in is not None
    session = {"oauth_info": {"userinfo": {"preferred_username": "ada"}}}
    assert picker.sign_in.named(asked(session))["value"] == "Sign out (ada)"
    assert picker.sign_in.named(asked({}))["value"] == "Sign in with Hugging Face"
    events = [event for event in blocks.fns.values() if picker.sign_in in event.outputs]
    assert [event.api_visibility for event in events] == ["private"]
    (shown,) = (one for one in blocks.get_config_file()["components"] if one["id"] == picker.sign_in._id)
    assert shown["type"] == "button"
